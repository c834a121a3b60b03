// Ranks, sizes, dimension numbers and shape text. Section names in comments are those of the
// specification.
#include "hilo/shape.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace hilo {
namespace {

TEST(Shape, HoldsRankSizesAndElementType) {
  const Shape shape = ShapeUtil::MakeShape(F32, {2, 3, 5});
  EXPECT_EQ(shape.element_type(), F32);
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.dimensions(0), 2);  // ascending order of number, as given
  EXPECT_EQ(shape.dimensions(1), 3);
  EXPECT_EQ(shape.dimensions(2), 5);
}

TEST(Shape, TrueRankCountsSizesAboveOne) {
  const Shape shape = ShapeUtil::MakeShape(F32, {1, 5, 1, 3});
  EXPECT_EQ(shape.rank(), 4);
  EXPECT_EQ(ShapeUtil::TrueRank(shape), 2);
  EXPECT_EQ(ShapeUtil::TrueRank(ShapeUtil::MakeShape(F32, {0, 1})), 0);
}

TEST(Shape, NegativeDimensionNumbersCountFromTheEnd) {
  const Shape shape = ShapeUtil::MakeShape(F32, {2, 3, 5});
  EXPECT_EQ(*ShapeUtil::GetDimension(shape, -1), 5);
  EXPECT_EQ(*ShapeUtil::GetDimension(shape, -2), 3);
  EXPECT_EQ(*ShapeUtil::GetDimension(shape, 0), 2);
  EXPECT_EQ(*ShapeUtil::GetDimensionNumber(shape, -3), 0);
  EXPECT_FALSE(ShapeUtil::GetDimension(shape, -4).ok());
  EXPECT_FALSE(ShapeUtil::GetDimension(shape, 3).ok());
  EXPECT_FALSE(ShapeUtil::GetDimension(ShapeUtil::MakeScalarShape(F32), 0).ok());
}

TEST(Shape, LettersOfDimensionsFollowTheirNumbers) {
  // Rank 4 is [p, z, y, x]: fewer dimensions drop the first letters, so x is always -1 and y always
  // -2.
  for (int64_t rank = 2; rank <= 4; ++rank) {
    const int64_t sizes[] = {7, 6, 5, 4};  // of p, z, y, x
    const Shape shape = ShapeUtil::MakeShape(F32, absl::MakeSpan(sizes).subspan(4 - rank));
    EXPECT_EQ(*ShapeUtil::GetDimension(shape, -1), 4);
    EXPECT_EQ(*ShapeUtil::GetDimension(shape, -2), 5);
    EXPECT_EQ(shape.dimensions(0), sizes[4 - rank]);
  }
}

TEST(Shape, NewShapesAreRowMajor) {
  EXPECT_EQ(ShapeUtil::MakeShape(F32, {2, 3, 4}).layout().minor_to_major, (std::vector<int64_t>{2, 1, 0}));
}

TEST(Shape, CompatibleIgnoresLayoutsAndDynamismAndEqualDoesNot) {
  const Shape row_major = ShapeUtil::MakeShape(F32, {2, 3});
  const Shape column_major = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {0, 1});
  const Shape without(F32, {2, 3});
  EXPECT_TRUE(ShapeUtil::Compatible(row_major, column_major));
  EXPECT_FALSE(ShapeUtil::Equal(row_major, column_major));
  EXPECT_TRUE(ShapeUtil::Equal(row_major, without));
  EXPECT_FALSE(ShapeUtil::Equal(column_major, without));
  EXPECT_FALSE(ShapeUtil::Compatible(row_major, ShapeUtil::MakeShape(F32, {3, 2})));
  EXPECT_FALSE(ShapeUtil::Compatible(row_major, ShapeUtil::MakeShape(S32, {2, 3})));
  EXPECT_TRUE(ShapeUtil::CompatibleIgnoringElementType(row_major, ShapeUtil::MakeShape(S32, {2, 3})));
  EXPECT_FALSE(ShapeUtil::Compatible(row_major, ShapeUtil::MakeTupleShape({row_major})));
  EXPECT_TRUE(ShapeUtil::Compatible(row_major, ShapeUtil::MakeShape(F32, {2, 3}, {true, false})));
  EXPECT_FALSE(ShapeUtil::Compatible(row_major, ShapeUtil::MakeShape(F32, {3, 3}, {true, false})));
}

TEST(Shape, LeavesAndSubshapesOfTuples) {
  const Shape shape = *ParseShape("(f32[2], (s32[], token[]), ())");
  const auto leaves = ShapeUtil::Leaves(shape);
  ASSERT_EQ(leaves.size(), 3u);
  EXPECT_EQ(leaves[1].index, (ShapeIndex{1, 0}));
  EXPECT_EQ(leaves[1].shape, &ShapeUtil::GetSubshape(shape, {1, 0}));
  EXPECT_TRUE(ShapeUtil::IndexIsValid(shape, {2}));
  EXPECT_FALSE(ShapeUtil::IndexIsValid(shape, {2, 0}));
  EXPECT_FALSE(ShapeUtil::IndexIsValid(shape, {0, 0}));
  EXPECT_FALSE(ShapeUtil::IndexIsValid(shape, {-1}));
}

