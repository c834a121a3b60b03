#include "hlo/analysis/value_range.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;
using Range = std::optional<ValueRange>;

// The range of the root of an entry whose parameters are x, s32[9], u, u8[9], and p, pred[9].
Range RangeOf(absl::string_view body) {
  const auto module = Parse(absl::StrCat(
      "HloModule m\nENTRY e {\n x = s32[9] parameter(0)  u = u8[9] parameter(1)  p = pred[9] parameter(2)\n ", body,
      "\n}\n"));
  return ValueRangeOf(*module->entry_computation()->root_instruction());
}
Range Of(int64_t first, int64_t last) { return ValueRange{first, last}; }

constexpr int64_t kFirst = std::numeric_limits<int32_t>::min(), kLast = std::numeric_limits<int32_t>::max();

TEST(ValueRange, Sources) {
  EXPECT_EQ(RangeOf("ROOT r = s32[4,7] iota(), iota_dimension=1"), Of(0, 6));
  EXPECT_EQ(RangeOf("ROOT r = s32[3] constant({5, -2, 4})"), Of(-2, 5));
  EXPECT_EQ(RangeOf("ROOT r = s32[9] negate(x)"), Of(kFirst, kLast));
  EXPECT_EQ(RangeOf("ROOT r = u8[9] negate(u)"), Of(0, 255));
  EXPECT_EQ(RangeOf("ROOT r = pred[9] not(p)"), Of(0, 1));
  EXPECT_EQ(RangeOf("ROOT r = f32[9] convert(x)"), std::nullopt);
  EXPECT_EQ(RangeOf("ROOT r = u64[9] convert(x)"), std::nullopt);
  EXPECT_EQ(RangeOf("ROOT r = u64[9] convert(u)"), Of(0, 255));
}

TEST(ValueRange, Bounds) {
  const std::string ten = "c = s32[] constant(10)  b = s32[9] broadcast(c), dimensions={}  ",
                    two = "d = s32[] constant(2)  ";
  EXPECT_EQ(RangeOf(ten + "ROOT r = s32[9] minimum(x, b)"), Of(kFirst, 10));
  EXPECT_EQ(RangeOf(ten + "ROOT r = s32[9] maximum(b, x)"), Of(10, kLast));
  EXPECT_EQ(RangeOf(ten + two + "ROOT r = s32[9] clamp(d, x, c)"), Of(2, 10));
  EXPECT_EQ(RangeOf(ten + "ROOT r = s32[9] remainder(x, b)"), Of(-9, 9));
  EXPECT_EQ(RangeOf(ten + "i = s32[9] iota(), iota_dimension=0  ROOT r = s32[9] remainder(i, b)"), Of(0, 8));
  // Every number is the remainder of a division by zero.
  EXPECT_EQ(RangeOf("i = s32[9] iota(), iota_dimension=0  ROOT r = s32[9] remainder(x, i)"), Of(kFirst, kLast));
}

TEST(ValueRange, Combinations) {
  const std::string i =
      "i = s32[9] iota(), iota_dimension=0  c = s32[] constant(-3)  b = s32[9] broadcast(c), "
      "dimensions={}  ";
  EXPECT_EQ(RangeOf(i + "ROOT r = s32[9] add(i, b)"), Of(-3, 5));
  EXPECT_EQ(RangeOf(i + "ROOT r = s32[9] multiply(i, b)"), Of(-24, 0));
  EXPECT_EQ(RangeOf(i + "ROOT r = s32[9] select(p, i, b)"), Of(-3, 8));
  EXPECT_EQ(RangeOf(i + "ROOT r = s32[9] select(p, i, x)"), Of(kFirst, kLast));
  // What wraps around may be anything.
  EXPECT_EQ(RangeOf(i + "ROOT r = s32[9] add(x, i)"), Of(kFirst, kLast));
  EXPECT_EQ(RangeOf(i + "ROOT r = u8[9] convert(b)"), Of(0, 255));
  EXPECT_EQ(RangeOf(i + "t = s32[3,3] reshape(i)  s = s32[2,3] slice(t), slice={[0:2], [0:3]}"
                        "  ROOT r = s32[3,2] transpose(s), dimensions={1,0}"),
            Of(0, 8));
}

TEST(ValueRange, ThroughFusions) {
  const auto module = Parse(R"(
HloModule m
f { a = s32[9] parameter(0)  b = s32[9] parameter(1)  ROOT r = s32[9] add(a, b) }
ENTRY e { i = s32[9] iota(), iota_dimension=0  ROOT r = s32[9] fusion(i, i), kind=kLoop, calls=f }
)");
  EXPECT_EQ(ValueRangeOf(*module->entry_computation()->root_instruction()), Of(0, 16));
}

// 2^40 paths.
TEST(ValueRange, IsBounded) {
  std::string body = "x0 = s32[9] iota(), iota_dimension=0  ";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&body, "x", i + 1, " = s32[9] maximum(x", i, ", x", i, ")  ");
  EXPECT_EQ(RangeOf(body + "ROOT r = s32[9] copy(x40)"), Of(kFirst, kLast));
}

TEST(ValueRange, DifferentBits) {
  EXPECT_EQ(DifferentBits({0, 255}, 32), 8);
  EXPECT_EQ(DifferentBits({0, 256}, 32), 9);
  EXPECT_EQ(DifferentBits({256, 257}, 32), 1);
  EXPECT_EQ(DifferentBits({-4, -1}, 32), 2);
  EXPECT_EQ(DifferentBits({-1, 0}, 32), 32);
  EXPECT_EQ(DifferentBits({7, 7}, 32), 0);
}

}  // namespace
}  // namespace hilo
