#include "hlo/ops/strided_copy.h"

#include <cstring>

#include "hlo/ops/index_space.h"

namespace hilo {

void StridedCopy(absl::Span<const int64_t> sizes, const Literal& from, const StridedWalk& from_walk, Literal* to,
                 const StridedWalk& to_walk) {
  if (HasNoIndex(sizes)) return;
  const int64_t size = PrimitiveTypeByteSize(from.shape().element_type());
  const uint8_t* source = from.untyped_data().data() + from_walk.offset * size;
  uint8_t* target = to->untyped_data().data() + to_walk.offset * size;
  // A last dimension that is dense on both sides is copied in one piece.
  const bool dense = !sizes.empty() && from_walk.strides.back() == 1 && to_walk.strides.back() == 1;
  const int64_t piece = dense ? sizes.back() * size : size;
  if (dense) sizes.remove_suffix(1);
  std::vector<int64_t> index(sizes.size(), 0);
  do {
    std::memcpy(target + DotProduct(index, to_walk.strides) * size, source + DotProduct(index, from_walk.strides) * size,
                piece);
  } while (IndexUtil::BumpIndices(sizes, absl::MakeSpan(index)));
}

void FillWith(const Literal& scalar, Literal* array) {
  const absl::Span<const uint8_t> element = scalar.untyped_data();
  const absl::Span<uint8_t> data = array->untyped_data();
  for (size_t i = 0; i < data.size(); i += element.size()) std::memcpy(&data[i], element.data(), element.size());
}

}  // namespace hilo
