// How arrays lie in memory: orders, padding, linear indices. The figures are those of the
// specification's [2x3] array
//   a b c
//   d e f
#include <algorithm>
#include <numeric>
#include <string>

#include "gtest/gtest.h"
#include "hilo/literal.h"

namespace hilo {
namespace {

Shape Abcdef(std::vector<int64_t> minor_to_major, std::vector<int64_t> padded = {}) {
  Shape shape = ShapeUtil::MakeShapeWithDenseLayout(U8, {2, 3}, minor_to_major);
  shape.mutable_layout()->padded_dimensions = std::move(padded);
  return shape;
}

// Linear memory with letters; '0' is the padding value 0.
std::string Memory(const Shape& shape) {
  const Literal literal = LiteralUtil::CreateR2<uint8_t>({{'a', 'b', 'c'}, {'d', 'e', 'f'}});
  std::string bytes(ShapeUtil::ByteSizeOf(shape), '?');
  LiteralToBytes(literal, shape, reinterpret_cast<uint8_t*>(bytes.data()));
  for (char& c : bytes) c = c == '\0' ? '0' : c;
  return bytes;
}

TEST(Layout, LinearMemoryFollowsMinorToMajor) {
  EXPECT_EQ(Memory(Abcdef({0, 1})), "adbecf");  // first value of minor_to_major changes fastest
  EXPECT_EQ(Memory(Abcdef({1, 0})), "abcdef");
}

TEST(Layout, PaddingIsAddedAtTheHighEnd) {
  EXPECT_EQ(Memory(Abcdef({0, 1}, {3, 5})), "ad0be0cf0000000");
  EXPECT_EQ(Memory(Abcdef({1, 0}, {3, 5})), "abc00def0000000");
  EXPECT_EQ(Memory(Abcdef({1, 0}, {2, 3})), "abcdef");
}

TEST(Layout, PaddedArray_HasTheStridesOfTheLargerOne) {
  const Literal large =
      LiteralUtil::CreateR2<uint8_t>({{'a', 'b', 'c', '0', '0'}, {'d', 'e', 'f', '0', '0'}, {'0', '0', '0', '0', '0'}});
  for (const std::vector<int64_t>& order : {std::vector<int64_t>{0, 1}, {1, 0}}) {
    std::string bytes(15, '?');
    LiteralToBytes(large, ShapeUtil::MakeShapeWithDenseLayout(U8, {3, 5}, order),
                   reinterpret_cast<uint8_t*>(bytes.data()));
    EXPECT_EQ(Memory(Abcdef(order, {3, 5})), bytes);
  }
}

TEST(Layout, PaddingValueIsWritten) {
  Shape shape = Abcdef({1, 0}, {3, 4});
  shape.mutable_layout()->padding_value = 'z';
  EXPECT_EQ(Memory(shape), "abczdefzzzzz");
}

TEST(Layout, OrderNames) {
  EXPECT_TRUE(LayoutUtil::IsMonotonicWithDim0Minor(Layout({0, 1})));
  EXPECT_TRUE(LayoutUtil::IsMonotonicWithDim0Major(Layout({1, 0})));
  EXPECT_FALSE(LayoutUtil::IsMonotonicWithDim0Major(Layout({1, 2, 0})));
  EXPECT_EQ(LayoutUtil::MakeDescendingLayout(3), Layout({2, 1, 0}));
  EXPECT_EQ(LayoutUtil::MakeAscendingLayout(3), Layout({0, 1, 2}));
  EXPECT_EQ(LayoutUtil::Minor(Layout({1, 2, 0}), 0), 1);
  EXPECT_EQ(LayoutUtil::Major(Layout({1, 2, 0}), 0), 0);
  EXPECT_TRUE(LayoutUtil::IsDefault(Layout({1, 0})));
  Layout padded({1, 0});
  padded.padded_dimensions = {2, 3};
  EXPECT_FALSE(LayoutUtil::IsDefault(padded));
}

TEST(Layout, Validation) {
  EXPECT_TRUE(LayoutUtil::Validate(Layout({1, 0}), {2, 3}).ok());
  EXPECT_FALSE(LayoutUtil::Validate(Layout(), {2, 3}).ok());  // minor_to_major is required
  EXPECT_FALSE(LayoutUtil::Validate(Layout({0}), {2, 3}).ok());
  EXPECT_FALSE(LayoutUtil::Validate(Layout({0, 0}), {2, 3}).ok());
  EXPECT_FALSE(LayoutUtil::Validate(Layout({0, 2}), {2, 3}).ok());
  EXPECT_FALSE(LayoutUtil::Validate(Layout({0, -1}), {2, 3}).ok());
  Layout padded({1, 0});
  padded.padded_dimensions = {3};
  EXPECT_FALSE(LayoutUtil::Validate(padded, {2, 3}).ok());
  padded.padded_dimensions = {3, 2};
  EXPECT_FALSE(LayoutUtil::Validate(padded, {2, 3}).ok());
  padded.padded_dimensions = {3, 3};
  EXPECT_TRUE(LayoutUtil::Validate(padded, {2, 3}).ok());
}

TEST(IndexUtil, TablesOfTheSpecification) {
  const struct {
    Shape shape;
    std::vector<int64_t> linear;  // of a to f
  } cases[] = {{Abcdef({0, 1}), {0, 2, 4, 1, 3, 5}},
               {Abcdef({1, 0}), {0, 1, 2, 3, 4, 5}},
               {Abcdef({0, 1}, {3, 5}), {0, 3, 6, 1, 4, 7}},
               {Abcdef({1, 0}, {3, 5}), {0, 1, 2, 5, 6, 7}}};
  for (const auto& c : cases) {
    for (int64_t i = 0; i < 6; ++i) {
      const std::vector<int64_t> index = {i / 3, i % 3};
      EXPECT_EQ(IndexUtil::MultidimensionalIndexToLinearIndex(c.shape, index), c.linear[i]);
      EXPECT_EQ(IndexUtil::LinearIndexToMultidimensionalIndex(c.shape, c.linear[i]), index);
    }
  }
  const std::vector<int64_t> index = {1, 0, 2};
  const auto linear = [&](std::vector<int64_t> order) {
    return IndexUtil::MultidimensionalIndexToLinearIndex(ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3, 4}, order),
                                                         index);
  };
  EXPECT_EQ(linear({2, 1, 0}), 14);
  EXPECT_EQ(linear({0, 1, 2}), 13);
  EXPECT_EQ(linear({1, 2, 0}), 18);
  EXPECT_EQ(IndexUtil::MultidimensionalIndexToLinearIndex(ShapeUtil::MakeScalarShape(F32), {}), 0);
}

