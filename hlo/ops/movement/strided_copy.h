// Copies a block of elements between two arrays, each with separate strides. Private to
// hlo/ops.
#ifndef HILO_HLO_OPS_MOVEMENT_STRIDED_COPY_H_
#define HILO_HLO_OPS_MOVEMENT_STRIDED_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hilo/literal.h"

namespace hilo {

// Element `offset` + sum of index[d] * strides[d] of a literal's row-major data, for each index of
// a block. Strides may be zero or negative.
struct StridedWalk {
  int64_t offset = 0;
  std::vector<int64_t> strides;
  // All of an array in row-major order.
  static StridedWalk Over(const Shape& shape) { return {0, ShapeUtil::RowMajorStrides(shape.dimensions())}; }
};

// to[to_walk at i] = from[from_walk at i] for every index i below `sizes`. Both literals are arrays
// of one element type.
void StridedCopy(absl::Span<const int64_t> sizes, const Literal& from, const StridedWalk& from_walk, Literal* to,
                 const StridedWalk& to_walk);

// Every element of the array `array` = `scalar`, of the same type.
void FillWith(const Literal& scalar, Literal* array);

}  // namespace hilo

#endif  // HILO_HLO_OPS_MOVEMENT_STRIDED_COPY_H_
