#include "hlo/analysis/in_place.h"

#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;

// "0>0 1>0*": operand > output, a star where only a part is updated.
std::string Pairs(absl::string_view text) {
  auto module = Parse(text);
  std::vector<std::string> pairs;
  for (const InPlacePair& pair : InPlacePairs(*module->entry_computation()->root_instruction())) {
    pairs.push_back(absl::StrCat(pair.operand, ">", pair.output, pair.updates_part ? "*" : ""));
  }
  return absl::StrJoin(pairs, " ");
}

std::string FusionPairs(absl::string_view fused, absl::string_view operands, absl::string_view type) {
  return Pairs(absl::StrCat("HloModule m\nf { ", fused, " }\nENTRY main { ", operands, "  ROOT r = ", type,
                            " fusion(x, y), kind=kLoop, calls=f }\n"));
}

constexpr absl::string_view kTwoArrays = "x = f32[8] parameter(0)  y = f32[8] parameter(1)";

TEST(InPlace, ElementWiseInstructions) {
  EXPECT_EQ(
      "0>0 1>0",
      Pairs(
          "HloModule m\nENTRY main { x = f32[8] parameter(0)  y = f32[8] parameter(1)  ROOT r = f32[8] add(x, y) }\n"));
  EXPECT_EQ("0>0", Pairs("HloModule m\nENTRY main { x = f32[8] parameter(0)  ROOT r = s32[8] convert(x) }\n"));
  EXPECT_EQ("", Pairs("HloModule m\nENTRY main { x = f32[8] parameter(0)  ROOT r = f64[8] convert(x) }\n"));
  EXPECT_EQ("",
            Pairs("HloModule m\nENTRY main { x = f32[8] parameter(0)  ROOT r = f32[8] reverse(x), dimensions={0} }\n"));
  EXPECT_EQ("1>0 2>0", Pairs("HloModule m\nENTRY main { p = pred[] parameter(0)  x = f32[8] parameter(1)  y = f32[8] "
                             "parameter(2)  ROOT r = f32[8] select(p, x, y) }\n"));
}

TEST(InPlace, Updates) {
  EXPECT_EQ("0>0*", Pairs("HloModule m\nENTRY main { x = f32[8] parameter(0)  y = f32[2] parameter(1)  i = s32[] "
                          "parameter(2)  ROOT r = f32[8] dynamic-update-slice(x, y, i) }\n"));
  // The update is the array itself.
  EXPECT_EQ("", Pairs("HloModule m\nENTRY main { x = f32[8] parameter(0)  i = s32[] parameter(1)  ROOT r = f32[8] "
                      "dynamic-update-slice(x, x, i) }\n"));
}

TEST(InPlace, FusionsThatReadTheMemoryTheyWrite) {
  EXPECT_EQ(
      "0>0 1>0",
      FusionPairs(
          "a = f32[8] parameter(0)  b = f32[8] parameter(1)  e = f32[8] exponential(a)  ROOT c = f32[8] add(e, b)",
          kTwoArrays, "f32[8]"));
  EXPECT_EQ("1>0", FusionPairs("a = f32[8] parameter(0)  b = f32[8] parameter(1)  e = f32[8] reverse(a), "
                               "dimensions={0}  ROOT c = f32[8] add(e, b)",
                               kTwoArrays, "f32[8]"));
  // Read at the same index and at another one.
  EXPECT_EQ("1>0", FusionPairs("a = f32[8] parameter(0)  b = f32[8] parameter(1)  e = f32[8] reverse(a), "
                               "dimensions={0}  d = f32[8] add(e, a)  ROOT c = f32[8] add(d, b)",
                               kTwoArrays, "f32[8]"));
}

// The indices of single elements are read where these go; the elements of index vectors, and what is fetched,
// elsewhere.
TEST(InPlace, FusionsThatFetch) {
  EXPECT_EQ("1>0", FusionPairs("a = s32[8] parameter(0)  b = s32[8] parameter(1)  i = s32[8,1] reshape(b)  g = s32[8] "
                               "gather(a, i), collapsed_slice_dims={0}, "
                               "start_index_map={0}, index_vector_dim=1, slice_sizes={1}  ROOT c = s32[8] add(g, b)",
                               "x = s32[8] parameter(0)  y = s32[8] parameter(1)", "s32[8]"));
  EXPECT_EQ("", FusionPairs("a = s32[2,2] parameter(0)  b = s32[2,2] parameter(1)  g = s32[2] gather(a, b), "
                            "collapsed_slice_dims={0,1}, start_index_map={0,1}, "
                            "index_vector_dim=1, slice_sizes={1,1}  ROOT c = s32[2] negate(g)",
                            "x = s32[2,2] parameter(0)  y = s32[2,2] parameter(1)", "s32[2]"));
  // As many elements as the indices have, but each vector is read for two of them.
  EXPECT_EQ("", FusionPairs("a = s32[8,8] parameter(0)  b = s32[4,2] parameter(1)  g = s32[4,2] gather(a, b), "
                            "offset_dims={1}, collapsed_slice_dims={0}, "
                            "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,2}  ROOT c = s32[4,2] negate(g)",
                            "x = s32[8,8] parameter(0)  y = s32[4,2] parameter(1)", "s32[4,2]"));
}

