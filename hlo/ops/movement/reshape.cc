// Ops that keep the elements in order: reshape, and copy, which also takes tuples.
#include "hilo/status_macros.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kReshape>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  const Shape& operand = op.operand(0);
  // reshape_c1
  if (operand.element_type() != op.stated->element_type()) {
    return InvalidOp(op, "result ", op.stated->ToString(), " must have the operand's element type, ",
                     PrimitiveTypeName(operand.element_type()));
  }
  // reshape_c2
  if (ShapeUtil::ElementsIn(operand) != ShapeUtil::ElementsIn(*op.stated)) {
    return InvalidOp(op, "operand ", operand.ToString(), " has ", ShapeUtil::ElementsIn(operand),
                     " elements, but the result ", op.stated->ToString(), " has ", ShapeUtil::ElementsIn(*op.stated));
  }
  return *op.stated;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kReshape>(const OpView&, const Shape& shape, Operands operands) {
  auto result = operands[0]->Reshape(shape.dimensions());
  if (result.ok()) *result->mutable_shape_do_not_resize() = shape;
  return result;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCopy>(const OpView& op) {
  Shape result = op.operand(0);
  ShapeUtil::ClearLayouts(&result);
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCopy>(const OpView&, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, CopyOf(*operands[0]));
  if (shape.IsArray()) *result.mutable_shape_do_not_resize() = shape;
  return result;
}

}  // namespace hilo
