// Copies arrays between memory with different strides.
#ifndef HILO_PJRT_STRIDED_COPY_H_
#define HILO_PJRT_STRIDED_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/shape.h"
#include "pjrt/abi.h"

namespace hilo::pjrt {

// The byte strides of an array in the layout of `shape`.
std::vector<int64_t> DenseByteStrides(const Shape& shape);

// Whether these strides of an array with `shape`'s dimensions are those of the layout of `shape`.
bool IsDense(const Shape& shape, absl::Span<const int64_t> byte_strides);

// Copies elements of `width` bytes from (source, source_strides) to (target, target_strides). Strides are in bytes and
// may be zero or negative in the source; the target's elements do not overlap.
void StridedCopy(absl::Span<const int64_t> dimensions, int width, const void* source,
                 absl::Span<const int64_t> source_strides, void* target, absl::Span<const int64_t> target_strides);

// `shape` in the layout that the framework requests; null: row-major. Errors: InvalidArgument if it is not an order of
// the dimensions; Unimplemented for tiles, and for strides with gaps.
absl::StatusOr<Shape> ShapeWithLayout(Shape shape, const PJRT_Buffer_MemoryLayout* layout);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_STRIDED_COPY_H_