TEST(Shape, DeletedDimensionsKeepTheOrderOfTheRest) {
  const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3, 4, 5}, {1, 3, 0, 2});
  EXPECT_EQ(ShapeUtil::DeleteDimensions({0, 3}, shape).ToString(true), "f32[3,4]{0,1}");
  EXPECT_EQ(ShapeUtil::DeleteDimensions({1}, shape).ToString(true), "f32[2,4,5]{2,0,1}");
}

TEST(Shape, SizesAreCountedInCheckedArithmetic) {
  const int64_t huge = int64_t{1} << 31;
  EXPECT_TRUE(ShapeUtil::Validate(Shape(F32, {huge, huge / 4})).ok());
  EXPECT_FALSE(ShapeUtil::Validate(Shape(F32, {huge, huge})).ok());
  EXPECT_FALSE(ShapeUtil::Validate(Shape(PRED, {huge, huge, huge})).ok());
  EXPECT_FALSE(ShapeUtil::Validate(Shape(PRED, {0, huge, huge, huge})).ok());
  EXPECT_FALSE(ShapeUtil::Validate(Shape(PRED, {-1})).ok());
  EXPECT_FALSE(ShapeUtil::Validate(Shape(C128, {std::numeric_limits<int64_t>::max()})).ok());
  EXPECT_EQ(ShapeUtil::ElementsIn(Shape(PRED, {huge, huge, huge})), std::numeric_limits<int64_t>::max());
  Shape padded(S8, {1, 1});
  padded.mutable_layout()->padded_dimensions = {huge, huge * 2};
  EXPECT_FALSE(ShapeUtil::Validate(padded).ok());
  const Shape half(S8, {int64_t{1} << 61});
  EXPECT_FALSE(ShapeUtil::Validate(Shape(std::vector<Shape>{half, half, half})).ok());
}

TEST(Shape, InvalidShapesAreErrors) {
  EXPECT_FALSE(ShapeUtil::Validate(Shape()).ok());
  Shape nested = ShapeUtil::MakeShape(F32, {});
  for (int i = 0; i <= ShapeUtil::kMaxTupleDepth; ++i) {
    EXPECT_EQ(ShapeUtil::Validate(nested).ok(), true) << i;
    nested = Shape(std::vector<Shape>{nested});
  }
  EXPECT_NE(ShapeUtil::Validate(nested).message().find("nested deeper than"), std::string::npos);
  EXPECT_FALSE(ShapeUtil::Validate(Shape(TOKEN, {2})).ok());
  EXPECT_FALSE(ShapeUtil::Validate(Shape(static_cast<PrimitiveType>(1000), {2})).ok());
  EXPECT_FALSE(ShapeUtil::ValidateWithLayout(Shape(F32, {2})).ok());
  EXPECT_TRUE(ShapeUtil::ValidateWithLayout(ShapeUtil::MakeShape(F32, {2})).ok());
}

TEST(ShapeText, RoundTrips) {
  for (const std::string text :
       {"f32[]", "f32[2,3]{1,0}", "f32[2,3]{0,1}", "pred[0]{0}", "(s32[], (f32[<=8]{0}))", "()", "token[]", "opaque[]",
        "(token[], opaque[])", "bf16[4,8]{1,0:T(8,128)(2,1)}", "s4[16]{0:E(4)}", "f32[2,3,4]{2,0,1:T(*,8)S(5)}",
        "f32[2,3]{0,1:pad(3,5)}", "f32[2,3]{1,0:pad(3,5:1.5)}", "f8e4m3b11fnuz[1]{0}", "f32[]{:S(1)}", "f32[4,3]"}) {
    const absl::StatusOr<Shape> shape = ParseShape(text);
    ASSERT_TRUE(shape.ok()) << text << ": " << shape.status();
    EXPECT_EQ(shape->ToString(true), text);
  }
}

TEST(ShapeText, TakesBlanksCommentsAndForeignNotes) {
  EXPECT_EQ(ParseShape(" ( f32[ 2 , 3 ] { 1 , 0 } , /*index=1*/ s32[] // end\n )")->ToString(true),
            "(f32[2,3]{1,0}, s32[])");
  EXPECT_EQ(ParseShape("f32[8]{0:D(D)L(2)SC(0:4)}")->ToString(true), "f32[8]{0}");
  EXPECT_EQ(ParseShape("f32[]{}")->ToString(true), "f32[]");
}