TEST(InPlace, FusionsOfSeveralResults) {
  EXPECT_EQ("0>0 0>1 1>0 1>1", FusionPairs("a = f32[8] parameter(0)  b = f32[8] parameter(1)  c = f32[8] add(a, b)  d "
                                           "= f32[8] multiply(a, b)  ROOT t = (f32[8], f32[8]) tuple(c, d)",
                                           kTwoArrays, "(f32[8], f32[8])"));
  // A running sum is not a loop that reads where it writes.
  EXPECT_EQ("",
            Pairs(absl::StrCat(
                "HloModule m\nsum { a0 = f32[] parameter(0)  b0 = f32[] parameter(1)  ROOT c0 = f32[] add(a0, b0) }\n",
                "f { a = f32[8] parameter(0)  b = f32[8] parameter(1)  z = f32[] constant(0)  s = f32[8] "
                "reduce-window(a, z), window={size=8 pad=7_0}, "
                "to_apply=sum  n = f32[8] negate(b)  ROOT t = (f32[8], f32[8]) tuple(s, n) }\nENTRY main { ",
                kTwoArrays, "  ROOT r = (f32[8], f32[8]) fusion(x, y), kind=kLoop, calls=f }\n")));
}

TEST(InPlace, FusionsThatUpdate) {
  constexpr absl::string_view kOperands = "x = f32[8] parameter(0)  y = s32[] parameter(1)";
  constexpr absl::string_view kParameters = "a = f32[8] parameter(0)  i = s32[] parameter(1)  ";
  // The window that is written is read for itself.
  EXPECT_EQ("0>0*", FusionPairs(absl::StrCat(kParameters,
                                             "s = f32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}  n = f32[2] "
                                             "negate(s)  ROOT u = f32[8] dynamic-update-slice(a, n, i)"),
                                kOperands, "f32[8]"));
  // Reversed: an element is read after it was written.
  EXPECT_EQ("", FusionPairs(absl::StrCat(kParameters,
                                         "s = f32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}  n = f32[2] "
                                         "reverse(s), dimensions={0}  ROOT u = f32[8] dynamic-update-slice(a, n, i)"),
                            kOperands, "f32[8]"));
  // Another window.
  EXPECT_EQ("", FusionPairs(absl::StrCat(kParameters,
                                         "j = s32[] add(i, i)  s = f32[2] dynamic-slice(a, j), dynamic_slice_sizes={2} "
                                         " n = f32[2] negate(s)  ROOT u = f32[8] dynamic-update-slice(a, n, i)"),
                            kOperands, "f32[8]"));
}

TEST(InPlace, FusionsThatUpdateAFixedWindow) {
  constexpr absl::string_view kOperands = "x = f32[8,9] parameter(0)  y = f32[2,3] parameter(1)";
  const auto pairs = [&](absl::string_view slice, absl::string_view starts) {
    return FusionPairs(
        absl::StrCat("a = f32[8,9] parameter(0)  b = f32[2,3] parameter(1)  one = s32[] constant(1)  four = s32[] "
                     "constant(4)  seven = s32[] constant(7)  s = f32[2,3] slice(a), slice={",
                     slice, "}  n = f32[2,3] add(s, b)  ROOT u = f32[8,9] dynamic-update-slice(a, n, ", starts, ")"),
        kOperands, "f32[8,9]");
  };
  EXPECT_EQ("0>0*", pairs("[1:3], [4:7]", "one, four"));
  // Another window.
  EXPECT_EQ("", pairs("[1:3], [5:8]", "one, four"));
  EXPECT_EQ("", pairs("[2:4], [4:7]", "one, four"));
  // Elements that lie apart.
  EXPECT_EQ("", pairs("[1:4:2], [4:7]", "one, four"));
  // A start that is clamped: the slice is not where it says, even if it is where the window goes.
  EXPECT_EQ("", pairs("[6:8], [4:7]", "seven, four"));
  // A start that is not known.
  EXPECT_EQ("", FusionPairs("a = f32[8] parameter(0)  i = s32[] parameter(1)  s = f32[2] slice(a), slice={[1:3]}  n = "
                            "f32[2] negate(s)  ROOT u = f32[8] dynamic-update-slice(a, n, i)",
                            "x = f32[8] parameter(0)  y = s32[] parameter(1)", "f32[8]"));
}

}  // namespace
}  // namespace hilo
