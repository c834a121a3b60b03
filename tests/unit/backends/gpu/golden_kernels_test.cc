// What is known of kernels without a GPU: that the assembler takes them, what they ask of a multiprocessor, and how
// they access memory.
#include "tests/unit/backends/gpu/golden_kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/ptx/ptx.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/text/hlo_parser.h"

namespace hilo::gpu {
namespace {

absl::StatusOr<std::string> Emit(const Golden& golden, const std::string& arch, const char* kind) {
  auto module = ParseHloModule(golden.text);
  if (!module.ok()) return module.status();
  CompileOptions options;
  options.cpu = arch;
  return CreateGpuCompiler(kCudaPlatform, {.kernels = {.library_thresholds = LibraryThresholds::Never()}})
      ->Emit(*std::move(module), options, kind);
}

class GoldenKernels : public ::testing::TestWithParam<int> {
 protected:
  const Golden& golden() const { return kGoldens[GetParam()]; }
};

TEST_P(GoldenKernels, Ptx) {
  for (const char* arch : golden().architectures({"sm_80", "sm_90"})) {
    SCOPED_TRACE(absl::StrCat(golden().name, " for ", arch));
    const auto ptx = Emit(golden(), arch, "ptx");
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_TRUE(absl::StrContains(*ptx, absl::StrCat(".target ", arch)));
    for (const char* text : golden().ptx) EXPECT_TRUE(absl::StrContains(*ptx, text)) << text << " is not in\n" << *ptx;
    for (const char* text : golden().not_ptx) EXPECT_FALSE(absl::StrContains(*ptx, text)) << text << " is in\n" << *ptx;
  }
}

TEST_P(GoldenKernels, Resources) {
  if (const absl::Status assembler = CheckAssembler(); !assembler.ok()) GTEST_SKIP() << assembler.message();
  for (const char* arch : golden().architectures({"sm_80", "sm_90", "sm_100"})) {
    SCOPED_TRACE(absl::StrCat(golden().name, " for ", arch));
    const auto text = Emit(golden(), arch, "resources");
    ASSERT_TRUE(text.ok()) << text.status();
    int kernels = 0;
    for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
      ++kernels;
      std::map<std::string, int> values;
      for (absl::string_view word : absl::StrSplit(line, ' ')) {
        const std::vector<std::string> parts = absl::StrSplit(word, '=');
        if (parts.size() != 2) continue;
        ASSERT_TRUE(absl::SimpleAtoi(parts[1], &values[parts[0]])) << line;
      }
      EXPECT_GT(values["registers"], 0) << line;
      EXPECT_LE(values["registers"], golden().registers) << line;
      EXPECT_EQ(values["stack"], 0) << line;
      EXPECT_EQ(values["spill_stores"], 0) << line;
    }
    EXPECT_EQ(kernels, golden().kernels) << *text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenKernels, ::testing::Range(0, static_cast<int>(std::size(kGoldens))),
                         [](const ::testing::TestParamInfo<int>& info) {
                           return std::string(kGoldens[info.param].name);
                         });

// The instructions of an e^x, in PTX: those of a loop of four elements a thread less those of a loop of negations.
absl::StatusOr<double> InstructionsOfExponential() {
  double counts[2];
  for (const bool exponential : {false, true}) {
    const std::string text =
        absl::StrCat("HloModule m\nENTRY main { x = f32[1048576] parameter(0)  ROOT r = f32[1048576] ",
                     exponential ? "exponential" : "negate", "(x) }");
    const auto ptx = Emit({.name = "", .text = text.c_str()}, "sm_90", "ptx");
    if (!ptx.ok()) return ptx.status();
    double& count = counts[exponential ? 1 : 0] = 0;
    for (const absl::string_view line : absl::StrSplit(*ptx, '\n'))
      count += absl::StartsWith(line, "\t") && !absl::StartsWith(line, "\t.") && absl::EndsWith(line, ";") ? 1 : 0;
  }
  return (counts[1] - counts[0]) / 4 + 1;
}

TEST(CostModel, ExponentialsOfTheMachine) {
  const absl::StatusOr<double> ptx = InstructionsOfExponential();
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  // The assembler makes a negation part of a multiply-add, and adds a comparison and two products to the power of two,
  // which keep its subnormal results.
  const double machine = *ptx - 1 + 3;
  auto module =
      ParseHloModule("HloModule m\nENTRY main { x = f32[1000] parameter(0)  ROOT r = f32[1000] exponential(x) }");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_NEAR(WorkOf(*(*module)->entry_computation()->root_instruction()).instructions / 1000, machine, 1.5);
}

// Names of instructions that are no names in PTX, and names that are taken: by a second kernel of another instruction.
TEST(GoldenKernels, NamesAreAssembled) {
  if (const absl::Status assembler = CheckAssembler(); !assembler.ok()) GTEST_SKIP() << assembler.message();
  const Golden golden = {.name = "names", .text = R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[1000000] parameter(0)
  y = f32[1000000] parameter(1)
  zero = f32[] constant(0)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  sum__1 = f32[] reduce(y, zero), dimensions={0}, to_apply=add
  _ = f32[1000000] exponential(x)
  __nv_pow = f32[1000000] power(x, y)
  WARP_SZ = f32[1000000] sqrt(y)
  5 = f32[1000000] sine(y)
  ROOT r = (f32[], f32[], f32[1000000], f32[1000000], f32[1000000], f32[1000000]) tuple(sum, sum__1, _, __nv_pow, WARP_SZ, 5)
}
)"};
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    const auto resources = Emit(golden, arch, "resources");
    EXPECT_TRUE(resources.ok()) << arch << ": " << resources.status();
  }
}

TEST(GpuCompiler, UnknownEmitKind_ListsTheKinds) {
  const auto text = Emit(kGoldens[0], "sm_90", "asm");
  EXPECT_EQ(text.status().message(),
            "the cuda platform emits hlo, buffers, thunks, roofline, llvm, ptx, sass, resources; got 'asm'");
  const auto thunks = Emit(kGoldens[0], "sm_90", "thunks");
  ASSERT_TRUE(thunks.ok()) << thunks.status();
  EXPECT_EQ(*thunks, "kernel m_fusion grid=1024 block=256 (&output 0, parameter 0, parameter 1)\n");
  EXPECT_FALSE(Emit(kGoldens[0], "sm_12345", "ptx").ok());
}

TEST(GoldenKernels, TooManyArraysForOneKernel) {
  const auto emitted = [](int operands) {
    std::string parameters, names;
    for (int i = 0; i < operands; ++i) {
      absl::StrAppend(&parameters, "  p", i, " = f32[40] parameter(", i, ")\n");
      absl::StrAppend(&names, i == 0 ? "" : ", ", "p", i);
    }
    auto module = ParseHloModule(absl::StrCat("HloModule m\nENTRY main {\n", parameters, "  ROOT c = f32[",
                                              40 * operands, "] concatenate(", names, "), dimensions={0}\n}"));
    return CreateGpuCompiler(kEmulatedPlatform)->Emit(*std::move(module), {}, "thunks").status();
  };
  EXPECT_TRUE(emitted(300).ok()) << emitted(300);
  const absl::Status refused = emitted(4095);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(refused.message(), "at most 4095 arrays, but this instruction wants 4096")) << refused;
}

}  // namespace
}  // namespace hilo::gpu
