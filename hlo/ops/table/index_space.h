// Small functions on multi-dimensional indices. Private to hlo/ops.
#ifndef HILO_HLO_OPS_TABLE_INDEX_SPACE_H_
#define HILO_HLO_OPS_TABLE_INDEX_SPACE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace hilo {

// Sum of index[i] * strides[i].
inline int64_t DotProduct(absl::Span<const int64_t> index, absl::Span<const int64_t> strides) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum += index[i] * strides[i];
  return sum;
}

// True if some size is 0, so that there is no index below `sizes`.
inline bool HasNoIndex(absl::Span<const int64_t> sizes) {
  for (int64_t size : sizes) {
    if (size == 0) return true;
  }
  return false;
}

inline bool Contains(absl::Span<const int64_t> list, int64_t value) {
  for (int64_t entry : list) {
    if (entry == value) return true;
  }
  return false;
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_INDEX_SPACE_H_
