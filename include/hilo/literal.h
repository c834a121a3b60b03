// Literal: an array (or tuple) of values held by the host.
//
// Elements are stored densely in row-major order of their logical index, regardless of the shape's layout: layouts are
// applied when bytes move to or from a device (LiteralToBytes, LiteralFromBytes). PRED is one byte, 0 or 1; types below
// 8 bits take one byte each, signed ones sign-extended. An array with dynamic dimensions is stored at its bounds; the
// elements whose index is below its sizes are valid, the rest is padding of any value.
#ifndef HILO_LITERAL_H_
#define HILO_LITERAL_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/export.h"
#include "hilo/primitive_type.h"
#include "hilo/shape.h"

namespace hilo {

class HILO_EXPORT Literal {
 public:
  Literal() = default;  // of invalid shape
  Literal(Literal&&) = default;
  Literal& operator=(Literal&&) = default;
  Literal(const Literal&) = delete;
  Literal& operator=(const Literal&) = delete;

  // Zeros of `shape` (memory that the system hands out on first touch, so big literals are cheap until filled). Tokens
  // and opaque values hold no data. Errors: InvalidArgument for an invalid shape, ResourceExhausted if memory is short.
  static absl::StatusOr<Literal> Create(const Shape& shape);
  static Literal MakeTuple(std::vector<Literal> elements);
  Literal Clone() const;  // an empty Literal if memory is short

  const Shape& shape() const { return shape_; }
  int64_t element_count() const { return ShapeUtil::ElementsIn(shape_); }

  // Raw bytes of an array: element_count() * PrimitiveTypeByteSize.
  absl::Span<const uint8_t> untyped_data() const { return {data_.get(), static_cast<size_t>(size_)}; }
  absl::Span<uint8_t> untyped_data() { return {data_.get(), static_cast<size_t>(size_)}; }
  // Unchecked: T must be NativeType<shape().element_type()>, here and below, and indices must be within the shape.
  template <typename T>
  absl::Span<const T> data() const {
    return absl::Span<const T>(reinterpret_cast<const T*>(data_.get()), static_cast<size_t>(element_count()));
  }
  template <typename T>
  absl::Span<T> data() {
    return {reinterpret_cast<T*>(data_.get()), static_cast<size_t>(element_count())};
  }
  template <typename T>
  T Get(absl::Span<const int64_t> index) const {
    return data<T>()[LinearIndex(index)];
  }
  template <typename T>
  void Set(absl::Span<const int64_t> index, T value) {
    data<T>()[LinearIndex(index)] = value;
  }
  template <typename T>
  T GetFirstElement() const {
    return data<T>()[0];
  }
  // Row-major linear index of `index`.
  int64_t LinearIndex(absl::Span<const int64_t> index) const;

  // Any array type, converted: for integers and PRED; the value is clipped to int64.
  int64_t GetAsInt64(int64_t linear) const;
  // Any real type; the real part of complex ones.
  double GetAsDouble(int64_t linear) const;

  // Arrays. The number of valid elements along dimension `d`: the bound, unless another has been set. Setting one
  // makes the dimension dynamic; sizes outside [0, bound] are kept as they are, and are treated as clamped.
  int64_t GetDynamicSize(int64_t d) const { return dynamic_sizes_.empty() ? shape_.dimensions(d) : dynamic_sizes_[d]; }
  void SetDynamicSize(int64_t d, int64_t size);
  // The sizes of all dimensions, each in [0, bound].
  std::vector<int64_t> ActualDimensions() const;
  // The valid elements, as an array without dynamic dimensions (also in the elements of a tuple).
  absl::StatusOr<Literal> ToStatic() const;
  // The array at the bounds of `bounded`, its sizes those of this one; the padding is zero.
  // Errors: InvalidArgument unless each size is `bounded`'s or, in a dynamic dimension, less.
  absl::StatusOr<Literal> ToBoundedDynamic(const Shape& bounded) const;

  // Tuples.
  int64_t tuple_size() const { return static_cast<int64_t>(elements_.size()); }
  const Literal& element(int64_t i) const { return elements_[i]; }
  Literal& element(int64_t i) { return elements_[i]; }
  const Literal& at(const ShapeIndex& index) const;
  // Moves the elements out of a tuple.
  std::vector<Literal> DecomposeTuple() &&;

  // Same bits, sizes and compatible shape (NaNs with equal bits are equal).
  bool operator==(const Literal& other) const;
  size_t Hash() const;

  // "f32[2,2] { { 1, 2 }, { 3, 4 } }", "f32[<=5](2) {1, 2}" with the sizes if some are dynamic: HLO constant text with
  // (or without) the shape in front. Floats are the shortest text that reads back to the same bits; NaNs with a payload
  // are nan(0x...). Elements beyond `max_elements` are elided as "{...}" (-1: never).
  std::string ToString(bool with_shape = true, int64_t max_elements = -1) const;

  // Conversion with the rules of HLO's convert (saturating float to integer, round to nearest even).
  absl::StatusOr<Literal> Convert(PrimitiveType type) const;
  // The same elements under other dimensions (as many elements).
  absl::StatusOr<Literal> Reshape(absl::Span<const int64_t> dimensions) const;

