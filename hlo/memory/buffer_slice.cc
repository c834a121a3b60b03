#include "hlo/memory/buffer_slice.h"

namespace hilo {

int64_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.tuple_shapes()) count += LeafCount(element);
  return count;
}

int64_t LeafNumber(const Shape& shape, const ShapeIndex& index) {
  int64_t number = 0;
  const Shape* at = &shape;
  for (int64_t element : index) {
    for (int64_t i = 0; i < element; ++i) number += LeafCount(at->tuple_shapes(i));
    at = &at->tuple_shapes(element);
  }
  return number;
}

}  // namespace hilo
