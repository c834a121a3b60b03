#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "hilo/shape.h"

namespace hilo {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 62;

// Sizes of unvalidated shapes saturate instead of wrapping.
int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

// Sizes in memory: the padded ones if there is padding.
absl::Span<const int64_t> MemoryDimensions(const Shape& shape) {
  if (shape.has_layout() && !shape.layout().padded_dimensions.empty()) {
    return shape.layout().padded_dimensions;
  }
  return shape.dimensions();
}

absl::Status ValidateArray(const Shape& shape) {
  // Zero sizes count as one: strides must not overflow either, whatever the order of the
  // dimensions.
  int64_t bytes = PrimitiveTypeByteSize(shape.element_type());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape: expected sizes of at least 0, got ", shape.dimensions(d), " in dimension ", d));
    }
    bytes = SaturatingMultiply(bytes, std::max<int64_t>(1, shape.dimensions(d)));
  }
  if (bytes > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat("shape: ", shape.ToString(), " has more than 2^62 bytes"));
  }
  if (!shape.has_layout()) return absl::OkStatus();
  if (absl::Status status = LayoutUtil::Validate(shape.layout(), shape.dimensions()); !status.ok()) {
    return status;
  }
  bytes = PrimitiveTypeByteSize(shape.element_type());
  for (int64_t size : shape.layout().padded_dimensions) {
    bytes = SaturatingMultiply(bytes, std::max<int64_t>(1, size));
  }
  if (bytes > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape: ", shape.ToString(true), " has more than 2^62 bytes with its padding"));
  }
  return absl::OkStatus();
}

absl::Status ValidateImpl(const Shape& shape, bool with_layout, int depth) {
  if (shape.IsTuple()) {
    if (depth >= ShapeUtil::kMaxTupleDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape: tuples are nested deeper than ", ShapeUtil::kMaxTupleDepth, " levels"));
    }
    if (shape.rank() != 0 || shape.has_layout()) {
      return absl::InvalidArgumentError("shape: a tuple has no dimensions and no layout");
    }
    for (const Shape& element : shape.tuple_shapes()) {
      if (absl::Status status = ValidateImpl(element, with_layout, depth + 1); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  if (shape.tuple_shapes_size() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape: ", PrimitiveTypeName(shape.element_type()), " has no elements"));
  }
  if (shape.IsArray()) {
    if (with_layout && !shape.has_layout()) {
      return absl::InvalidArgumentError(absl::StrCat("shape: expected a layout on ", shape.ToString()));
    }
    return ValidateArray(shape);
  }
  if (shape.element_type() != TOKEN && shape.element_type() != OPAQUE_TYPE) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape: no values of type ", PrimitiveTypeName(shape.element_type()), " exist"));
  }
  if (shape.rank() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape: ", PrimitiveTypeName(shape.element_type()), " has no dimensions, got ", shape.rank()));
  }
  return absl::OkStatus();
}

// Calls f(a, b) on each pair of leaves; false as soon as f is, or when the tuples differ in form.
template <typename F>
bool AllLeafPairs(const Shape& a, const Shape& b, const F& f) {
  if (!a.IsTuple() || !b.IsTuple()) return a.IsTuple() == b.IsTuple() && f(a, b);
  if (a.tuple_shapes_size() != b.tuple_shapes_size()) return false;
  for (int64_t i = 0; i < a.tuple_shapes_size(); ++i) {
    if (!AllLeafPairs(a.tuple_shapes(i), b.tuple_shapes(i), f)) return false;
  }
  return true;
}

template <typename F>
void ForEachArray(Shape* shape, const F& f) {
  if (shape->IsArray()) f(shape);
  for (int64_t i = 0; i < shape->tuple_shapes_size(); ++i) {
    ForEachArray(shape->mutable_tuple_shapes(i), f);
  }
}

bool CompatibleLeaves(const Shape& a, const Shape& b) {
  return a.IsArray() == b.IsArray() && (a.IsArray() || a.element_type() == b.element_type()) &&
         ShapeUtil::SameDimensions(a, b);
}

void AppendLeaves(const Shape& shape, ShapeIndex* index, std::vector<ShapeUtil::Leaf>* leaves) {
  if (!shape.IsTuple()) {
    leaves->push_back({*index, &shape});
    return;
  }
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    index->push_back(i);
    AppendLeaves(shape.tuple_shapes(i), index, leaves);
    index->pop_back();
  }
}

}  // namespace

