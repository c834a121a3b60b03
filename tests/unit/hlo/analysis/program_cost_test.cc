#include "hlo/analysis/program_cost.h"

#include <string>

#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

ProgramCost CostOfText(const char* text) {
  auto module = ParseHloModule(text, {});
  EXPECT_TRUE(module.ok()) << module.status();
  auto cost = CostOfProgram(**module);
  EXPECT_TRUE(cost.ok()) << cost.status();
  return *cost;
}

TEST(ProgramCostTest, CountsOperationsAndBytes) {
  const ProgramCost cost = CostOfText(R"(HloModule m
ENTRY main { x = f32[4,8] parameter(0)  y = f32[8,3] parameter(1)  d = f32[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,3] exponential(d)  ROOT s = f32[4,3] add(e, d) })");
  EXPECT_EQ(cost.flops, 2 * 4 * 8 * 3 + 12);
  EXPECT_EQ(cost.transcendentals, 12);
  EXPECT_EQ(cost.bytes_accessed, 4 * (32 + 24 + 12 + 2 * 12 + 3 * 12));
  EXPECT_EQ(cost.bytes_written, 4 * (12 + 12 + 12));
  ASSERT_EQ(cost.operands.size(), 2);
  EXPECT_EQ(cost.operands[0].bytes_read, 4 * (32 + 12 + 12));
  EXPECT_EQ(cost.operands[0].uses, 3);
  EXPECT_EQ(cost.operands[1].bytes_read, 4 * (24 + 12));
  EXPECT_EQ(cost.operands[1].uses, 2);
}

TEST(ProgramCostTest, OperandsOfFusionsAndRepeatedOnes) {
  const ProgramCost cost = CostOfText(R"(HloModule m
fused { a = f32[8] parameter(0)  b = f32[2] parameter(1)  s = f32[2] slice(a), slice={[2:4]}  ROOT c = f32[2] add(s, b) }
ENTRY main { x = f32[8] parameter(0)  y = f32[2] parameter(1)
  f = f32[2] fusion(x, y), kind=kLoop, calls=fused  ROOT r = f32[2] multiply(f, f) })");
  ASSERT_EQ(cost.operands.size(), 2);
  EXPECT_EQ(cost.operands[0].bytes_read, 4 * (2 + 2));
  EXPECT_EQ(cost.operands[1].bytes_read, 4 * 2);
  EXPECT_EQ(cost.bytes_accessed, 4 * (2 + 2 + 2 + 2 + 2));
}

TEST(ProgramCostTest, OperandsBeyondTheLimitAreNotListed) {
  std::string operands = "x";
  for (int i = 1; i < 100; ++i) operands += ", x";
  const ProgramCost cost =
      CostOfText(("HloModule m\nENTRY main { x = f32[2] parameter(0)  ROOT c = f32[200] concatenate(" + operands +
                  "), dimensions={0} }")
                     .c_str());
  EXPECT_EQ(cost.operands.size(), ProgramCost::kMaxOperands);
}

TEST(ProgramCostTest, CountsCalledComputations) {
  const ProgramCost cost = CostOfText(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
double { a = f32[10] parameter(0)  ROOT c = f32[10] add(a, a) }
root { a = f32[10] parameter(0)  ROOT c = f32[10] sqrt(a) }
ENTRY main { p = pred[] parameter(0)  x = f32[10] parameter(1)
  c = f32[10] conditional(p, x, x), true_computation=double, false_computation=root
  zero = f32[] constant(0)  ROOT r = f32[] reduce(c, zero), dimensions={0}, to_apply=add })");
  EXPECT_EQ(cost.flops, 10 + 10);
  EXPECT_EQ(cost.transcendentals, 0);
}

}  // namespace
}  // namespace hilo
