#include "hlo/analysis/reduction_op.h"

#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

// The op of the first computation of a module whose computation `c` has this body.
std::optional<HloOpcode> OpOf(const char* body) {
  auto module = ParseHloModule(std::string("HloModule m\nENTRY c { ") + body + " }", {});
  EXPECT_TRUE(module.ok()) << module.status();
  return ReductionOp(*(*module)->entry_computation());
}

TEST(ReductionOpTest, OneOpOfBothParameters) {
  EXPECT_EQ(OpOf("a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b)"), HloOpcode::kAdd);
  EXPECT_EQ(OpOf("a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(b, a)"), HloOpcode::kMaximum);
  EXPECT_EQ(OpOf("a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, a)"), std::nullopt);
  EXPECT_EQ(OpOf("a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] subtract(a, b)"), std::nullopt);
  EXPECT_EQ(OpOf("a = f32[] parameter(0)  b = f32[] parameter(1)  n = f32[] negate(b)  ROOT r = f32[] add(a, n)"),
            std::nullopt);
}

TEST(ReductionOpTest, IdentityLeavesValuesAsTheyAre) {
  EXPECT_EQ(*IdentityOf(HloOpcode::kAdd, F32), LiteralUtil::FromDouble(F32, -0.0));
  EXPECT_EQ(*IdentityOf(HloOpcode::kAdd, C64), LiteralUtil::CreateR0(complex64(-0.0F, -0.0F)));
  EXPECT_EQ(*IdentityOf(HloOpcode::kAdd, S8), LiteralUtil::Zero(S8));
  EXPECT_EQ(IdentityOf(HloOpcode::kAdd, F8E8M0FNU), std::nullopt);
  EXPECT_EQ(*IdentityOf(HloOpcode::kAnd, S16), LiteralUtil::CreateR0<int16_t>(-1));
  EXPECT_EQ(*IdentityOf(HloOpcode::kAnd, U16), LiteralUtil::CreateR0<uint16_t>(0xffff));
  EXPECT_EQ(*IdentityOf(HloOpcode::kAnd, PRED), LiteralUtil::CreateR0<bool>(true));
  EXPECT_EQ(*IdentityOf(HloOpcode::kMaximum, F64),
            LiteralUtil::CreateR0<double>(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(*IdentityOf(HloOpcode::kMinimum, PRED), LiteralUtil::CreateR0<bool>(true));
  EXPECT_EQ(IdentityOf(HloOpcode::kMaximum, C64), std::nullopt);
  EXPECT_EQ(IdentityOf(HloOpcode::kSubtract, F32), std::nullopt);
}

}  // namespace
}  // namespace hilo
