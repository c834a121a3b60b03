#include "hlo/analysis/precision.h"

#include "absl/strings/str_cat.h"
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

int DigitsBehindRoot(absl::string_view body) {
  const auto module = testing::Parse(body);
  return SignificantDigitsBehind(*module->entry_computation()->root_instruction());
}

TEST(Precision, IsThatOfTheNarrowestTypeBehindAResult) {
  EXPECT_EQ(DigitsBehindRoot("HloModule m\nENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] add(x, x) }"), 24);
  EXPECT_EQ(DigitsBehindRoot("HloModule m\nENTRY e { x = f64[2] parameter(0)\n ROOT r = f64[2] add(x, x) }"), 53);
  EXPECT_EQ(DigitsBehindRoot("HloModule m\nENTRY e { x = f32[2] parameter(0)\n h = bf16[2] convert(x)\n"
                             " y = f32[2] convert(h)\n ROOT r = f32[2] add(y, x) }"),
            8);
  // What the result does not depend on does not count, nor do floats that are for storage.
  EXPECT_EQ(DigitsBehindRoot("HloModule m\nENTRY e { x = f32[2] parameter(0)\n h = f16[2] convert(x)\n"
                             " y = f8e4m3fn[2] convert(x)\n ROOT r = f32[2] convert(y) }"),
            24);
}

TEST(Precision, SeesCalledComputations) {
  EXPECT_EQ(DigitsBehindRoot("HloModule m\nf { a = f32[2] parameter(0)\n b = f16[2] convert(a)\n"
                             " ROOT c = f32[2] convert(b) }\n"
                             "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] call(x), to_apply=f }"),
            11);
}

TEST(Precision, FactorsMayBeTf32UnlessTheProgramAsksForMore) {
  const auto product = [](absl::string_view type, absl::string_view attributes) {
    return DigitsBehindRoot(absl::StrCat("HloModule m\nENTRY e { x = ", type, "[2,2] parameter(0)\n ROOT r = ", type,
                                         "[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                                         attributes, " }"));
  };
  EXPECT_EQ(product("f32", ""), 11);
  EXPECT_EQ(product("f32", ", operand_precision={highest,highest}"), 24);
  EXPECT_EQ(product("f32", ", algorithm=dot_f32_f32_f32"), 24);
  EXPECT_EQ(product("bf16", ""), 8);
  EXPECT_EQ(product("f64", ""), 53);
}

}  // namespace
}  // namespace hilo
