// Copies arrays between memory in which they lie in different ways.
#ifndef HILO_PJRT_STRIDED_COPY_H_
#define HILO_PJRT_STRIDED_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/abi.h"
#include "shape/shape.h"

namespace hilo::pjrt {

// The distance in bytes between neighbours along each dimension of an array in the layout of `shape`.
std::vector<int64_t> DenseByteStrides(const Shape& shape);

// Whether an array of `shape`'s dimensions with these strides lies as `shape` says.
bool IsDense(const Shape& shape, absl::Span<const int64_t> byte_strides);

// Copies elements of `width` bytes from (source, source_strides) to (target, target_strides). Strides are in bytes and
// may be zero or negative in the source; the target's elements do not overlap.
void StridedCopy(absl::Span<const int64_t> dimensions, int width, const void* source,
                 absl::Span<const int64_t> source_strides, void* target, absl::Span<const int64_t> target_strides);

// `shape` in the layout that the framework asks for; null: row-major. Errors: InvalidArgument for what is no order of
// the dimensions; Unimplemented for tiles, and for strides with gaps.
absl::StatusOr<Shape> ShapeWithLayout(Shape shape, const PJRT_Buffer_MemoryLayout* layout);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_STRIDED_COPY_H_