Shape ShapeUtil::MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  return MakeShape(type, dimensions, {});
}

Shape ShapeUtil::MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions, std::vector<bool> dynamic) {
  Shape shape(type, dimensions, std::move(dynamic));
  if (shape.IsArray()) shape.mutable_layout();
  return shape;
}

Shape ShapeUtil::MakeShapeWithDenseLayout(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                          absl::Span<const int64_t> minor_to_major) {
  Shape shape(type, dimensions);
  shape.set_layout(LayoutUtil::MakeLayout(minor_to_major));
  return shape;
}

Shape ShapeUtil::MakeTupleShape(absl::Span<const Shape> shapes) {
  return Shape(std::vector<Shape>(shapes.begin(), shapes.end()));
}

Shape ShapeUtil::ChangeElementType(const Shape& shape, PrimitiveType type) {
  Shape changed = shape;
  changed.set_element_type(type);
  return changed;
}

int64_t ShapeUtil::ElementsIn(const Shape& shape) {
  int64_t elements = 1;
  for (int64_t size : shape.dimensions()) {
    if (size == 0) return 0;
    elements = SaturatingMultiply(elements, size);
  }
  return elements;
}

int64_t ShapeUtil::ByteSizeOf(const Shape& shape) {
  if (shape.IsTuple()) {
    int64_t bytes = 0;
    for (const Shape& element : shape.tuple_shapes()) {
      bytes = SaturatingAdd(bytes, ByteSizeOf(element));
    }
    return bytes;
  }
  if (shape.is_static()) return ElementBytesOf(shape);
  return SaturatingAdd(DynamicSizesOffset(shape), SaturatingMultiply(shape.rank(), sizeof(int32_t)));
}

int64_t ShapeUtil::ElementBytesOf(const Shape& shape) {
  int64_t bytes = PrimitiveTypeByteSize(shape.element_type());
  for (int64_t size : MemoryDimensions(shape)) {
    if (size == 0) return 0;
    bytes = SaturatingMultiply(bytes, size);
  }
  return bytes;
}

int64_t ShapeUtil::DynamicSizesOffset(const Shape& shape) { return SaturatingAdd(ElementBytesOf(shape), 3) / 4 * 4; }

Shape ShapeUtil::MakeStaticShape(const Shape& shape) {
  Shape result = shape;
  ForEachArray(&result, [](Shape* array) {
    for (int64_t d = 0; d < array->rank(); ++d) {
      if (array->is_dynamic_dimension(d)) array->set_dynamic_dimension(d, false);
    }
  });
  return result;
}

bool ShapeUtil::IsZeroElementArray(const Shape& shape) { return shape.IsArray() && ElementsIn(shape) == 0; }

int64_t ShapeUtil::TrueRank(const Shape& shape) {
  return std::count_if(shape.dimensions().begin(), shape.dimensions().end(), [](int64_t size) { return size > 1; });
}

absl::StatusOr<int64_t> ShapeUtil::GetDimensionNumber(const Shape& shape, int64_t dimension) {
  if (dimension < -shape.rank() || dimension >= shape.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("expected a dimension number from ", -shape.rank(), " to ",
                                                   shape.rank() - 1, ", got ", dimension, " for ", shape.ToString()));
  }
  return dimension < 0 ? dimension + shape.rank() : dimension;
}

absl::StatusOr<int64_t> ShapeUtil::GetDimension(const Shape& shape, int64_t dimension) {
  absl::StatusOr<int64_t> number = GetDimensionNumber(shape, dimension);
  if (!number.ok()) return number;
  return shape.dimensions(*number);
}

bool ShapeUtil::SameDimensions(const Shape& a, const Shape& b) { return a.dimensions() == b.dimensions(); }

bool ShapeUtil::Compatible(const Shape& a, const Shape& b) {
  return AllLeafPairs(a, b, [](const Shape& x, const Shape& y) {
    return x.element_type() == y.element_type() && CompatibleLeaves(x, y);
  });
}

bool ShapeUtil::CompatibleIgnoringElementType(const Shape& a, const Shape& b) {
  return AllLeafPairs(a, b, CompatibleLeaves);
}

