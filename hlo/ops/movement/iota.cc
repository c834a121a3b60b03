#include <algorithm>

#include "hilo/status_macros.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// `index` as an element: integers wrap, floats round.
template <typename T>
T FromIndex(int64_t index) {
  if constexpr (is_complex<T>) {
    return T(static_cast<typename T::value_type>(index), 0);
  } else {
    return static_cast<T>(index);
  }
}

template <typename T>
void FillIota(int64_t size, int64_t inner, absl::Span<T> out) {
  int64_t position = 0;
  const int64_t count = static_cast<int64_t>(out.size());
  while (position < count) {
    for (int64_t i = 0; i < size; ++i, position += inner) std::fill_n(out.begin() + position, inner, FromIndex<T>(i));
  }
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kIota>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  const int64_t dimension = op.attrs<IotaAttrs>().iota_dimension;
  if (!InTypeClass(op.stated->element_type(), kNumber)) {
    return InvalidOp(op, "the result must be an array of numbers, got ", op.stated->ToString());
  }
  // iota_c1
  if (dimension < 0 || dimension >= op.stated->rank()) {
    return InvalidOp(op, "iota_dimension = ", dimension, " is out of range for ", op.stated->ToString());
  }
  return *op.stated;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kIota>(const OpView& op, const Shape& shape, Operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const int64_t dimension = op.attrs<IotaAttrs>().iota_dimension;
  const int64_t inner = ShapeUtil::RowMajorStrides(shape.dimensions())[dimension];
  ArrayTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    FillIota<T>(shape.dimensions(dimension), inner, result->template data<T>());
  });
  return result;
}

}  // namespace hilo
