// A copy is a nest of loops. Dimensions are sorted so that the target is written in the order of its memory, neighbours
// that are contiguous in both are merged, and the innermost two are copied in tiles: a transposed source is
// then read a cache line at a time.
#include "pjrt/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::pjrt {
namespace {

struct Loop {
  int64_t count, source, target;  // steps in bytes
};

// A matrix of elements of a fixed width; the columns are the target's inner dimension.
template <typename Element>
void CopyMatrix(const Loop& rows, const Loop& columns, const char* source, char* target) {
  constexpr int64_t kTile = 32;
  for (int64_t row_tile = 0; row_tile < rows.count; row_tile += kTile) {
    const int64_t row_end = std::min(row_tile + kTile, rows.count);
    for (int64_t column_tile = 0; column_tile < columns.count; column_tile += kTile) {
      const int64_t column_end = std::min(column_tile + kTile, columns.count);
      for (int64_t r = row_tile; r < row_end; ++r) {
        for (int64_t c = column_tile; c < column_end; ++c) {
          std::memcpy(target + r * rows.target + c * columns.target, source + r * rows.source + c * columns.source,
                      sizeof(Element));
        }
      }
    }
  }
}

void CopyMatrix(int width, const Loop& rows, const Loop& columns, const char* source, char* target) {
  if (columns.source == width && columns.target == width) {
    for (int64_t r = 0; r < rows.count; ++r)
      std::memcpy(target + r * rows.target, source + r * rows.source, columns.count * width);
    return;
  }
  struct Bytes16 {
    char bytes[16];
  };
  switch (width) {
    case 1: return CopyMatrix<uint8_t>(rows, columns, source, target);
    case 2: return CopyMatrix<uint16_t>(rows, columns, source, target);
    case 4: return CopyMatrix<uint32_t>(rows, columns, source, target);
    case 8: return CopyMatrix<uint64_t>(rows, columns, source, target);
    default: return CopyMatrix<Bytes16>(rows, columns, source, target);
  }
}

}  // namespace

std::vector<int64_t> DenseByteStrides(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank());
  int64_t stride = PrimitiveTypeByteSize(shape.element_type());
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t dimension = shape.has_layout() ? shape.layout().minor_to_major[i] : shape.rank() - 1 - i;
    strides[dimension] = stride;
    stride *= std::max<int64_t>(shape.dimensions(dimension), 1);
  }
  return strides;
}

bool IsDense(const Shape& shape, absl::Span<const int64_t> byte_strides) {
  if (ShapeUtil::IsZeroElementArray(shape)) return true;
  const std::vector<int64_t> dense = DenseByteStrides(shape);
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape.dimensions(i) != 1 && byte_strides[i] != dense[i]) return false;
  }
  return true;
}

void StridedCopy(absl::Span<const int64_t> dimensions, int width, const void* source,
                 absl::Span<const int64_t> source_strides, void* target, absl::Span<const int64_t> target_strides) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] == 0) return;
    if (dimensions[i] > 1) loops.push_back({dimensions[i], source_strides[i], target_strides[i]});
  }
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.target > b.target; });
  std::vector<Loop> merged;
  for (const Loop& loop : loops) {
    if (!merged.empty() && merged.back().source == loop.source * loop.count &&
        merged.back().target == loop.target * loop.count) {
      merged.back() = {merged.back().count * loop.count, loop.source, loop.target};
    } else {
      merged.push_back(loop);
    }
  }
  Loop columns = {1, width, width}, rows = {1, 0, 0};
  if (!merged.empty()) {
    columns = merged.back();
    merged.pop_back();
  }
  // The rows are the dimension along which the source is densest.
  if (!merged.empty()) {
    const auto densest = std::min_element(merged.begin(), merged.end(), [](const Loop& a, const Loop& b) {
      return std::abs(a.source) < std::abs(b.source);
    });
    rows = *densest;
    merged.erase(densest);
  }
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(target);
  std::vector<int64_t> index(merged.size(), 0);
  while (true) {
    CopyMatrix(width, rows, columns, from, to);
    size_t d = merged.size();
    for (; d > 0; --d) {
      const Loop& loop = merged[d - 1];
      from += loop.source;
      to += loop.target;
      if (++index[d - 1] < loop.count) break;
      index[d - 1] = 0;
      from -= loop.source * loop.count;
      to -= loop.target * loop.count;
    }
    if (d == 0) return;
  }
}

absl::StatusOr<Shape> ShapeWithLayout(Shape shape, const PJRT_Buffer_MemoryLayout* layout) {
  ShapeUtil::SetToDefaultLayout(&shape);
  if (layout == nullptr) return shape;
  const auto rank = static_cast<size_t>(shape.rank());
  const bool is_tiled = layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled;
  if (rank > 0 && (is_tiled ? layout->tiled.minor_to_major : layout->strides.byte_strides) == nullptr)
    return InvalidArgument("expected a layout of ", shape.ToString(), ", got a null list");
  if (is_tiled) {
    if (layout->tiled.num_tiles != 0) return Unimplemented("layouts with tiles");
    if (layout->tiled.minor_to_major_size != rank) {
      return InvalidArgument("a layout of ", layout->tiled.minor_to_major_size, " dimensions does not fit ",
                             shape.ToString());
    }
    shape.mutable_layout()->minor_to_major.assign(layout->tiled.minor_to_major, layout->tiled.minor_to_major + rank);
    HILO_RETURN_IF_ERROR(ShapeUtil::ValidateWithLayout(shape));
    return shape;
  }
  const absl::Span<const int64_t> strides(layout->strides.byte_strides, layout->strides.num_byte_strides);
  if (strides.size() != rank) return InvalidArgument(strides.size(), " strides do not fit ", shape.ToString());
  std::vector<int64_t>& order = shape.mutable_layout()->minor_to_major;
  std::iota(order.rbegin(), order.rend(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] < strides[b]; });
  if (!IsDense(shape, strides)) return Unimplemented("strides that leave gaps or overlap");
  return shape;
}

}  // namespace hilo::pjrt
