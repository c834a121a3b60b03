// The element generators for NVIDIA GPUs: key lines of the PTX; no GPU is needed.
#include "backends/llvm/elements/nvptx_kernel.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "hlo/text/hlo_parser.h"

namespace hilo::codegen {
namespace {

int Count(absl::string_view text, absl::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(NvptxKernelTest, Loop) {
  auto module = ParseHloModule(R"(HloModule loop
ENTRY main { x = f32[1000,7] parameter(0) y = f32[7] parameter(1) b = f32[1000,7] broadcast(y), dimensions={1}
  m = f32[1000,7] multiply(x, b) a = f32[1000,7] add(m, x) ROOT e = f32[1000,7] exponential(a) })");
  ASSERT_TRUE(module.ok()) << module.status();
  auto ptx = EmitNvptxLoop(*(*module)->entry_computation(), "sm_80");
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_TRUE(absl::StrContains(*ptx, ".target sm_80"));
  EXPECT_TRUE(absl::StrContains(*ptx, ".visible .entry kernel("));
  EXPECT_TRUE(absl::StrContains(*ptx, ".maxntid 256"));
  EXPECT_EQ(Count(*ptx, "ld.global.nc.f32"), 2) << *ptx;
  EXPECT_EQ(Count(*ptx, "st.global.f32"), 1) << *ptx;
  EXPECT_GE(Count(*ptx, "fma.rn.f32"), 3) << *ptx;
  EXPECT_EQ(Count(*ptx, "call"), 0) << *ptx;
  EXPECT_EQ(Count(*ptx, ".extern"), 0) << *ptx;
}

TEST(NvptxKernelTest, RowReduction) {
  auto module = ParseHloModule(R"(HloModule rows
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[64,1000] parameter(0) z = f32[] constant(0) s = f32[64,1000] multiply(x, x)
  ROOT r = f32[64] reduce(s, z), dimensions={1}, to_apply=add })");
  ASSERT_TRUE(module.ok()) << module.status();
  auto ptx = EmitNvptxRowReduction(*(*module)->entry_computation(), "sm_90");
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_EQ(Count(*ptx, "shfl.sync.down.b32"), 10) << *ptx;
  EXPECT_EQ(Count(*ptx, "bar.sync"), 1) << *ptx;
  EXPECT_EQ(Count(*ptx, "st.shared.f32"), 1) << *ptx;
  EXPECT_EQ(Count(*ptx, "st.global.f32"), 1) << *ptx;
}

TEST(NvptxKernelTest, NamesUnsupportedOps) {
  auto module = ParseHloModule("HloModule m\nENTRY main { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  EXPECT_EQ(EmitNvptxLoop(entry, "sm_banana").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(EmitNvptxRowReduction(entry, "sm_80").status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace hilo::codegen
