#include "hilo/shape.h"

namespace hilo {
namespace {

// Dimension numbers from most minor to most major with their sizes in memory.
struct MemoryOrder {
  explicit MemoryOrder(const Shape& s) : shape(s) {}
  int64_t dimension(int64_t k) const {
    return shape.has_layout() ? shape.layout().minor_to_major[k] : shape.rank() - 1 - k;
  }
  int64_t size(int64_t d) const {
    const bool padded = shape.has_layout() && !shape.layout().padded_dimensions.empty();
    return padded ? shape.layout().padded_dimensions[d] : shape.dimensions(d);
  }
  const Shape& shape;
};

}  // namespace

int64_t IndexUtil::MultidimensionalIndexToLinearIndex(const Shape& shape, absl::Span<const int64_t> index) {
  const MemoryOrder order(shape);
  int64_t linear = 0;
  int64_t scale = 1;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const int64_t d = order.dimension(k);
    linear += index[d] * scale;
    scale *= order.size(d);
  }
  return linear;
}

std::vector<int64_t> IndexUtil::LinearIndexToMultidimensionalIndex(const Shape& shape, int64_t linear) {
  const MemoryOrder order(shape);
  std::vector<int64_t> index(shape.rank(), 0);
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const int64_t d = order.dimension(k);
    const int64_t size = order.size(d);
    if (size == 0) break;  // no element to point at
    index[d] = linear % size;
    linear /= size;
  }
  return index;
}

bool IndexUtil::BumpIndices(absl::Span<const int64_t> limits, absl::Span<int64_t> index) {
  for (int64_t d = static_cast<int64_t>(limits.size()) - 1; d >= 0; --d) {
    if (++index[d] < limits[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace hilo