bool ShapeUtil::Equal(const Shape& a, const Shape& b) {
  return AllLeafPairs(a, b, [](const Shape& x, const Shape& y) {
    if (x.element_type() != y.element_type() || !CompatibleLeaves(x, y)) return false;
    if (!x.has_layout() && !y.has_layout()) return true;
    if (x.has_layout() && y.has_layout()) return x.layout() == y.layout();
    return (x.has_layout() ? x : y).layout() == LayoutUtil::MakeDescendingLayout(x.rank());
  });
}

absl::Status ShapeUtil::Validate(const Shape& shape) {
  if (absl::Status status = ValidateImpl(shape, /*with_layout=*/false, 0); !status.ok()) {
    return status;
  }
  if (shape.IsTuple() && ByteSizeOf(shape) > kMaxBytes) {
    return absl::InvalidArgumentError("shape: the tuple has more than 2^62 bytes");
  }
  return absl::OkStatus();
}

absl::Status ShapeUtil::ValidateWithLayout(const Shape& shape) {
  if (absl::Status status = Validate(shape); !status.ok()) return status;
  return ValidateImpl(shape, /*with_layout=*/true, 0);
}

void ShapeUtil::SetToDefaultLayout(Shape* shape) {
  ForEachArray(shape, [](Shape* array) { array->set_layout(LayoutUtil::MakeDescendingLayout(array->rank())); });
}

void ShapeUtil::AddMissingLayouts(Shape* shape) {
  ForEachArray(shape, [](Shape* array) { array->mutable_layout(); });
}

void ShapeUtil::ClearLayouts(Shape* shape) {
  ForEachArray(shape, [](Shape* array) { array->clear_layout(); });
}

const Shape& ShapeUtil::GetSubshape(const Shape& shape, const ShapeIndex& index) {
  const Shape* sub = &shape;
  for (int64_t i : index) sub = &sub->tuple_shapes(i);
  return *sub;
}

Shape* ShapeUtil::GetMutableSubshape(Shape* shape, const ShapeIndex& index) {
  for (int64_t i : index) shape = shape->mutable_tuple_shapes(i);
  return shape;
}

bool ShapeUtil::IndexIsValid(const Shape& shape, const ShapeIndex& index) {
  const Shape* sub = &shape;
  for (int64_t i : index) {
    if (!sub->IsTuple() || i < 0 || i >= sub->tuple_shapes_size()) return false;
    sub = &sub->tuple_shapes(i);
  }
  return true;
}

std::vector<ShapeUtil::Leaf> ShapeUtil::Leaves(const Shape& shape) {
  std::vector<Leaf> leaves;
  ShapeIndex index;
  AppendLeaves(shape, &index, &leaves);
  return leaves;
}

std::vector<int64_t> ShapeUtil::RowMajorStrides(absl::Span<const int64_t> dimensions) {
  std::vector<int64_t> strides(dimensions.size());
  int64_t stride = 1;
  for (int64_t d = static_cast<int64_t>(dimensions.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = SaturatingMultiply(stride, dimensions[d]);
  }
  return strides;
}

Shape ShapeUtil::DeleteDimensions(absl::Span<const int64_t> dimensions, const Shape& shape) {
  std::vector<int64_t> new_number(shape.rank(), 0);
  for (int64_t d : dimensions) new_number[d] = -1;
  std::vector<int64_t> sizes;
  std::vector<bool> dynamic;
  std::vector<int64_t> padded;
  const bool is_padded = shape.has_layout() && !shape.layout().padded_dimensions.empty();
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (new_number[d] < 0) continue;
    new_number[d] = static_cast<int64_t>(sizes.size());
    sizes.push_back(shape.dimensions(d));
    dynamic.push_back(shape.is_dynamic_dimension(d));
    if (is_padded) padded.push_back(shape.layout().padded_dimensions[d]);
  }
  Shape result(shape.element_type(), sizes, std::move(dynamic));
  if (shape.has_layout()) {
    Layout layout;
    layout.memory_space = shape.layout().memory_space;
    layout.element_size_in_bits = shape.layout().element_size_in_bits;
    layout.padded_dimensions = std::move(padded);
    layout.padding_value = shape.layout().padding_value;
    for (int64_t d : shape.layout().minor_to_major) {
      if (new_number[d] >= 0) layout.minor_to_major.push_back(new_number[d]);
    }
    result.set_layout(std::move(layout));
  }
  return result;
}

}  // namespace hilo
