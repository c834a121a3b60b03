#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "hilo/literal.h"

namespace hilo {
namespace {

bool Same(const char* expected, const char* actual, const ErrorSpec& spec = {}) {
  return CompareLiterals(*ParseLiteral(expected), *ParseLiteral(actual), spec).ok();
}

TEST(CompareLiterals, WithoutToleranceBitsDecide) {
  EXPECT_TRUE(Same("f32[2] {1, nan}", "f32[2] {1, -nan(0x1)}"));
  EXPECT_FALSE(Same("f32[] 0", "f32[] -0"));
  EXPECT_FALSE(Same("f32[] 1", "f32[] 1.0000001"));
  EXPECT_FALSE(Same("f32[] nan", "f32[] 1", {.absolute = 1e9, .ulps = 1000}));
  EXPECT_FALSE(Same("f32[] nan", "f32[] nan", {.nans_are_equal = false}));
  EXPECT_FALSE(Same("s32[] 1", "s32[] 2", {.absolute = 10, .ulps = 10}));
  EXPECT_FALSE(Same("f32[2] {1, 2}", "f32[1,2] { { 1, 2 } }"));
  EXPECT_FALSE(Same("f32[] 1", "f64[] 1"));
}

TEST(CompareLiterals, Tolerances) {
  EXPECT_TRUE(Same("f32[] 1", "f32[] 1.0000001", {.ulps = 1}));
  EXPECT_TRUE(Same("f32[] 0", "f32[] -0", {.ulps = 1}));
  EXPECT_TRUE(Same("f32[] 0", "f32[] -1e-45", {.ulps = 2}));
  EXPECT_FALSE(Same("f32[] 0", "f32[] -1e-45", {.ulps = 1}));
  EXPECT_TRUE(Same("bf16[] 1", "bf16[] 1.01", {.ulps = 1}));
  EXPECT_TRUE(Same("f32[] 100", "f32[] 101", {.absolute = 1}));
  EXPECT_FALSE(Same("f32[] 100", "f32[] 101.5", {.absolute = 1}));
  EXPECT_TRUE(Same("f32[] 100", "f32[] 101", {.relative = 0.011}));
  EXPECT_FALSE(Same("f32[] inf", "f32[] 1", {.absolute = 1, .relative = 1}));
  EXPECT_TRUE(Same("f32[] inf", "f32[] inf", {.absolute = 1}));
  EXPECT_FALSE(Same("f32[] inf", "f32[] -inf", {.relative = 1}));
  EXPECT_TRUE(Same("c64[] (1, 2)", "c64[] (1, 2.0000002)", {.ulps = 1}));
  EXPECT_FALSE(Same("c64[] (1, 2)", "c64[] (1, 3)", {.ulps = 1}));
}

TEST(CompareLiterals, NamesFirstAndWorst) {
  const absl::Status status =
      CompareLiterals(*ParseLiteral("(s32[], f32[2,2]) (1, { { 1, 2 }, { 3, 4 } })"),
                      *ParseLiteral("(s32[], f32[2,2]) (1, { { 1, 2.0000002 }, { 3, 5 } })"), {});
  EXPECT_EQ(status.message(),
            "tuple element {1}: 2 of 4 elements of f32[2,2] differ; first element {0,1}: expected "
            "2, actual 2.0000002 "
            "(1 ulps apart); worst element {1,1}: expected 4, actual 5 (2097152 ulps apart)");
}

TEST(CompareLiterals, MaxUlpDistance) {
  const auto distance = [](const char* a, const char* b) { return MaxUlpDistance(*ParseLiteral(a), *ParseLiteral(b)); };
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(distance("f32[2] {1, 2}", "f32[2] {1, 2.0000005}"), 2);
  EXPECT_EQ(distance("f32[] nan", "f32[] -nan"), 0);
  EXPECT_EQ(distance("f32[] nan", "f32[] 1"), kFar);
  EXPECT_EQ(distance("f64[] inf", "f64[] -inf"), kFar);
  EXPECT_EQ(distance("f64[] 0", "f64[] -0"), 1);
  EXPECT_EQ(distance("f32[] 3.4028235e+38", "f32[] inf"), 1);
  EXPECT_EQ(distance("f8e4m3fnuz[] 0.0009765625", "f8e4m3fnuz[] -0.0009765625"), 3);
  EXPECT_EQ(distance("s32[] 1", "s32[] 1"), 0);
  EXPECT_EQ(distance("f32[] 1", "s32[] 1"), kFar);
}

}  // namespace
}  // namespace hilo
