// GPU programs and kernels as bytes: what is refused, and how. That they run is tests/serialized.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/driver/gpu_arch.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "backends/gpu/lib/gemm.h"
#include "backends/gpu/lib/library_decisions.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/ptx/cubin_cache.h"
#include "backends/gpu/ptx/ptx.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "backends/gpu/thunks/program_bytes.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/disk_cache.h"

namespace hilo::gpu {
namespace {

// Thunks of most kinds: kernels, copies, loops and branches, graphs, library calls, calls of the host, collectives.
constexpr char kModule[] = R"(
HloModule m, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
quot { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] atan2(a, b) }
c { s = (f32[], f32[16,16]) parameter(0)  n = f32[] get-tuple-element(s), index=0  e = f32[] constant(9)  ROOT t = pred[] compare(n, e), direction=LT }
b {
  s = (f32[], f32[16,16]) parameter(0)
  n = f32[] get-tuple-element(s), index=0
  v = f32[16,16] get-tuple-element(s), index=1
  zero = f32[] constant(0)
  m = f32[] reduce(v, zero), dimensions={0,1}, to_apply=add
  w = f32[16,16] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[] abs(m)
  o = f32[] constant(1)
  x = f32[] add(a, o)
  k = f32[] add(n, x)
  ROOT r = (f32[], f32[16,16]) tuple(k, w)
}
cc { s = (s32[], f32[16,16]) parameter(0)  n = s32[] get-tuple-element(s), index=0  e = s32[] constant(5)  ROOT t = pred[] compare(n, e), direction=LT }
cb {
  s = (s32[], f32[16,16]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  v = f32[16,16] get-tuple-element(s), index=1
  o = s32[] constant(1)
  k = s32[] add(n, o)
  t = f32[16,16] transpose(v), dimensions={1,0}
  w = f32[16,16] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[], f32[16,16]) tuple(k, w)
}
f { v = f32[16,16] parameter(0)  ROOT l = f32[16,16] cholesky(v), lower=true }
g { v = f32[16,16] parameter(0)  t = f32[16,16] transpose(v), dimensions={1,0}  ROOT w = f32[16,16] dot(v, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
called {
  v = f32[16,16] parameter(0)
  r = f32[16,16] reverse(v), dimensions={0}
CHAIN
  ROOT s = f32[16,16] sort(r.30), dimensions={1}, to_apply=less
}
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT l = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY main {
  x = f32[16,16] parameter(0)
  i = s32[] parameter(1)
  img = f32[1,8,8,8] parameter(2)
  ker = f32[3,3,8,8] parameter(3)
  zero = f32[] constant(0)
  lt = (f32[], f32[16,16]) tuple(zero, x)
  l = (f32[], f32[16,16]) while(lt), condition=c, body=b
  v = f32[16,16] get-tuple-element(l), index=1
  iz = s32[] constant(0)
  ct = (s32[], f32[16,16]) tuple(iz, v)
  cl = (s32[], f32[16,16]) while(ct), condition=cc, body=cb
  cv = f32[16,16] get-tuple-element(cl), index=1
  w = f32[16,16] conditional(i, v, cv, x), branch_computations={f, g, called}
  y = f32[16,16] call(w), to_apply=called
  z = f32[16,16] call(y), to_apply=called
  sp = c64[16,9] fft(z), fft_type=RFFT, fft_length={16}
  back = f32[16,16] fft(sp), fft_type=IRFFT, fft_length={16}
  id = u32[] replica-id()
  all = f32[16,16] all-reduce(back), replica_groups={{0,1}}, to_apply=add
  odd = f32[16,16] all-reduce(all), replica_groups={{0,1}}, to_apply=quot
  gat = f32[32,16] all-gather(odd), replica_groups={}, dimensions={0}
  per = f32[32,16] collective-permute(gat), source_target_pairs={{0,1},{1,0}}
  con = f32[1,8,8,8] convolution(img, ker), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  ROOT all_of_them = (f32[32,16], u32[], f32[1,8,8,8]) tuple(per, id, con)
})";

// The computation that is called twice is too large to be inlined.
std::string Module() {
  std::string chain = "  r.0 = f32[16,16] sine(r)\n";
  for (int i = 1; i <= 30; ++i) absl::StrAppend(&chain, "  r.", i, " = f32[16,16] sine(r.", i - 1, ")\n");
  return absl::StrReplaceAll(kModule, {{"CHAIN", chain}});
}

TEST(GpuArtifactTest, Architectures) {
  const auto code = [](const char* arch, GpuImageFormat format, const char* device) {
    return CheckRunsOn(arch, format, device).code();
  };
  EXPECT_EQ(code("sm_80", GpuImageFormat::kCubin, "sm_80"), absl::StatusCode::kOk);
  EXPECT_EQ(code("sm_80", GpuImageFormat::kCubin, "sm_86"), absl::StatusCode::kOk);
  EXPECT_EQ(code("sm_86", GpuImageFormat::kCubin, "sm_80"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code("sm_80", GpuImageFormat::kCubin, "sm_90"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code("sm_80", GpuImageFormat::kPtx, "sm_90"), absl::StatusCode::kOk);
  EXPECT_EQ(code("sm_90", GpuImageFormat::kPtx, "sm_80"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code("sm_90a", GpuImageFormat::kCubin, "sm_90"), absl::StatusCode::kOk);
  EXPECT_EQ(code("sm_90a", GpuImageFormat::kPtx, "sm_100"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code("gfx90a", GpuImageFormat::kPtx, "sm_90"), absl::StatusCode::kInvalidArgument);
  const std::string words(CheckRunsOn("sm_80", GpuImageFormat::kCubin, "sm_90").message());
  EXPECT_TRUE(absl::StrContains(words, "sm_80") && absl::StrContains(words, "sm_90")) << words;
}

class SavedProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    compiler_ = CreateGpuCompiler(kEmulatedPlatform,
                                  {.kernels = {.sequences = false, .library_thresholds = LibraryThresholds::Always()}});
    auto module = ParseHloModule(Module());
    ASSERT_TRUE(module.ok()) << module.status();
    auto program = compiler_->Compile(*std::move(module), {}, nullptr);
    ASSERT_TRUE(program.ok()) << program.status();
    artifact_.platform = kEmulatedPlatform;
    ASSERT_TRUE((*program)->Serialize(&artifact_).ok());
  }
  std::string& Section(const char* name) {
    for (Artifact::Section& section : artifact_.sections) {
      if (section.name == name) return section.bytes;
    }
    ADD_FAILURE() << name;
    return artifact_.sections[0].bytes;
  }
  absl::Status Load() { return compiler_->Load(artifact_, kOptions).status(); }

  absl::StatusOr<ProgramImage> Decode() {
    AlgorithmSelector algorithms(device_, "");
    return DecodeProgram(artifact_, {.device = device_, .algorithms = &algorithms, .replica_count = 2});
  }

  static inline const CompileOptions kOptions{.replica_count = 2, .num_partitions = 1};

  std::unique_ptr<Compiler> compiler_;
  Artifact artifact_;
  LibraryDevice device_{.is_emulated = true};
};

TEST_F(SavedProgram, IsDeterministic) {
  EXPECT_TRUE(absl::StrContains(artifact_.target, "sm_")) << artifact_.target;
  auto program = compiler_->Load(artifact_, kOptions);
  ASSERT_TRUE(program.ok()) << program.status();
  Artifact again{.platform = kEmulatedPlatform};
  ASSERT_TRUE((*program)->Serialize(&again).ok());
  EXPECT_EQ(EncodeArtifact(again), EncodeArtifact(artifact_));
}

// Most kinds of thunks are in the program, so that damage to any of them is tried below.
TEST_F(SavedProgram, HasEveryKind) {
  auto program = Decode();
  ASSERT_TRUE(program.ok()) << program.status();
  std::string text;
  for (const auto& scope : program->scopes) absl::StrAppend(&text, ThunksToString(scope->thunks, ""));
  for (const char* kind : {"kernel ", "copy ", "while ", "loop of ", "conditional ", "call ", "graph\n", "gemm ",
                           "convolution ", "rfft ", "solver ", "host ", "all-reduce ", "await "}) {
    EXPECT_TRUE(absl::StrContains(text, kind)) << kind << text;
  }
}

TEST_F(SavedProgram, ShortSections) {
  const Artifact whole = artifact_;
  for (const char* name : {"facts", "constants", "code", "thunks"}) {
    for (const size_t keep : {size_t{0}, size_t{5}, Section(name).size() / 2, Section(name).size() - 1}) {
      Section(name).resize(keep);
      EXPECT_EQ(Load().code(), absl::StatusCode::kInvalidArgument) << name << " of " << keep << " bytes: " << Load();
      artifact_ = whole;
    }
  }
}

// Every byte of the thunks and the facts, and every number in them, is read with care: what remains valid can be
// written again, all else is refused.
TEST_F(SavedProgram, DamagedBytes) {
  const Artifact whole = artifact_;
  int refused = 0;
  const auto load = [&](const char* name, size_t at) {
    auto program = compiler_->Load(artifact_, kOptions);
    if (program.ok()) {
      Artifact again;
      EXPECT_TRUE((*program)->Serialize(&again).ok());
    } else {
      EXPECT_TRUE(absl::IsInvalidArgument(program.status()) || absl::IsNotFound(program.status()) ||
                  absl::IsUnimplemented(program.status()) || absl::IsFailedPrecondition(program.status()))
          << name << " " << at << ": " << program.status();
      ++refused;
    }
  };
  for (const char* name : {"facts", "thunks"}) {
    const std::string bytes = Section(name);
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int flip : {1, 0x80}) {
        Section(name)[at] = static_cast<char>(bytes[at] ^ flip);
        load(name, at);
      }
      Section(name) = bytes;
    }
    for (size_t at = 0; at + 8 <= bytes.size(); at += 4) {
      for (const int64_t number : {int64_t{-1}, INT64_MAX, int64_t{1} << 40}) {
        std::memcpy(&Section(name)[at], &number, sizeof(number));
        load(name, at);
      }
      Section(name) = bytes;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(SavedProgram, AnotherArchitecture) {
  std::string& facts = Section("facts");
  const size_t at = facts.find("sm_");
  ASSERT_NE(at, std::string::npos);
  facts.replace(at, 5, "sm_99");
  EXPECT_EQ(Load().code(), absl::StatusCode::kFailedPrecondition);
}

// The algorithms of another version of a library are chosen again; the workspace is that of this version.
TEST_F(SavedProgram, AnotherVersionOfALibrary) {
  const auto decoded = [&](int64_t* workspace_bytes) {
    auto program = Decode();
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) return std::string();
    *workspace_bytes = program->workspace_bytes;
    Artifact again{.platform = kEmulatedPlatform};
    EncodeProgram(*program, &again);
    return EncodeArtifact(again);
  };
  int64_t workspace = 0, other_workspace = 0;
  const std::string same = decoded(&workspace);
  std::string& thunks = Section("thunks");
  int changed = 0;
  for (size_t at = 0; (at = thunks.find(" emulated", at)) != std::string::npos; ++changed)
    thunks.replace(at, 9, " 1.2.3.45");
  // Where the algorithms are: the codes are of another version too.
  for (size_t at = 0; (at = thunks.find(std::string("\x02\0\0\0\0\0\0\0"
                                                    "00",
                                                    10),
                                        at)) != std::string::npos;
       ++at)
    thunks[at + 9] = '7';
  ASSERT_GT(changed, 0);
  EXPECT_TRUE(decoded(&other_workspace) == same);
  EXPECT_EQ(workspace, other_workspace);
}

// Thunks whose library cannot be loaded name it when they run, and only then.
TEST(GpuArtifactTest, MissingLibrary_IsNamedWhenItIsCalled) {
  if (GemmWork({}, {}).version().ok()) GTEST_SKIP() << "the library is there";
  const auto compiler = CreateGpuCompiler(
      kEmulatedPlatform, {.kernels = {.sequences = false, .library_thresholds = LibraryThresholds::Always()},
                          .graph_thunks_from = INT64_MAX});
  auto compiled = compiler->Compile(*ParseHloModule(R"(
HloModule m
ENTRY main {
  x = f32[16,16] parameter(0)
  d = f32[16,16] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT f = c64[16,9] fft(d), fft_type=RFFT, fft_length={16}
})"),
                                    {}, nullptr);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  Artifact artifact;
  ASSERT_TRUE((*compiled)->Serialize(&artifact).ok());
  AlgorithmSelector algorithms({}, "");
  auto program = DecodeProgram(artifact, {.device = {}, .algorithms = &algorithms});
  ASSERT_TRUE(program.ok()) << program.status();
  auto driver = CreateEmulatedDriver();
  ASSERT_TRUE(driver.ok()) << driver.status();
  auto stream = (*driver)->CreateStream();
  ASSERT_TRUE(stream.ok()) << stream.status();
  const RunContext context;
  GpuRun run{.context = context, .stream = **stream};
  ASSERT_EQ(program->entry().thunks.size(), 2u);
  for (const auto& thunk : program->entry().thunks) {
    const absl::Status status = thunk->Run(run);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), thunk->kind() == ThunkKind::kFft ? "libcufft" : "libcublasLt") ||
                absl::StrContains(status.message(), "CUDA toolkit"))
        << status;
  }
}

TEST(GpuArtifactTest, SelectsCode) {
  const auto select = [](const char* arch, GpuImageFormat taken, const char* ptx) {
    ProgramImage image;
    image.arch = "sm_80";
    image.images.push_back({.bytes = "machine code", .ptx = ptx});
    const absl::Status status = SelectCode(arch, taken, &image);
    return status.ok() ? image.images[0].bytes : std::string(absl::StatusCodeToString(status.code()));
  };
  EXPECT_EQ(select("sm_86", GpuImageFormat::kCubin, "text"), "machine code");
  EXPECT_EQ(select("sm_86", GpuImageFormat::kPtx, "text"), "machine code");
  EXPECT_EQ(select("sm_90", GpuImageFormat::kCubin, "text"), "text");
  EXPECT_EQ(select("sm_90", GpuImageFormat::kCubin, ""), "FAILED_PRECONDITION");
  EXPECT_EQ(select("sm_75", GpuImageFormat::kCubin, "text"), "FAILED_PRECONDITION");
  EXPECT_EQ(select("sm_80", GpuImageFormat::kBitcode, "text"), "FAILED_PRECONDITION");
}

// Options and environment of the process that loads do not matter.
TEST(GpuArtifactTest, KernelsAreThoseOfTheCompilation) {
  constexpr char kProduct[] = R"(
HloModule m
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT l = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY main {
  x = f32[64,64] parameter(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  flat = f32[4096] reshape(d)
  s = f32[4096] sort(flat), dimensions={0}, to_apply=less
  ROOT e = f32[4096] exponential(s)
})";
  const std::vector<GpuCompilerOptions> all = {
      {},
      {.kernels = {.sequences = false, .always_radix_sorts = true, .group_elements_from = 1}},
      {.kernels = {.library_thresholds = LibraryThresholds::Always()}},
      {.kernels = {.library_thresholds = LibraryThresholds::Never()}},
      {.kernels = {.line_info = true}}};
  for (const GpuCompilerOptions& compiled : all) {
    const auto program =
        CreateGpuCompiler(kEmulatedPlatform, compiled)->Compile(*ParseHloModule(kProduct), {}, nullptr);
    ASSERT_TRUE(program.ok()) << program.status();
    Artifact artifact{.platform = kEmulatedPlatform};
    ASSERT_TRUE((*program)->Serialize(&artifact).ok());
    for (const GpuCompilerOptions& loading : all) {
      const auto loaded = CreateGpuCompiler(kEmulatedPlatform, loading)->Load(artifact, {});
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      Artifact again{.platform = kEmulatedPlatform};
      ASSERT_TRUE((*loaded)->Serialize(&again).ok());
      EXPECT_EQ(EncodeArtifact(again), EncodeArtifact(artifact));
    }
  }
}

// Compilations whose kernels may differ have different targets, which tell them apart in a cache.
TEST(GpuArtifactTest, Targets_DistinguishKernels) {
  const auto target = [](const GpuCompilerOptions& options) {
    return *CreateGpuCompiler(kEmulatedPlatform, options)->TargetOf({});
  };
  EXPECT_EQ(target({}), target({}));
  EXPECT_NE(target({}), target({.kernels = {.line_info = true}}));
  EXPECT_NE(target({}), target({.kernels = {.library_thresholds = LibraryThresholds::Never()}}));
}

TEST(LibraryDecisionsTest, DecideOnce) {
  int asked = 0;
  absl::StatusOr<LibraryChoice> answer = LibraryChoice{.algorithm = {"7", 64}, .version = "1"};
  LibraryDecisions decisions;
  const auto decide = [&](const char* work) {
    return decisions.Decide("matrix products", work, [&]() -> absl::StatusOr<LibraryChoice> {
      ++asked;
      return answer;
    });
  };
  EXPECT_EQ(decide("a")->algorithm.code, "7");
  answer = absl::UnavailableError("cannot load libexample.so");
  EXPECT_EQ(decide("a")->algorithm.code, "7");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(decisions.Missing(), "");
  EXPECT_FALSE(decide("b").has_value());
  EXPECT_EQ(decisions.Missing(), "kernels in place of the library for matrix products: cannot load libexample.so\n");
}

TEST(CubinCacheTest, Bytes_RoundTrip) {
  AssembledCode code{.cubin = std::string("\x7f"
                                          "ELF\0machine code",
                                          17)};
  code.resources.push_back({.kernel = "k",
                            .registers = 21,
                            .stack_bytes = 1,
                            .spill_store_bytes = 2,
                            .spill_load_bytes = 3,
                            .shared_bytes = 4,
                            .constant_bytes = 5});
  const std::string bytes = EncodeCubin(code);
  const auto again = DecodeCubin(bytes);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->cubin, code.cubin);
  ASSERT_EQ(again->resources.size(), 1u);
  EXPECT_EQ(again->resources[0].registers, 21);
  EXPECT_EQ(again->resources[0].constant_bytes, 5);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(DecodeCubin(damaged).has_value()) << i;
    EXPECT_FALSE(DecodeCubin(bytes.substr(0, i)).has_value()) << i;
  }
  EXPECT_NE(CubinKey("a", "sm_80", "x"), CubinKey("a", "sm_90", "x"));
  EXPECT_NE(CubinKey("a", "sm_80", "x"), CubinKey("a", "sm_80", "y"));
  EXPECT_NE(CubinKey("a", "sm_80", "x"), CubinKey("b", "sm_80", "x"));
}

