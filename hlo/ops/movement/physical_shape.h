// Arrays in other layouts as row-major arrays of permuted dimensions.
#ifndef HILO_HLO_OPS_MOVEMENT_PHYSICAL_SHAPE_H_
#define HILO_HLO_OPS_MOVEMENT_PHYSICAL_SHAPE_H_

#include <algorithm>
#include <vector>

#include "hilo/shape.h"

namespace hilo {

// Dimensions in memory order, most major first.
inline std::vector<int64_t> MajorToMinor(const Layout& layout) {
  return {layout.minor_to_major.rbegin(), layout.minor_to_major.rend()};
}

inline bool IsRowMajor(const Shape& shape) {
  if (shape.IsTuple()) return std::all_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), IsRowMajor);
  return !shape.IsArray() || !shape.has_layout() || LayoutUtil::IsMonotonicWithDim0Major(shape.layout());
}

// The shape whose row-major layout is the memory of `shape`: f32[3,4] for f32[4,3]{0,1}. Tuples by element.
inline Shape PhysicalShape(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(PhysicalShape(element));
    return ShapeUtil::MakeTupleShape(elements);
  }
  if (IsRowMajor(shape)) return shape;
  std::vector<int64_t> sizes;
  for (int64_t dimension : MajorToMinor(shape.layout())) sizes.push_back(shape.dimensions(dimension));
  return ShapeUtil::MakeShape(shape.element_type(), sizes);
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_MOVEMENT_PHYSICAL_SHAPE_H_
