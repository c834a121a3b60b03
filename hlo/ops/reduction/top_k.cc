// The k largest or smallest elements of each row, in order; of equal ones the first.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_checks.h"
#include "hlo/ops/table/total_order.h"

namespace hilo {
namespace {

// A number that orders as the element does: floats in total order (total_order.h).
template <typename T>
uint64_t OrderOf(const T& element) {
  constexpr PrimitiveType type = NativeToPrimitiveType<T>();
  if constexpr (type == PRED) {
    return element ? 1 : 0;
  } else if constexpr (std::is_floating_point_v<T> || is_small_float<T>) {
    uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof(T));
    const uint64_t sign = uint64_t{1} << (PrimitiveTypeBitWidth(type) - 1);
    if (type == F8E8M0FNU) return bits;
    if ((bits & sign) == 0) return bits | sign;
    if (!NanIsFirst(type)) return ~bits & (sign - 1);
    return bits == sign ? 0 : (~bits & (sign - 1)) + 1;
  } else if constexpr (is_complex<T>) {
    return 0;  // refused by inference
  } else if constexpr (type == U64) {
    return element;
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(element)) ^ (uint64_t{1} << 63);
  }
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kTopK>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "the operand"));
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, 0, kBool | kInt | kFloat));
  Shape values = WithoutLayouts(op.operand(0));
  const int64_t k = op.attrs<TopKAttrs>().k;
  if (values.rank() == 0)
    return InvalidOp(op, "the operand must have at least one dimension, but is ", values.ToString());
  const int64_t last = values.rank() - 1;
  if (k < 0 || k > values.dimensions(last)) {
    return InvalidOp(op, "k = ", k, " must lie between 0 and the size of the last dimension of ", values.ToString());
  }
  values.set_dimensions(last, k);
  values.set_dynamic_dimension(last, false);
  Shape indices = values;
  indices.set_element_type(S32);
  return Shape(std::vector<Shape>{std::move(values), std::move(indices)});
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kTopK>(const OpView& op, const Shape& shape, Operands operands) {
  const auto& attributes = op.attrs<TopKAttrs>();
  std::vector<Literal> results(2);
  HILO_ASSIGN_OR_RETURN(results[0], Literal::Create(shape.tuple_shapes(0)));
  HILO_ASSIGN_OR_RETURN(results[1], Literal::Create(shape.tuple_shapes(1)));
  const int64_t size = operands[0]->shape().dimensions().back();
  if (attributes.k == 0) return Literal::MakeTuple(std::move(results));
  const int64_t rows = results[0].element_count() / attributes.k;
  ArrayTypeSwitch(shape.tuple_shapes(0).element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<int32_t> order(size);
    for (int64_t row = 0; row < rows; ++row) {
      const T* elements = operands[0]->data<T>().data() + row * size;
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        const uint64_t x = OrderOf(elements[a]), y = OrderOf(elements[b]);
        return attributes.largest ? x > y : x < y;
      });
      for (int64_t i = 0; i < attributes.k; ++i) {
        results[0].data<T>()[row * attributes.k + i] = elements[order[i]];
        results[1].data<int32_t>()[row * attributes.k + i] = order[i];
      }
    }
  });
  return Literal::MakeTuple(std::move(results));
}

}  // namespace hilo