  // Allows changing the layout in the shape; the elements stay.
  Shape* mutable_shape_do_not_resize() { return &shape_; }

 private:
  Shape shape_;
  struct Free {
    void operator()(uint8_t* data) const { std::free(data); }
  };
  std::unique_ptr<uint8_t[], Free> data_;
  int64_t size_ = 0;
  std::vector<int64_t> dynamic_sizes_;  // empty: all at their bounds
  std::vector<Literal> elements_;
};

// XLA's LiteralUtil: literals from C++ values, for small things and tests.
struct HILO_EXPORT LiteralUtil {
  template <typename T>
  static Literal CreateR0(T value);
  template <typename T>
  static Literal CreateR1(absl::Span<const T> values);
  template <typename T>
  static Literal CreateR1(std::initializer_list<T> values) {
    return CreateR1<T>(absl::Span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Literal CreateR2(std::initializer_list<std::initializer_list<T>> values);
  template <typename T>
  static Literal CreateFromArray(absl::Span<const T> values, absl::Span<const int64_t> dimensions);
  static Literal Zero(PrimitiveType type);
  static Literal One(PrimitiveType type);
  // Lowest / highest value: infinities for floats that have them.
  static Literal MinValue(PrimitiveType type);
  static Literal MaxValue(PrimitiveType type);
  // `value` rounded to `type`.
  static Literal FromDouble(PrimitiveType type, double value);
};

// Parses the element text of a constant ("{ { 1, 2 }, ... }", "5", "(1, 2)", tuples) of the given shape; comments
// allowed. For shapes with dynamic dimensions, "(3,2)" in front of the elements gives the sizes along each
// dimension. Errors: InvalidArgument with the offset of the offending text; a value out of the type's range; "{...}" is
// an error that says so.
HILO_EXPORT absl::StatusOr<Literal> ParseLiteral(absl::string_view text, const Shape& shape);
// Parses "f32[2]{0} {1, 2}": shape, then elements.
HILO_EXPORT absl::StatusOr<Literal> ParseLiteral(absl::string_view text);

// The bytes of an array under `layout_shape`'s layout and padding, and back. Sizes as
// ShapeUtil::ByteSizeOf(layout_shape), which must be valid; the literal must have its dimensions and element type.
// Reading makes PRED 0 or 1 and drops the unused bits of types of fewer than 8 bits. Sizes of dynamic dimensions are
// after the elements (ShapeUtil::DynamicSizesOffset); those read are clamped to [0, bound]. Errors:
// ResourceExhausted if memory is short.
HILO_EXPORT void LiteralToBytes(const Literal& literal, const Shape& layout_shape, uint8_t* out);
HILO_EXPORT absl::StatusOr<Literal> LiteralFromBytes(const uint8_t* bytes, const Shape& layout_shape);

// Comparison, of sizes first and then of the valid elements. A mismatch is an InvalidArgument status that names
// the first and the worst element: index, expected, actual, difference in ulps. An element passes if any of the given
// tolerances admits it; with none, bits must be equal (-0 is not 0), except for NaNs. Complex numbers pass by parts.
// Integers and PRED must be equal.
struct ErrorSpec {
  double absolute = 0;
  double relative = 0;
  int64_t ulps = 0;  // units in the last place of the expected value's type
  bool nans_are_equal = true;
};
HILO_EXPORT absl::Status CompareLiterals(const Literal& expected, const Literal& actual, const ErrorSpec& spec);
// Largest distance in ulps over float elements; 0 if all are equal or both NaN, int64 max if only one is NaN, if
// integers or PRED differ, or if shapes do. For reports.
HILO_EXPORT int64_t MaxUlpDistance(const Literal& expected, const Literal& actual);

// ---- templates ----
template <typename T>
Literal LiteralUtil::CreateFromArray(absl::Span<const T> values, absl::Span<const int64_t> dimensions) {
  auto literal = Literal::Create(ShapeUtil::MakeShape(NativeToPrimitiveType<T>(), dimensions));
  if (!literal.ok()) return Literal();
  auto out = literal->template data<T>();
  for (size_t i = 0; i < values.size() && i < out.size(); ++i) out[i] = values[i];
  return *std::move(literal);
}
template <typename T>
Literal LiteralUtil::CreateR0(T value) {
  return CreateFromArray<T>(absl::Span<const T>(&value, 1), {});
}
template <typename T>
Literal LiteralUtil::CreateR1(absl::Span<const T> values) {
  return CreateFromArray<T>(values, {static_cast<int64_t>(values.size())});
}
template <typename T>
Literal LiteralUtil::CreateR2(std::initializer_list<std::initializer_list<T>> values) {
  const int64_t columns = values.size() == 0 ? 0 : static_cast<int64_t>(values.begin()->size());
  auto literal =
      Literal::Create(ShapeUtil::MakeShape(NativeToPrimitiveType<T>(), {static_cast<int64_t>(values.size()), columns}));
  if (!literal.ok()) return Literal();
  auto out = literal->template data<T>();
  size_t i = 0;
  for (const auto& row : values) {
    for (const T& value : row) out[i++] = value;
  }
  return *std::move(literal);
}

}  // namespace hilo

#endif  // HILO_LITERAL_H_
