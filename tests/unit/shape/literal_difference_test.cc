#include "shape/literal_difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hilo {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Literal Floats(std::initializer_list<float> values) { return LiteralUtil::CreateR1<float>(values); }

TEST(LiteralDifference, EqualArraysDoNotDiffer) {
  const LiteralDifference found = DifferenceOf(Floats({1, kNan, -kInfinity}), Floats({1, kNan, -kInfinity}));
  EXPECT_EQ(found.elements, 3);
  EXPECT_EQ(found.differing, 0);
  EXPECT_EQ(found.max_ulps, 0);
  EXPECT_EQ(found.worst, "");
  EXPECT_TRUE(found.within_rounding);
}

TEST(LiteralDifference, IsRelativeToTheLargestMagnitude) {
  const LiteralDifference found = DifferenceOf(Floats({1000, 1e-3f}), Floats({1000, 2e-3f}));
  EXPECT_EQ(found.differing, 1);
  EXPECT_NEAR(found.max_absolute, 1e-3, 1e-9);
  EXPECT_NEAR(found.max_relative, 1e-6, 1e-12);
  EXPECT_GT(found.max_ulps, 1000000);
  EXPECT_TRUE(found.within_rounding);
  EXPECT_EQ(found.worst.substr(0, 41), "element {1}: expected 0.001, actual 0.002");
}

TEST(LiteralDifference, HalfOfTheDigitsAreTheLimit) {
  EXPECT_TRUE(DifferenceOf(Floats({1}), Floats({1 + std::ldexp(1.f, -12)})).within_rounding);
  EXPECT_FALSE(DifferenceOf(Floats({1}), Floats({1 + std::ldexp(1.f, -11)})).within_rounding);
  EXPECT_TRUE(DifferenceOf(LiteralUtil::CreateR1<bfloat16>({bfloat16(1.f)}),
                           LiteralUtil::CreateR1<bfloat16>({bfloat16(1.0625f)}))
                  .within_rounding);
  EXPECT_TRUE(DifferenceOf(Floats({1}), Floats({1 + std::ldexp(1.f, -5)}), /*digits=*/11).within_rounding);
  EXPECT_FALSE(DifferenceOf(Floats({1}), Floats({1 + std::ldexp(1.f, -4)}), /*digits=*/11).within_rounding);
  EXPECT_FALSE(DifferenceOf(Floats({1}), Floats({1 + std::ldexp(1.f, -11)}), /*digits=*/53).within_rounding);
}

TEST(LiteralDifference, NansInfinitiesAndIntegersMustBeEqual) {
  EXPECT_FALSE(DifferenceOf(Floats({1}), Floats({kNan})).within_rounding);
  EXPECT_FALSE(DifferenceOf(Floats({kInfinity}), Floats({1})).within_rounding);
  EXPECT_FALSE(DifferenceOf(Floats({0}), Floats({1e-30f})).within_rounding);
  EXPECT_TRUE(DifferenceOf(Floats({0}), Floats({-0.f})).within_rounding);
  EXPECT_FALSE(DifferenceOf(LiteralUtil::CreateR1<int32_t>({1000000}), LiteralUtil::CreateR1<int32_t>({1000001}))
                   .within_rounding);
}

}  // namespace
}  // namespace hilo
