#include "hlo/ops/movement/strided_copy.h"

#include <cstring>

#include "hlo/ops/table/index_space.h"

namespace hilo {
namespace {

// The last dimension of a block.
struct Row {
  int64_t size = 1, from_stride = 1, to_stride = 1;
};

template <int kBytes>
void CopyRow(const uint8_t* from, uint8_t* to, const Row& row) {
  if (row.from_stride == 1 && row.to_stride == 1) {
    std::memcpy(to, from, row.size * kBytes);
    return;
  }
  for (int64_t i = 0; i < row.size; ++i) {
    std::memcpy(to + i * row.to_stride * kBytes, from + i * row.from_stride * kBytes, kBytes);
  }
}

template <int kBytes>
void CopyBlock(absl::Span<const int64_t> sizes, const uint8_t* from, const StridedWalk& from_walk, uint8_t* to,
               const StridedWalk& to_walk) {
  Row row;
  if (!sizes.empty()) {
    row = {sizes.back(), from_walk.strides.back(), to_walk.strides.back()};
    sizes.remove_suffix(1);
  }
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t from_position = from_walk.offset, to_position = to_walk.offset;
  while (true) {
    CopyRow<kBytes>(from + from_position * kBytes, to + to_position * kBytes, row);
    // The next index, and the positions with it.
    int64_t d = static_cast<int64_t>(sizes.size()) - 1;
    for (; d >= 0; --d) {
      from_position += from_walk.strides[d];
      to_position += to_walk.strides[d];
      if (++index[d] < sizes[d]) break;
      from_position -= sizes[d] * from_walk.strides[d];
      to_position -= sizes[d] * to_walk.strides[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace

void StridedCopy(absl::Span<const int64_t> sizes, const Literal& from, const StridedWalk& from_walk, Literal* to,
                 const StridedWalk& to_walk) {
  if (HasNoIndex(sizes)) return;
  const uint8_t* source = from.untyped_data().data();
  uint8_t* target = to->untyped_data().data();
  switch (PrimitiveTypeByteSize(from.shape().element_type())) {
    case 1: return CopyBlock<1>(sizes, source, from_walk, target, to_walk);
    case 2: return CopyBlock<2>(sizes, source, from_walk, target, to_walk);
    case 4: return CopyBlock<4>(sizes, source, from_walk, target, to_walk);
    case 8: return CopyBlock<8>(sizes, source, from_walk, target, to_walk);
    default: return CopyBlock<16>(sizes, source, from_walk, target, to_walk);
  }
}

void FillWith(const Literal& scalar, Literal* array) {
  StridedCopy({array->element_count()}, scalar, {0, {0}}, array, {0, {1}});
}

}  // namespace hilo
