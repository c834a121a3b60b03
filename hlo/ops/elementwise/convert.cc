// convert: element-wise conversion of values; the rules are those of shape/convert.h.
#include "hilo/status_macros.h"
#include "hlo/ops/table/checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kConvert>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  // convert_c1
  if (!ShapeUtil::SameDimensions(op.operand(0), *op.stated)) {
    return InvalidOp(op, "operand ", op.operand(0).ToString(), " and result ", op.stated->ToString(),
                     " must have the same dimensions");
  }
  return *op.stated;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kConvert>(const OpView&, const Shape& shape, Operands operands) {
  auto result = operands[0]->Convert(shape.element_type());
  if (result.ok()) *result->mutable_shape_do_not_resize() = shape;
  return result;
}

}  // namespace hilo
