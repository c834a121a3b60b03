// Layout: the order of an array in memory. Shape: element type, dimension sizes and layout of an array; or a tuple of
// shapes; or a token, opaque or buffer.
#ifndef HILO_SHAPE_H_
#define HILO_SHAPE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/export.h"
#include "hilo/primitive_type.h"

namespace hilo {

// One level of tiling as in HLO text "T(8,128)": sizes, most major first.
struct Tile {
  // Written "*": the dimension is merged with the next more minor one.
  static constexpr int64_t kCombineDimension = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> dimensions;
  bool operator==(const Tile&) const = default;
};

// The order of dimensions in memory, with the optional padding of the specification and the notes that XLA's dumps
// carry. `minor_to_major` is a permutation of 0..rank-1, fastest-varying dimension first; the default of new shapes
// is {rank-1, ..., 1, 0} (row-major).
struct HILO_EXPORT Layout {
  std::vector<int64_t> minor_to_major;
  // Size to which each dimension is padded at its high end; empty: no padding. (specification: Padding)
  std::vector<int64_t> padded_dimensions;
  // The value of padding when a padded buffer is written; the specification only uses 0.
  double padding_value = 0;
  std::vector<Tile> tiles;           // stored and printed; memory is untiled
  int64_t memory_space = 0;          // S(n)
  int64_t element_size_in_bits = 0;  // E(n); 0: the type's own

  Layout() = default;
  explicit Layout(std::vector<int64_t> order) : minor_to_major(std::move(order)) {}
  bool operator==(const Layout&) const = default;
  // "{1,0:T(8,128)S(1)}"; padding, which XLA's text lacks, is written pad(3,5), or pad(3,5:1.5) with a value.
  std::string ToString() const;
};

// Functions on layouts (XLA's LayoutUtil).
struct HILO_EXPORT LayoutUtil {
  static Layout MakeLayout(absl::Span<const int64_t> minor_to_major);
  // {rank-1, ..., 0}.
  static Layout MakeDescendingLayout(int64_t rank);
  static Layout MakeAscendingLayout(int64_t rank);
  // True for the default order without padding or tiles.
  static bool IsDefault(const Layout& layout);
  static bool IsMonotonicWithDim0Major(const Layout& layout);  // {rank-1..0}
  static bool IsMonotonicWithDim0Minor(const Layout& layout);  // {0..rank-1}
  // k-th dimension from the most major (minor) end.
  static int64_t Major(const Layout& layout, int64_t k);
  static int64_t Minor(const Layout& layout, int64_t k);
  // Errors: InvalidArgument unless minor_to_major is a permutation of 0..rank-1 and padding covers `dimensions`.
  static absl::Status Validate(const Layout& layout, absl::Span<const int64_t> dimensions);
};

// Path to a leaf of a nested tuple: {} is the shape itself, {1, 0} the first element of its second element.
using ShapeIndex = std::vector<int64_t>;

class HILO_EXPORT Shape {
 public:
  Shape() = default;  // invalid
  // An array without layout; `dynamic` is empty or one flag per dimension (its size is then an upper bound).
  Shape(PrimitiveType type, absl::Span<const int64_t> dimensions, std::vector<bool> dynamic = {});
  explicit Shape(std::vector<Shape> tuple_shapes);
  explicit Shape(PrimitiveType type) : type_(type) {}

  PrimitiveType element_type() const { return type_; }
  void set_element_type(PrimitiveType type) { type_ = type; }
  bool IsArray() const { return IsArrayType(type_); }
  bool IsTuple() const { return type_ == TUPLE; }
  bool IsToken() const { return type_ == TOKEN; }
  bool IsScalar() const { return IsArray() && dimensions_.empty(); }

  // Arrays. Sizes in ascending order of dimension number.
  int64_t rank() const { return static_cast<int64_t>(dimensions_.size()); }
  absl::Span<const int64_t> dimensions() const { return dimensions_; }
  int64_t dimensions(int64_t i) const { return dimensions_[i]; }
  void set_dimensions(int64_t i, int64_t size) { dimensions_[i] = size; }
  bool is_dynamic_dimension(int64_t i) const { return !dynamic_.empty() && dynamic_[i]; }
  void set_dynamic_dimension(int64_t i, bool dynamic);
  bool is_static() const;  // no dynamic dimension here or in a tuple element

  bool has_layout() const { return layout_.has_value(); }
  const Layout& layout() const { return *layout_; }
  Layout* mutable_layout();  // adds the default one if there is none
  void set_layout(Layout layout) { layout_ = std::move(layout); }
  void clear_layout() { layout_.reset(); }

  // Tuples.
  int64_t tuple_shapes_size() const { return static_cast<int64_t>(tuple_shapes_.size()); }
  const std::vector<Shape>& tuple_shapes() const { return tuple_shapes_; }
  const Shape& tuple_shapes(int64_t i) const { return tuple_shapes_[i]; }
  Shape* mutable_tuple_shapes(int64_t i) { return &tuple_shapes_[i]; }
  void add_tuple_shape(Shape shape) { tuple_shapes_.push_back(std::move(shape)); }

  // "f32[2,3]{1,0}", "(s32[], f32[<=8])"; layouts only if requested.
  std::string ToString(bool print_layout = false) const;

  // Equal in all parts, layouts included (an absent layout differs from any).
  bool operator==(const Shape&) const = default;

