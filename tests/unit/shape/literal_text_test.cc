// Constants as text: canonical printing, reading of all forms, errors.
#include <bit>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "hilo/literal.h"

namespace hilo {
namespace {

std::string Canonical(const std::string& text) {
  const absl::StatusOr<Literal> literal = ParseLiteral(text);
  return literal.ok() ? literal->ToString() : std::string(literal.status().message());
}

TEST(LiteralText, CanonicalFormsRoundTrip) {
  for (const std::string text : {"f32[] 1",
                                 "s32[3] {1, 2, 3}",
                                 "s32[2,2] { { 1, 2 }, { 3, 4 } }",
                                 "s32[1,1,2] { { { 1, 2 } } }",
                                 "pred[] true",
                                 "pred[] false",
                                 "pred[3] {1, 0, 1}",
                                 "f32[0] {}",
                                 "f32[2,0] { {}, {} }",
                                 "f32[0,2] {}",
                                 "f32[2,0,2] { {}, {} }",
                                 "c64[2] {(1.5, -2.5), (-0, nan)}",
                                 "c128[] (1e+300, inf)",
                                 "() ()",
                                 "(f32[], (s32[2], ())) (1, ({1, 2}, ()))",
                                 "token[] token",
                                 "f32[3] {inf, -inf, -0}",
                                 "f32[5] {nan, -nan, nan(0x7fffff), -nan(0x7), nan(0x1)}",
                                 "f64[2] {nan(0x1), nan(0xfffffffffffff)}",
                                 "f16[2] {nan(0x3ff), -nan(0x1)}",
                                 "bf16[2] {nan, nan(0x7f)}",
                                 "f8e5m2[3] {nan, nan(0x1), -nan(0x3)}",
                                 "f8e4m3fn[2] {nan, -nan}",
                                 "f8e4m3fnuz[] nan",
                                 "f8e8m0fnu[] nan",
                                 "s4[3] {-8, 7, 0}",
                                 "u64[] 18446744073709551615",
                                 "s64[] -9223372036854775808",
                                 "s1[2] {-1, 0}",
                                 "f32[4] {1e-45, 3.4028235e+38, 0.1, 16777216}",
                                 "f64[2] {5e-324, 0.1}",
                                 "bf16[3] {3.14, 9e-41, 0.1}",
                                 "f16[2] {0.1, 65504}",
                                 "f8e4m3fn[3] {0.1, 448, -0}",
                                 "f4e2m1fn[3] {0.5, -6, 1.5}"}) {
    EXPECT_EQ(Canonical(text), text);
  }
}

TEST(LiteralText, TakesEveryFormInTheWild) {
  EXPECT_EQ(Canonical("f32[2,2]{1,0}{{1,2}\n,{3,4}}"), "f32[2,2] { { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(Canonical("s32[2,1] { { /*i0=0*/ 1 }, // one\n { /*i0=1*/ 2 } }"), "s32[2,1] { { 1 }, { 2 } }");
  EXPECT_EQ(Canonical("pred[4] {true, false, 1, 0}"), "pred[4] {1, 0, 1, 0}");
  EXPECT_EQ(Canonical("f32[3] {0x1.8p1, -0x1p-149, 0X.8P0}"), "f32[3] {3, -1e-45, 0.5}");
  EXPECT_EQ(Canonical("f32[5] {1., .5, 1E2, +3, -0.0}"), "f32[5] {1, 0.5, 100, 3, -0}");
  EXPECT_EQ(Canonical("f32[2] {1e-400, -1e-400}"), "f32[2] {0, -0}");
  EXPECT_EQ(Canonical("bf16[] 3.141"), "bf16[] 3.14");
  EXPECT_EQ(Canonical("f8e4m3fn[] 0.102"), "f8e4m3fn[] 0.1");
  EXPECT_EQ(Canonical("f8e5m2[] 5.7e+04"), "f8e5m2[] 57344");
  EXPECT_EQ(Canonical("c64[2] {1, ( 2 , 3 )}"), "c64[2] {(1, 0), (2, 3)}");
  EXPECT_EQ(Canonical("f32[2,0] {}"), "f32[2,0] { {}, {} }");
  EXPECT_EQ(Canonical("u8[] -0"), "u8[] 0");
  EXPECT_EQ(Canonical("f32[] nan(0x400000)"), "f32[] nan");
  EXPECT_EQ(Canonical("f32[1000000000000,0] {}"), "f32[1000000000000,0] {}");
  EXPECT_EQ(ParseLiteral("{ 1, 2 }", *ParseShape("s32[2]"))->ToString(), "s32[2] {1, 2}");
  EXPECT_EQ(ParseLiteral("( 1, /*index=1*/ {2} )", *ParseShape("(s32[], s32[1])"))->ToString(false), "(1, {2})");
}

TEST(LiteralText, Elision) {
  const Literal literal = LiteralUtil::CreateR1<int32_t>({1, 2, 3});
  EXPECT_EQ(literal.ToString(true, 2), "s32[3] {...}");
  EXPECT_EQ(literal.ToString(false, 3), "{1, 2, 3}");
  for (const char* text : {"s32[3] {...}", "f32[100000000] {...}", "f32[2,2] { { 1, 2 }, {...} }", "f32[] {...}"}) {
    EXPECT_NE(Canonical(text).find("left out"), std::string::npos) << Canonical(text);
  }
}

TEST(LiteralText, OutOfRangeIsAnError) {
  for (const char* text : {"s8[] 128",
                           "s8[] -129",
                           "u8[] 256",
                           "u8[] -1",
                           "s4[] 8",
                           "u2[] 4",
                           "s1[] 1",
                           "s64[] 9223372036854775808",
                           "u64[] 18446744073709551616",
                           "f32[] 1e39",
                           "f32[] -0x1p128",
                           "f64[] 1e309",
                           "f16[] 65520",
                           "bf16[] 3.4e38",
                           "f8e4m3fn[] 465",
                           "f8e4m3fn[] inf",
                           "f8e5m2fnuz[] -inf",
                           "f4e2m1fn[] 7",
                           "f4e2m1fn[] nan",
                           "f8e8m0fnu[] 0",
                           "f32[] nan(0x800000)",
                           "f32[] nan(0x0)",
                           "f16[] nan(0x400)",
                           "f8e4m3fn[] nan(0x1)",
                           "c64[] (1e39, 0)"}) {
    const absl::StatusOr<Literal> literal = ParseLiteral(text);
    ASSERT_FALSE(literal.ok()) << text;
    EXPECT_NE(literal.status().message().find("out of the range"), std::string::npos) << literal.status();
  }
}

TEST(LiteralText, MalformedTextIsAnError) {
  for (const char* text : {"s32[]",
                           "s32[] x",
                           "s32[] 1 2",
                           "s32[] 1.5",
                           "s32[] 1e3",
                           "s32[] true",
                           "f32[] true",
                           "pred[] 2",
                           "pred[] True",
                           "s32[2] {1}",
                           "s32[2] {1, 2, 3}",
                           "s32[2] {1, 2",
                           "s32[2] {1 2}",
                           "s32[2] {1, 2,}",
                           "s32[2] 1, 2",
                           "s32[] {1}",
                           "s32[2,1] {1, 2}",
                           "s32[2] { { 1, 2 } }",
                           "s32[0] {1}",
                           "s32[2,0] { {} }",
                           "s32[2,0] { {}, {}, {} }",
                           "s32[0,2] { {} }",
                           "c64[] (1)",
                           "c64[] (1, 2",
                           "c64[] (1, 2, 3)",
                           "(s32[]) 1",
                           "(s32[]) (1, 2)",
                           "(s32[], s32[]) (1)",
                           "() (1)",
                           "f32[] nan(",
                           "f32[] nan()",
                           "f32[] nan(7)",
                           "f32[] --1",
                           "f32[] +-1",
                           "f32[] 1e",
                           "f32[] 0x",
                           "f32[] .",
                           "f32[] infx",
                           "f32[] 1/*",
                           "s32[] -",
                           "s32[] 99999999999x",
                           "token[] 1",
                           "f32[1000000000000] {1}"}) {
    EXPECT_EQ(ParseLiteral(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_NE(ParseLiteral("s8[2] {1, 300}").status().message().find("offset 10"), std::string::npos);
}

TEST(LiteralText, ErrorsSayWhatWasExpected) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"c64[] (x, 1)", "expected a value of f32, got 'x"},
      {"c64[] (1; 2)", "expected ','"},
      {"f32[] ", "expected a value of f32"},
      {"f32[<=4,<=4](2 2) {}", "expected ','"},
      {"f32[<=4](x) {}", "expected a value of s64, got 'x"},
      {"f32[<=4](2 {1, 2}", "expected ')'"},
      {"f32[<=4](5) {}", "expected a size that dimension 0 of f32[<=4] can have, not 5"},
      {"f32[<=4](-1) {}", "can have, not -1"},
      {"f32[<=4,3](2,2) {}", "expected a size that dimension 1 of f32[<=4,3] can have, not 2"},
  };
  for (const auto& c : cases) {
    const auto literal = ParseLiteral(c.text);
    ASSERT_FALSE(literal.ok()) << c.text;
    EXPECT_NE(literal.status().message().find(c.message), std::string::npos) << c.text << ": " << literal.status();
  }
  EXPECT_NE(ParseLiteral("1", Shape(F32, {-1})).status().message().find("expected sizes of at least 0"),
            std::string::npos);
}

TEST(LiteralText, DeepNestingIsAnError) {
  const std::string open(1000000, '(');
  const std::string braces(1000000, '{');
  EXPECT_FALSE(ParseLiteral(open).ok());
  EXPECT_FALSE(ParseLiteral(open, *ParseShape("(s32[])")).ok());
  EXPECT_FALSE(ParseLiteral(braces, *ParseShape("s32[2,2]")).ok());
  EXPECT_FALSE(ParseLiteral(open, ShapeUtil::MakeScalarShape(C64)).ok());
  // Dimensions are not nesting: a rank beyond any stack works.
  const std::vector<int64_t> ones(100000, 1);
  Literal literal = *Literal::Create(Shape(S32, ones));
  EXPECT_EQ(*ParseLiteral(literal.ToString()), literal);
}

// Each pattern of the type prints to a text that reads back to it.
template <typename T>
void CheckAllPatterns(uint32_t patterns) {
  Literal literal = *Literal::Create(ShapeUtil::MakeShape(NativeToPrimitiveType<T>(), {patterns}));
  for (uint32_t bits = 0; bits < patterns; ++bits) literal.data<T>()[bits] = T::FromBits(bits);
  EXPECT_EQ(*ParseLiteral(literal.ToString()), literal) << PrimitiveTypeName(T::type);
}

TEST(LiteralText, EveryPatternOfSmallFloatsRoundTrips) {
  CheckAllPatterns<half>(65536);
  CheckAllPatterns<bfloat16>(65536);
  CheckAllPatterns<f8e5m2>(256);
  CheckAllPatterns<f8e4m3>(256);
  CheckAllPatterns<f8e3m4>(256);
  CheckAllPatterns<f8e4m3fn>(256);
  CheckAllPatterns<f8e4m3b11fnuz>(256);
  CheckAllPatterns<f8e4m3fnuz>(256);
  CheckAllPatterns<f8e5m2fnuz>(256);
  CheckAllPatterns<f8e8m0fnu>(256);
  CheckAllPatterns<f4e2m1fn>(16);
}

TEST(LiteralText, RandomPatternsOfFloatsRoundTrip) {
  std::mt19937_64 random(1);
  Literal floats = *Literal::Create(ShapeUtil::MakeShape(F32, {20000}));
  for (float& value : floats.data<float>()) value = std::bit_cast<float>(static_cast<uint32_t>(random()));
  EXPECT_EQ(*ParseLiteral(floats.ToString()), floats);
  Literal doubles = *Literal::Create(ShapeUtil::MakeShape(C128, {10000}));
  for (complex128& value : doubles.data<complex128>()) {
    value = {std::bit_cast<double>(uint64_t{random()}), std::bit_cast<double>(uint64_t{random()})};
  }
  EXPECT_EQ(*ParseLiteral(doubles.ToString()), doubles);
}

}  // namespace
}  // namespace hilo