TEST(ShapeText, ConsumeLeavesABodyAlone) {
  absl::string_view text = "f32[2] { ROOT";
  EXPECT_EQ(ConsumeShape(&text)->ToString(), "f32[2]");
  EXPECT_EQ(text, " { ROOT");
  text = "f32[2] {0} x";
  EXPECT_EQ(ConsumeShape(&text)->ToString(true), "f32[2]{0}");
  EXPECT_EQ(text, " x");
}

TEST(ShapeText, Errors) {
  for (const char* text : {"",
                           "f32",
                           "f32[",
                           "f32[2",
                           "f32[2,]",
                           "f32[-1]",
                           "f32[2]{1}",
                           "f32[2]{0,0}",
                           "f33[2]",
                           "f32[2]x",
                           "(f32[2]",
                           "f32[2]{0:Q(1)}",
                           "f32[2]{0:D(C)}",
                           "f32[2]{0:T(0)}",
                           "f32[2]{0",
                           "tuple[]",
                           "f32[?]",
                           "f32[99999999999999999999]",
                           "f32[4611686018427387904]",
                           "f32[2]{0:pad(1)}",
                           "token[3]",
                           "f32[2,3]{1,0:pad(3)}",
                           "buffer[]",
                           "f32[2] /* open",
                           "f32[<=]"}) {
    const absl::StatusOr<Shape> shape = ParseShape(text);
    EXPECT_EQ(shape.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_NE(ParseShape("(f32[2], x[3])").status().message().find("offset 9"), std::string::npos);
}

TEST(ShapeText, ErrorsSayWhatWasExpected) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"f32[x]", "expected a dimension size, got 'x]'"},  {"f32[2]{0:T8)}", "expected '(', got '8)}'"},
      {"f32[2]{0:T(x)}", "expected an integer"},          {"f32[2]{0:T(8}", "expected ')', got '}'"},
      {"f32[2]{0:pad 3}", "expected '(', got '3}'"},      {"f32[2]{0:pad(x)}", "expected an integer"},
      {"f32[2]{0:pad(3:x)}", "expected a padding value"}, {"f32[2]{0:E4}", "expected '(', got '4}'"},
      {"f32[2]{0:E(x)}", "expected an integer"},          {"f32[2]{0:SC0}", "expected '(', got '0}'"},
      {"f32[2]{0:SC(x)}", "expected an integer"},         {"f32[2]{0:S(x)}", "expected an integer"},
      {"f32[2]{0:L(x)}", "expected an integer"},          {"f32[2]{0:D(D}", "expected ')', got '}'"},
  };
  for (const auto& c : cases) {
    const absl::StatusOr<Shape> shape = ParseShape(c.text);
    ASSERT_FALSE(shape.ok()) << c.text;
    EXPECT_NE(shape.status().message().find(c.message), std::string::npos) << c.text << ": " << shape.status();
  }
}

TEST(ShapeText, DeepNestingIsAnError) {
  EXPECT_FALSE(ParseShape(std::string(1000000, '(')).ok());
  EXPECT_FALSE(ParseShape(std::string(20000, '(') + "f32[]" + std::string(20000, ')')).ok());
  const int depth = ShapeUtil::kMaxTupleDepth;
  EXPECT_TRUE(ParseShape(std::string(depth, '(') + "f32[]" + std::string(depth, ')')).ok());
}

TEST(ProgramShape, ToString) {
  const ProgramShape shape{{*ParseShape("f32[2]"), *ParseShape("s32[]")}, {"x", "y"}, *ParseShape("f32[2]")};
  EXPECT_EQ(shape.ToString(), "(x: f32[2], y: s32[]) -> f32[2]");
}

TEST(PrimitiveType, NamesRoundTripAndWidthsMatchStorage) {
  for (int i = 1; i < kPrimitiveTypeCount; ++i) {
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    EXPECT_EQ(*PrimitiveTypeFromName(PrimitiveTypeName(type)), type);
    EXPECT_EQ(IsArrayType(type), PrimitiveTypeByteSize(type) > 0);
    EXPECT_EQ(IsSubByteType(type), IsArrayType(type) && type != PRED && PrimitiveTypeBitWidth(type) < 8);
  }
  EXPECT_FALSE(PrimitiveTypeFromName("").ok());
  EXPECT_FALSE(PrimitiveTypeFromName("float").ok());
  EXPECT_EQ(PrimitiveTypeBitWidth(PRED), 1);
  EXPECT_EQ(PrimitiveTypeBitWidth(C128), 128);
  EXPECT_EQ(PrimitiveTypeByteSize(S4), 1);
  EXPECT_TRUE(IsSmallFloatType(F4E2M1FN));
  EXPECT_FALSE(IsSmallFloatType(BF16));
  EXPECT_FALSE(IsIntegralType(PRED));
  EXPECT_EQ(ComplexComponentType(C64), F32);
  EXPECT_EQ(ComplexTypeOf(F64), C128);
  EXPECT_EQ(ComplexTypeOf(F16), PRIMITIVE_TYPE_INVALID);
}

}  // namespace
}  // namespace hilo
