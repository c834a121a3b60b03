#include "hlo/analysis/attention_mask.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/attention.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

// The mask of an attention of 8 rows and keys with the scores `s`, whose logits are `logits` of type `type`. There are
// the positions `row` and `key`, the truth values `seen` (row >= key) and `other`, and no others.
std::optional<CausalMask> MaskOf(absl::string_view type, absl::string_view logits) {
  const std::string text =
      absl::StrCat(R"(
HloModule attention
max { a = )",
                   type, R"([] parameter(0)  b = )", type, R"([] parameter(1)  ROOT c = )", type, R"([] maximum(a, b) }
add { a = )",
                   type, R"([] parameter(0)  b = )", type, R"([] parameter(1)  ROOT c = )", type, R"([] add(a, b) }
ENTRY main {
  q = f32[8,4] parameter(0)
  k = f32[8,4] parameter(1)
  v = )",
                   type, R"([8,4] parameter(2)
  other = pred[8,8] parameter(3)
  s = f32[8,8] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  row = s32[8,8] iota(), iota_dimension=0
  key = s32[8,8] iota(), iota_dimension=1
  seen = pred[8,8] compare(row, key), direction=GE
)",
                   logits, R"(
  infinity = )",
                   type, R"([] constant(-inf)
  most = )",
                   type, R"([8] reduce(logits, infinity), dimensions={1}, to_apply=max
  mosts = )",
                   type, R"([8,8] broadcast(most), dimensions={0}
  less = )",
                   type, R"([8,8] subtract(logits, mosts)
  e = )",
                   type, R"([8,8] exponential(less)
  zero = )",
                   type, R"([] constant(0)
  sum = )",
                   type, R"([8] reduce(e, zero), dimensions={1}, to_apply=add
  sums = )",
                   type, R"([8,8] broadcast(sum), dimensions={0}
  p = )",
                   type, R"([8,8] divide(e, sums)
  ROOT r = )",
                   type, R"([8,4] dot(p, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  const auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return std::nullopt;
  const std::optional<Attention> attention = AttentionOf(*(*module)->entry_computation()->root_instruction());
  EXPECT_TRUE(attention.has_value());
  return attention.has_value() ? CausalMaskOf(*attention) : std::nullopt;
}

TEST(CausalMaskTest, HidesKeysBehindTheRow) {
  const auto mask = MaskOf("f32", R"(
  c = f32[] constant(-1e9)
  hidden = f32[8,8] broadcast(c), dimensions={}
  logits = f32[8,8] select(seen, s, hidden))");
  ASSERT_TRUE(mask.has_value());
  EXPECT_EQ(mask->row_dimension, 0);
  EXPECT_EQ(mask->offset, 0);
  EXPECT_EQ(mask->masked_value, -1e9F);
}

TEST(CausalMaskTest, RoundsAsTheProgramDoes) {
  const auto mask = MaskOf("bf16", R"(
  c = f32[] constant(-1e9)
  hidden = f32[8,8] broadcast(c), dimensions={}
  masked = f32[8,8] select(seen, s, hidden)
  short = bf16[8,8] convert(masked)
  least = bf16[] constant(-inf)
  nothing = bf16[8,8] broadcast(least), dimensions={}
  logits = bf16[8,8] select(other, short, nothing))");
  ASSERT_TRUE(mask.has_value());
  EXPECT_EQ(mask->masked_value, -998244352);
}

TEST(CausalMaskTest, NothingIsHiddenByNan) {
  EXPECT_FALSE(MaskOf("f32", R"(
  c = f32[] constant(nan)
  hidden = f32[8,8] broadcast(c), dimensions={}
  masked = f32[8,8] select(seen, s, hidden)
  least = f32[] constant(-1e9)
  nothing = f32[8,8] broadcast(least), dimensions={}
  logits = f32[8,8] select(other, masked, nothing))")
                   .has_value());
}

// The difference of the positions wraps.
TEST(CausalMaskTest, LargeConstantsAreNoMask) {
  EXPECT_FALSE(MaskOf("f32", R"(
  large = s32[] constant(1073741823)
  larges = s32[8,8] broadcast(large), dimensions={}
  before = s32[8,8] subtract(row, larges)
  after = s32[8,8] add(key, larges)
  far = s32[8,8] subtract(before, after)
  end = s32[] constant(-2147483596)
  ends = s32[8,8] broadcast(end), dimensions={}
  near = pred[8,8] compare(far, ends), direction=GE
  c = f32[] constant(-1e9)
  hidden = f32[8,8] broadcast(c), dimensions={}
  logits = f32[8,8] select(near, s, hidden))")
                   .has_value());
}

TEST(CausalMaskTest, KeysAreNoRows) {
  EXPECT_FALSE(MaskOf("f32", R"(
  two = s32[] constant(2)
  twos = s32[8,8] broadcast(two), dimensions={}
  later = s32[8,8] add(key, twos)
  always = pred[8,8] compare(later, key), direction=GE
  c = f32[] constant(-1e9)
  hidden = f32[8,8] broadcast(c), dimensions={}
  logits = f32[8,8] select(always, s, hidden))")
                   .has_value());
}

}  // namespace
}  // namespace hilo
