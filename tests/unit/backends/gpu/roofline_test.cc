#include "backends/gpu/choice/roofline.h"

#include <optional>

#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo::gpu {
namespace {

// The factor of the forward pass needs the first scores, that of the gradient both, and waits for the forward pass.
TEST(RooflineTest, ScoreGridInParts_LaunchesKernelsForEachSetOfScores) {
  auto module = ParseHloModule(R"(HloModule m
ENTRY main {
  q = bf16[2,32,16] parameter(0)
  k = bf16[2,32,16] parameter(1)
  v = bf16[2,32,16] parameter(2)
  s = f32[2,32,32] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  p = f32[2,32,32] logistic(s)
  w = bf16[2,32,32] convert(p)
  o = bf16[2,32,16] dot(w, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  do = bf16[2,32,16] multiply(o, o)
  g = f32[2,32,32] dot(do, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  gp = f32[2,32,32] multiply(g, p)
  ds = bf16[2,32,32] convert(gp)
  ROOT dq = bf16[2,32,16] dot(ds, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  HloInstruction* score = nullptr;
  for (HloInstruction* instruction : (*module)->entry_computation()->instructions()) {
    if (instruction->name() == "s") score = instruction;
  }
  ASSERT_NE(score, nullptr);
  const std::optional<ScoreGrid> grid = ScoreGridOf(score);
  ASSERT_TRUE(grid.has_value());
  ASSERT_EQ(grid->scores.size() + grid->products.size(), 4);
  // Four products and two kernels of rows; little else takes time.
  const double launch_ns = GpuMachine().launch_ns;
  EXPECT_GT(ScoreGridInPartsNs(*grid), 6 * launch_ns);
  EXPECT_LT(ScoreGridInPartsNs(*grid), 6.5 * launch_ns);
}

}  // namespace
}  // namespace hilo::gpu
