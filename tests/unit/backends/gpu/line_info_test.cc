// Code of kernels with the locations of instructions.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/client.h"
#include "hilo/executable.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

// A location for each array that is touched; the assembler takes them.
TEST(LineInfoTest, NamesInstructionsInCode) {
  const auto emit = [](bool line_info, const char* kind) {
    auto module = ParseHloModule(
        "HloModule m\nENTRY main { first = f32[4096,64] parameter(0)  ROOT roots = f32[4096,64] sqrt(first) }");
    return CreateGpuCompiler(kCudaPlatform,
                             {.kernels = {.line_info = line_info, .library_thresholds = LibraryThresholds::Never()}})
        ->Emit(*std::move(module), {}, kind);
  };
  const auto ptx = emit(true, "ptx"), plain = emit(false, "ptx");
  ASSERT_TRUE(ptx.ok() && plain.ok()) << ptx.status() << plain.status();
  for (const char* text : {".file", "hlo/first\"", "hlo/roots\"", "\t.loc\t"})
    EXPECT_TRUE(absl::StrContains(*ptx, text)) << text << " is not in\n" << *ptx;
  EXPECT_FALSE(absl::StrContains(*plain, "\t.loc\t"));
  if (const absl::Status assembler = CheckAssembler(); !assembler.ok()) GTEST_SKIP() << assembler.message();
  const auto resources = emit(true, "resources");
  EXPECT_TRUE(resources.ok()) << resources.status();
}

// Code with locations runs as well, several kernels of it in one module.
TEST(LineInfoTest, RunsOnTheEmulatedDevice) {
  const auto client = RuntimeAccess::CreateClient(
      {.device_count = 1}, CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.sequences = false, .line_info = true}}));
  ASSERT_TRUE(client.ok()) << client.status();
  const auto executable = (*client)->CompileHloText(R"(
HloModule m
ENTRY main {
  x = f32[3,2] parameter(0)
  d = f32[3,3] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT e = f32[3,2] dot(d, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = LiteralUtil::CreateFromArray<float>({1, 0, 0, 1, 1, 1}, {3, 2});
  const auto result = (*executable)->ExecuteLiterals({&x});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, LiteralUtil::CreateFromArray<float>({2, 1, 1, 2, 3, 3}, {3, 2}));
}

}  // namespace
}  // namespace hilo::gpu