// Conversions are inverse, and bytes agree with them, for every order of four dimensions, padded
// and not.
TEST(IndexUtil, InverseOnAllElementsOfAnyLayout) {
  const std::vector<int64_t> sizes = {2, 3, 1, 4};
  Shape dense = ShapeUtil::MakeShape(S32, sizes);
  Literal literal = *Literal::Create(dense);
  const auto data = literal.data<int32_t>();
  std::iota(data.begin(), data.end(), 1);
  std::vector<int64_t> order = {0, 1, 2, 3};
  do {
    for (const bool pad : {false, true}) {
      Shape shape = ShapeUtil::MakeShapeWithDenseLayout(S32, sizes, order);
      if (pad) shape.mutable_layout()->padded_dimensions = {3, 3, 2, 5};
      std::vector<int32_t> memory(ShapeUtil::ByteSizeOf(shape) / 4, -1);
      uint8_t* bytes = reinterpret_cast<uint8_t*>(memory.data());
      LiteralToBytes(literal, shape, bytes);
      std::vector<int64_t> index(4, 0);
      int64_t sum = 0;
      do {
        const int64_t linear = IndexUtil::MultidimensionalIndexToLinearIndex(shape, index);
        ASSERT_EQ(IndexUtil::LinearIndexToMultidimensionalIndex(shape, linear), index);
        ASSERT_EQ(memory[linear], literal.Get<int32_t>(index));
      } while (IndexUtil::BumpIndices(sizes, absl::MakeSpan(index)));
      for (int32_t value : memory) sum += value;
      EXPECT_EQ(sum, 24 * 25 / 2);  // all else is padding, 0
      EXPECT_EQ(*LiteralFromBytes(bytes, shape), literal);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(LiteralBytes, EveryElementWidthTransposes) {
  for (int i = 1; i < kPrimitiveTypeCount; ++i) {
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    if (!IsArrayType(type)) continue;
    const Literal literal = *LiteralUtil::CreateR2<int32_t>({{1, 0, 1}, {0, 1, 1}}).Convert(type);
    const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(type, {2, 3}, {0, 1});
    std::vector<uint8_t> bytes(ShapeUtil::ByteSizeOf(shape));
    LiteralToBytes(literal, shape, bytes.data());
    EXPECT_EQ(*LiteralFromBytes(bytes.data(), shape), literal) << PrimitiveTypeName(type);
  }
}

TEST(LiteralBytes, ForeignPatternsOfNarrowTypesAreMadeCanonical) {
  const uint8_t bytes[] = {0xff, 0x1f, 0x02, 0x00};
  EXPECT_EQ(LiteralFromBytes(bytes, ShapeUtil::MakeShape(PRED, {4}))->ToString(), "pred[4] {1, 1, 1, 0}");
  EXPECT_EQ(LiteralFromBytes(bytes, ShapeUtil::MakeShape(S4, {4}))->ToString(), "s4[4] {-1, -1, 2, 0}");
  EXPECT_EQ(LiteralFromBytes(bytes, ShapeUtil::MakeShape(U2, {4}))->ToString(), "u2[4] {3, 3, 2, 0}");
}

TEST(LiteralBytes, EmptyArrays_ReadPaddingOnly) {
  Shape shape = ShapeUtil::MakeShape(U8, {0, 2});
  shape.mutable_layout()->padded_dimensions = {1, 3};
  uint8_t bytes[3] = {7, 7, 7};
  LiteralToBytes(*Literal::Create(ShapeUtil::MakeShape(U8, {0, 2})), shape, bytes);
  EXPECT_EQ(bytes[0] + bytes[1] + bytes[2], 0);
}

}  // namespace
}  // namespace hilo
