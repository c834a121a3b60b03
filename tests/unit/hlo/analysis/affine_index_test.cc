#include "hlo/analysis/affine_index.h"

#include "absl/strings/str_cat.h"
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;

// Of the root of an entry with i = s32[4] iota, j = s32[4,3,1] iota along 1, and k = s32[4,3,1] that repeats i.
std::optional<AffineIndex> IndexOf(absl::string_view body) {
  const auto module = Parse(absl::StrCat(
      "HloModule m\nENTRY e {\n i = s32[4] iota(), iota_dimension=0  j = s32[4,3,1] iota(), iota_dimension=1  "
      "k = s32[4,3,1] broadcast(i), dimensions={0}  c = s32[] constant(5)  b = s32[4,3,1] broadcast(c), "
      "dimensions={}  x = s32[4] parameter(0)\n ",
      body, "\n}\n"));
  return AffineIndexOf(*module->entry_computation()->root_instruction());
}
AffineIndex Of(int64_t offset, std::vector<int64_t> coefficients, int64_t first, int64_t last) {
  return {.offset = offset, .coefficients = std::move(coefficients), .range = {first, last}};
}

TEST(AffineIndex, SumsAndMultiplesOfIotas) {
  EXPECT_EQ(IndexOf("ROOT r = s32[4] add(i, i)"), Of(0, {2}, 0, 6));
  EXPECT_EQ(IndexOf("ROOT r = s32[4,3,1] add(j, k)"), Of(0, {1, 1, 0}, 0, 5));
  EXPECT_EQ(IndexOf("m = s32[4,3,1] multiply(b, k)  ROOT r = s32[4,3,1] add(m, j)"), Of(0, {5, 1, 0}, 0, 17));
  EXPECT_EQ(IndexOf("m = s32[4,3,1] add(b, k)  r = s32[4,3,1] add(m, j)  ROOT n = s64[4,3,1] convert(r)"),
            Of(5, {1, 1, 0}, 5, 10));
  EXPECT_EQ(IndexOf("r = s32[4,3,1] add(j, k)  ROOT n = s32[1,4,1,3] reshape(r)"), Of(0, {0, 1, 0, 1}, 0, 5));
  EXPECT_EQ(IndexOf("n = s32[] constant(-2)  f = s32[4] broadcast(n), dimensions={}  ROOT r = s32[4] multiply(i, f)"),
            Of(0, {-2}, -6, 0));
  EXPECT_EQ(IndexOf("ROOT r = s32[1] iota(), iota_dimension=0"), Of(0, {0}, 0, 0));
}

TEST(AffineIndex, NothingElse) {
  EXPECT_EQ(IndexOf("ROOT r = s32[4] add(i, x)"), std::nullopt);
  EXPECT_EQ(IndexOf("ROOT r = s32[4] multiply(i, i)"), std::nullopt);
  EXPECT_EQ(IndexOf("ROOT r = s32[12] reshape(j)"), std::nullopt);
  EXPECT_EQ(IndexOf("ROOT r = s32[3,4,1] reshape(k)"), std::nullopt);
  EXPECT_EQ(IndexOf("ROOT r = f32[4] convert(i)"), std::nullopt);
  // What wraps around.
  EXPECT_EQ(IndexOf("ROOT r = u8[300] iota(), iota_dimension=0"), std::nullopt);
  EXPECT_EQ(IndexOf("n = s32[300] iota(), iota_dimension=0  ROOT r = u8[300] convert(n)"), std::nullopt);
  EXPECT_EQ(IndexOf("n = u8[200] iota(), iota_dimension=0  ROOT r = u8[200] add(n, n)"), std::nullopt);
  EXPECT_EQ(IndexOf("n = s32[] constant(-1)  ROOT r = u64[] convert(n)"), std::nullopt);
}

// Of f32[9,6] gathered at a s32[4] iota times `step` from `first` on, with slices of `size` rows.
std::optional<std::vector<AffineIndex>> StartsOf(int first, int step, int size) {
  const auto module = Parse(absl::StrCat(
      "HloModule m\nENTRY e {\n x = f32[9,6] parameter(0)  i = s32[4] iota(), iota_dimension=0  f = s32[] constant(",
      first, ")  s = s32[] constant(", step,
      ")  a = s32[4] broadcast(f), dimensions={}  b = s32[4] broadcast(s), dimensions={}  m = s32[4] multiply(i, b)  "
      "n = s32[4] add(m, a)  ROOT r = f32[4,",
      size, ",6] gather(x, n), offset_dims={1,2}, start_index_map={0}, index_vector_dim=1, slice_sizes={", size,
      ",6}\n}\n"));
  return AffineStartsOf(*module->entry_computation()->root_instruction());
}

TEST(AffineIndex, StartsThatAreNotClamped) {
  ASSERT_TRUE(StartsOf(0, 2, 3).has_value());
  EXPECT_EQ(StartsOf(0, 2, 3)->at(0), Of(0, {2}, 0, 6));
  EXPECT_EQ(StartsOf(6, -2, 3)->at(0), Of(6, {-2}, 0, 6));
  EXPECT_EQ(StartsOf(0, 2, 4), std::nullopt);
  EXPECT_EQ(StartsOf(-1, 2, 3), std::nullopt);
}

TEST(AffineIndex, StartsOfSeveralComponents) {
  const auto module = Parse(R"(HloModule m
ENTRY e {
  x = f32[9,6] parameter(0)
  i = s32[4,5,1] iota(), iota_dimension=0
  j = s32[4,5,1] iota(), iota_dimension=1
  s = s32[4,5,2] concatenate(i, j), dimensions={2}
  ROOT r = f32[4,5] gather(x, s), collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=2, slice_sizes={1,1}
})");
  const auto starts = AffineStartsOf(*module->entry_computation()->root_instruction());
  ASSERT_TRUE(starts.has_value());
  ASSERT_EQ(starts->size(), 2u);
  EXPECT_EQ(starts->at(0), Of(0, {1, 0}, 0, 3));
  EXPECT_EQ(starts->at(1), Of(0, {0, 1}, 0, 4));
}

}  // namespace
}  // namespace hilo