 private:
  PrimitiveType type_ = PRIMITIVE_TYPE_INVALID;
  std::vector<int64_t> dimensions_;
  std::vector<bool> dynamic_;
  std::optional<Layout> layout_;
  std::vector<Shape> tuple_shapes_;
};

// Parameters and result of a computation.
struct HILO_EXPORT ProgramShape {
  std::vector<Shape> parameters;
  std::vector<std::string> parameter_names;
  Shape result;
  // "(x: f32[2], y: s32[]) -> f32[2]".
  std::string ToString() const;
};

// Functions on shapes (XLA's ShapeUtil).
struct HILO_EXPORT ShapeUtil {
  // An array with the default layout. Sizes must be valid (see Validate); builders check.
  static Shape MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions);
  static Shape MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions, std::vector<bool> dynamic);
  static Shape MakeShapeWithDenseLayout(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                        absl::Span<const int64_t> minor_to_major);
  static Shape MakeScalarShape(PrimitiveType type) { return MakeShape(type, {}); }
  static Shape MakeTupleShape(absl::Span<const Shape> shapes);
  static Shape MakeNil() { return Shape(std::vector<Shape>{}); }
  static Shape MakeTokenShape() { return Shape(TOKEN); }
  static Shape MakeOpaqueShape() { return Shape(OPAQUE_TYPE); }
  // A shape of `shape`'s dimensions and layout with another element type.
  static Shape ChangeElementType(const Shape& shape, PrimitiveType type);

  // Elements of an array (product of sizes; bounds where dynamic); 1 for scalars. A validated shape cannot overflow.
  static int64_t ElementsIn(const Shape& shape);
  // Bytes of an array in memory, padding included; 0 for tokens; the sum over the leaves of a tuple. An array with
  // dynamic dimensions is stored at its bounds, followed, at DynamicSizesOffset, by the sizes of all its
  // dimensions as s32.
  static int64_t ByteSizeOf(const Shape& shape);
  // The bytes of an array's elements and padding alone, and those rounded up to a multiple of 4.
  static int64_t ElementBytesOf(const Shape& shape);
  static int64_t DynamicSizesOffset(const Shape& shape);
  // The same shape with every dynamic dimension at its bound.
  static Shape MakeStaticShape(const Shape& shape);
  static bool IsZeroElementArray(const Shape& shape);
  static int64_t TrueRank(const Shape& shape);  // dimensions of size > 1
  // Takes negative numbers: -1 is the last dimension. Errors: InvalidArgument if out of range.
  static absl::StatusOr<int64_t> GetDimension(const Shape& shape, int64_t dimension);
  static absl::StatusOr<int64_t> GetDimensionNumber(const Shape& shape, int64_t dimension);

  static bool SameDimensions(const Shape& a, const Shape& b);
  static bool SameElementType(const Shape& a, const Shape& b) { return a.element_type() == b.element_type(); }
  // Equal except for layouts and for dynamic flags of dimensions.
  static bool Compatible(const Shape& a, const Shape& b);
  // Compatible except for the element type.
  static bool CompatibleIgnoringElementType(const Shape& a, const Shape& b);
  // Equal, layouts included; an absent layout equals the default.
  static bool Equal(const Shape& a, const Shape& b);

  // Errors: InvalidArgument on negative sizes, a byte count beyond 2^62, a bad layout, nesting deeper than
  // kMaxTupleDepth, dimensions on a type that has none.
  static absl::Status Validate(const Shape& shape);
  // As Validate, and every array has a layout.
  static absl::Status ValidateWithLayout(const Shape& shape);
  static constexpr int kMaxTupleDepth = 64;

  // Gives every array in `shape` the default layout (or only those without one).
  static void SetToDefaultLayout(Shape* shape);
  static void AddMissingLayouts(Shape* shape);
  static void ClearLayouts(Shape* shape);

  // The subshape at `index`; `index` must be valid.
  static const Shape& GetSubshape(const Shape& shape, const ShapeIndex& index);
  static Shape* GetMutableSubshape(Shape* shape, const ShapeIndex& index);
  static bool IndexIsValid(const Shape& shape, const ShapeIndex& index);
  // All leaves (arrays, tokens ...; not tuples) depth first, with their indices.
  struct Leaf {
    ShapeIndex index;
    const Shape* shape;
  };
  static std::vector<Leaf> Leaves(const Shape& shape);

  // Row-major strides in elements for `dimensions`.
  static std::vector<int64_t> RowMajorStrides(absl::Span<const int64_t> dimensions);
  // Deletes / prepends / inserts dimensions, keeping the relative order in the layout default.
  static Shape DeleteDimensions(absl::Span<const int64_t> dimensions, const Shape& shape);
};

// Parses "f32[2,3]{1,0}", "(s32[], (f32[<=8]))", "token[]", tiles, spaces and comments included; the whole of `text`
// must be used. Errors: InvalidArgument with the offset in `text`.
HILO_EXPORT absl::StatusOr<Shape> ParseShape(absl::string_view text);
// Parses a shape at the start of *text and removes it; for parsers.
HILO_EXPORT absl::StatusOr<Shape> ConsumeShape(absl::string_view* text);

// Multi-dimensional indices and linear indices under a shape's layout, padding included (specification: Indexing).
struct HILO_EXPORT IndexUtil {
  static int64_t MultidimensionalIndexToLinearIndex(const Shape& shape, absl::Span<const int64_t> index);
  static std::vector<int64_t> LinearIndexToMultidimensionalIndex(const Shape& shape, int64_t linear);
  // Advances `index` to the next one in row-major order below `limits`; false after the last.
  static bool BumpIndices(absl::Span<const int64_t> limits, absl::Span<int64_t> index);
};

}  // namespace hilo

#endif  // HILO_SHAPE_H_
