// GPU programs and kernels as bytes: what is refused, and how. That they run is tests/serialized.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/match.h"
#include "backends/gpu/compile/assembler.h"
#include "backends/gpu/compile/cubin_cache.h"
#include "backends/gpu/compile/gpu_arch.h"
#include "backends/gpu/compile/gpu_artifact.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/compile/ptx.h"
#include "backends/gpu/driver/gpu_platform.h"
#include "backends/gpu/driver/library_decisions.h"
#include "base/byte_stream.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/disk_cache.h"

namespace hilo::gpu {
namespace {

constexpr char kModule[] = R"(
HloModule m
ENTRY main { x = f32[1000] parameter(0)  e = f32[1000] exponential(x)  r = f32[1000] reverse(e), dimensions={0}  ROOT a = f32[1000] add(r, e) }
)";

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
    compiler_ = CreateGpuCompiler(kEmulatedPlatform);
    auto module = ParseHloModule(kModule);
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
  absl::Status Load() { return compiler_->Load(artifact_, {}).status(); }

  std::unique_ptr<Compiler> compiler_;
  Artifact artifact_;
};

TEST_F(SavedProgram, IsDeterministic) {
  EXPECT_TRUE(absl::StrContains(artifact_.target, "sm_")) << artifact_.target;
  auto program = compiler_->Load(artifact_, {});
  ASSERT_TRUE(program.ok()) << program.status();
  Artifact again{.platform = kEmulatedPlatform};
  ASSERT_TRUE((*program)->Serialize(&again).ok());
  EXPECT_EQ(EncodeArtifact(again), EncodeArtifact(artifact_));
}

TEST_F(SavedProgram, KernelsOfAnotherModule) {
  std::string& text = Section("gpu module");
  text.replace(text.find("exponential"), 11, "log");
  const absl::Status status = Load();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "not those of its module")) << status;
}

TEST_F(SavedProgram, Damage) {
  for (const char* name : {"gpu module", "gpu options", "gpu kernels"}) {
    const Artifact whole = artifact_;
    for (const size_t keep : {size_t{0}, size_t{5}, Section(name).size() / 2}) {
      Section(name).resize(keep);
      EXPECT_EQ(Load().code(), absl::StatusCode::kInvalidArgument) << name << " of " << keep << " bytes: " << Load();
      artifact_ = whole;
    }
  }
}

TEST_F(SavedProgram, AnotherArchitecture) {
  std::string& options = Section("gpu options");
  const size_t at = options.find("sm_");
  ASSERT_NE(at, std::string::npos);
  options.replace(at, 5, "sm_99");
  EXPECT_EQ(Load().code(), absl::StatusCode::kFailedPrecondition);
}

// What chose the kernels is kept: options and environment of the process that loads do not matter.
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
  const std::vector<GpuCompilerOptions> all = {{},
                                               {.sequences = false, .group_elements_from = 1, .radix_sort_from = 0},
                                               {.libraries = LibraryThresholds::Always()},
                                               {.libraries = LibraryThresholds::Never()},
                                               {.line_info = true}};
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
  EXPECT_NE(target({}), target({.line_info = true}));
  EXPECT_NE(target({}), target({.libraries = LibraryThresholds::Never()}));
}

class LibraryDecisionsTest : public ::testing::Test {
 protected:
  // What the library answers, and how often it is asked.
  absl::StatusOr<LibraryDecision> answer_ = LibraryDecision{LibraryAlgorithm{"7", 64}, "version 1"};
  int asked_ = 0;
  const LibraryDecision& Decide(LibraryDecisions& decisions, const char* work) {
    return decisions.Decide("matrix products", work,
                            [&](const LibraryDecision* recorded) -> absl::StatusOr<LibraryDecision> {
                              ++asked_;
                              if (answer_.ok() && recorded != nullptr && recorded->version == answer_->version)
                                return *recorded;
                              return answer_;
                            });
  }
};

TEST_F(LibraryDecisionsTest, AreFollowed) {
  LibraryDecisions first;
  EXPECT_EQ(Decide(first, "a").algorithm->code, "7");
  EXPECT_EQ(Decide(first, "a").algorithm->workspace_bytes, 64);
  EXPECT_EQ(asked_, 1);
  answer_ = absl::UnavailableError("cannot load libexample.so");
  EXPECT_FALSE(Decide(first, "b").algorithm.has_value());
  EXPECT_EQ(first.Missing(), "kernels in place of the library for matrix products: cannot load libexample.so\n");
  ByteWriter out;
  Encode(first.table(), &out);
  ByteReader in(out.bytes(), "decisions");
  const LibraryDecisions::Table table = DecodeLibraryDecisions(&in);
  ASSERT_TRUE(in.Finish().ok());
  // The same version offers something else now, and could do what it could not do then.
  answer_ = LibraryDecision{LibraryAlgorithm{"8", 128}, "version 1"};
  asked_ = 0;
  LibraryDecisions again(table);
  EXPECT_EQ(Decide(again, "a").algorithm->code, "7");
  EXPECT_FALSE(Decide(again, "b").algorithm.has_value());
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(again.status().ok());
  // The codes of another version are others.
  answer_->version = "version 2";
  LibraryDecisions newer(table);
  EXPECT_EQ(Decide(newer, "a").algorithm->code, "8");
  EXPECT_TRUE(newer.status().ok());
}

TEST_F(LibraryDecisionsTest, MissingLibrary_IsNamed) {
  LibraryDecisions first;
  Decide(first, "a");
  answer_ = absl::UnavailableError("cannot load libexample.so");
  LibraryDecisions again(first.table());
  Decide(again, "a");
  EXPECT_EQ(again.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(again.status().message(), "matrix products") &&
              absl::StrContains(again.status().message(), "libexample.so"))
      << again.status();
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
