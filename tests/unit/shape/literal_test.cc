#include "hilo/literal.h"

#include <limits>
#include <utility>

#include "gtest/gtest.h"

namespace hilo {
namespace {

TEST(Literal, CreateMakesZerosOfAnyShape) {
  const Literal literal = *Literal::Create(*ParseShape("(f32[2], (token[], s8[0]), ())"));
  EXPECT_EQ(literal.ToString(), "(f32[2], (token[], s8[0]), ()) ({0, 0}, (token, {}), ())");
  EXPECT_EQ(literal.at({1, 1}).element_count(), 0);
  EXPECT_EQ(literal.Clone(), literal);
}

TEST(Literal, CreateReportsWhatItCannotHold) {
  EXPECT_EQ(Literal::Create(Shape(F32, {int64_t{1} << 59})).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Literal::Create(Shape(F32, {int64_t{1} << 61})).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Literal::Create(Shape()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Literal, Elements_AreRowMajorForAnyLayout) {
  Literal literal = *Literal::Create(ShapeUtil::MakeShapeWithDenseLayout(S32, {2, 3}, {0, 1}));
  literal.Set<int32_t>({0, 1}, 5);
  EXPECT_EQ(literal.data<int32_t>()[1], 5);
  EXPECT_EQ(literal.Get<int32_t>({0, 1}), 5);
}

TEST(Literal, EqualityIsOfBits) {
  EXPECT_EQ(LiteralUtil::CreateR1<float>({1, 2}), LiteralUtil::CreateR1<float>({1, 2}));
  EXPECT_FALSE(LiteralUtil::CreateR0(0.0f) == LiteralUtil::CreateR0(-0.0f));
  EXPECT_FALSE(LiteralUtil::CreateR0(1.0f) == LiteralUtil::CreateR1<float>({1}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(LiteralUtil::CreateR0(nan), LiteralUtil::CreateR0(nan));
  EXPECT_EQ(LiteralUtil::CreateR0(nan).Hash(), LiteralUtil::CreateR0(nan).Hash());
  EXPECT_NE(LiteralUtil::CreateR0(0).Hash(), LiteralUtil::CreateR0(1).Hash());
}

TEST(Literal, TuplesComeApart) {
  std::vector<Literal> parts;
  parts.push_back(LiteralUtil::CreateR0<int32_t>(1));
  parts.push_back(LiteralUtil::CreateR1<float>({2, 3}));
  Literal tuple = Literal::MakeTuple(std::move(parts));
  EXPECT_EQ(tuple.shape().ToString(), "(s32[], f32[2])");
  EXPECT_EQ(tuple.tuple_size(), 2);
  EXPECT_EQ(std::move(tuple).DecomposeTuple()[1], LiteralUtil::CreateR1<float>({2, 3}));
}

// 0 and 1 convert to every type and back; all pairs of types.
TEST(Literal, ConvertCoversAllPairsOfTypes) {
  for (int i = 1; i < kPrimitiveTypeCount; ++i) {
    for (int j = 1; j < kPrimitiveTypeCount; ++j) {
      const PrimitiveType from = static_cast<PrimitiveType>(i);
      const PrimitiveType to = static_cast<PrimitiveType>(j);
      if (!IsArrayType(from) || !IsArrayType(to)) continue;
      // S1 has no 1 and F8E8M0FNU no 0.
      const bool odd = from == S1 || to == S1 || from == F8E8M0FNU || to == F8E8M0FNU;
      const Literal values = LiteralUtil::CreateR1<int32_t>({1, odd ? 1 : 0, 1});
      const Literal direct = *values.Convert(to);
      const Literal through = *values.Convert(from)->Convert(to);
      if (from != S1 && to != S1) {
        EXPECT_EQ(direct, through) << PrimitiveTypeName(from) << " " << PrimitiveTypeName(to);
      }
      EXPECT_EQ(through.shape().element_type(), to);
    }
  }
  EXPECT_FALSE(LiteralUtil::CreateR0(1).Convert(TUPLE).ok());
  EXPECT_FALSE(Literal().Convert(F32).ok());
}

TEST(Literal, ConvertLongerThanOneChunk) {
  Literal literal = *Literal::Create(ShapeUtil::MakeShape(S64, {10007}));
  for (int64_t i = 0; i < 10007; ++i) literal.Set<int64_t>({i}, i - 5000);
  const Literal converted = *literal.Convert(F32);
  for (int64_t i = 0; i < 10007; ++i) ASSERT_EQ(converted.Get<float>({i}), i - 5000);
}

TEST(Literal, ReshapeKeepsElements) {
  const Literal literal = LiteralUtil::CreateR1<int32_t>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(literal.Reshape({3, 2})->ToString(), "s32[3,2] { { 1, 2 }, { 3, 4 }, { 5, 6 } }");
  EXPECT_FALSE(literal.Reshape({4}).ok());
  EXPECT_FALSE(literal.Reshape({-1, -6}).ok());
}

TEST(Literal, ValuesAsNumbers) {
  EXPECT_EQ(LiteralUtil::CreateR0<uint64_t>(~uint64_t{0}).GetAsInt64(0), INT64_MAX);
  EXPECT_EQ(LiteralUtil::CreateR0(s4(-3)).GetAsInt64(0), -3);
  EXPECT_EQ(LiteralUtil::CreateR0(true).GetAsInt64(0), 1);
  EXPECT_EQ(LiteralUtil::CreateR0(bfloat16(1.5)).GetAsDouble(0), 1.5);
  EXPECT_EQ(LiteralUtil::CreateR0(complex64(2, 3)).GetAsDouble(0), 2);
}

TEST(LiteralUtil, ExtremesOfTypes) {
  EXPECT_EQ(LiteralUtil::MinValue(F32).ToString(), "f32[] -inf");
  EXPECT_EQ(LiteralUtil::MaxValue(BF16).ToString(), "bf16[] inf");
  EXPECT_EQ(LiteralUtil::MaxValue(F8E4M3FN).ToString(), "f8e4m3fn[] 448");
  EXPECT_EQ(LiteralUtil::MinValue(F8E5M2FNUZ).GetAsDouble(0), -57344);
  EXPECT_EQ(LiteralUtil::MinValue(F4E2M1FN).GetAsDouble(0), -6);
  EXPECT_EQ(LiteralUtil::MaxValue(F8E8M0FNU).GetAsDouble(0), 0x1p127);
  EXPECT_EQ(LiteralUtil::MinValue(S4).GetAsInt64(0), -8);
  EXPECT_EQ(LiteralUtil::MaxValue(S4).GetAsInt64(0), 7);
  EXPECT_EQ(LiteralUtil::MinValue(S1).GetAsInt64(0), -1);
  EXPECT_EQ(LiteralUtil::MaxValue(S1).GetAsInt64(0), 0);
  EXPECT_EQ(LiteralUtil::MinValue(S64).GetAsInt64(0), INT64_MIN);
  EXPECT_EQ(LiteralUtil::MaxValue(U64).ToString(), "u64[] 18446744073709551615");
  EXPECT_EQ(LiteralUtil::MinValue(U64).GetAsInt64(0), 0);
  EXPECT_EQ(LiteralUtil::MaxValue(PRED).ToString(), "pred[] true");
  EXPECT_EQ(LiteralUtil::One(C64).ToString(), "c64[] (1, 0)");
  EXPECT_EQ(LiteralUtil::Zero(U2).ToString(), "u2[] 0");
}

}  // namespace
}  // namespace hilo