TEST(CubinCacheTest, AssemblesOnce) {
  if (const absl::Status assembler = CheckAssembler(); !assembler.ok()) GTEST_SKIP() << assembler.message();
  std::string folder = (std::filesystem::temp_directory_path() / "hilo_cubins_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  DiskCache cache(folder, 1 << 24);
  const std::string ptx = ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  const auto first = AssembleWithCache(&cache, ptx, "sm_80"), second = AssembleWithCache(&cache, ptx, "sm_80");
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(first->cubin, second->cubin);
  EXPECT_EQ(cache.stats().writes, 1);
  EXPECT_EQ(cache.stats().hits, 1);
  std::filesystem::remove_all(folder);
}

TEST(CubinCacheTest, IsAtTheGivenPath) {
  if (const absl::Status assembler = CheckAssembler(); !assembler.ok()) GTEST_SKIP() << assembler.message();
  std::string folder = (std::filesystem::temp_directory_path() / "hilo_cubins_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  auto module = ParseHloModule("HloModule m\nENTRY main { x = f32[64] parameter(0)  ROOT y = f32[64] negate(x) }");
  ASSERT_TRUE(module.ok());
  ASSERT_TRUE(CreateGpuCompiler(kCudaPlatform, {.cache_dir = folder})->Emit(*std::move(module), {}, "resources").ok());
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hilo::gpu
