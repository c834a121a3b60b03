#include "hilo/status_macros.h"
#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kConcatenate>(const OpView& op) {
  if (op.operands.empty()) return InvalidOp(op, "expects at least one operand, got none");  // concatenate_c3
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckSameElementTypes(op));  // concatenate_c1
  const Shape& first = op.operand(0);
  const std::vector<int64_t>& dimensions = op.attrs<ConcatenateAttrs>().dimensions;
  if (dimensions.size() != 1) {
    return InvalidOp(op, "dimensions = ", ListText(dimensions), " must name exactly one dimension");
  }
  const int64_t axis = dimensions[0];
  // concatenate_c4
  if (axis < 0 || axis >= first.rank()) {
    return InvalidOp(op, "dimensions = ", ListText(dimensions), " is out of range for operands of rank ", first.rank());
  }
  Shape result = ElementwiseShape({.opcode = op.opcode, .operands = op.operands.subspan(0, 1)}, first.element_type());
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const Shape& operand = op.operand(i);
    if (operand.rank() != first.rank()) {
      return InvalidOp(op, "operands must have one rank, got ", first.ToString(), " and ", operand.ToString());
    }
    for (int64_t d = 0; d < first.rank(); ++d) {
      if (operand.is_dynamic_dimension(d)) result.set_dynamic_dimension(d, true);
      // concatenate_c2
      if (d != axis && operand.dimensions(d) != first.dimensions(d)) {
        return InvalidOp(op, "operands must agree but in dimension ", axis, ", got ", first.ToString(), " and ",
                         operand.ToString());
      }
    }
    // concatenate_c6
    int64_t size;
    if (__builtin_add_overflow(result.dimensions(axis), operand.dimensions(axis), &size)) {
      return InvalidOp(op, "the size of result dimension ", axis, " overflows 64 bits");
    }
    result.set_dimensions(axis, size);
  }
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kConcatenate>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const int64_t axis = op.attrs<ConcatenateAttrs>().dimensions[0];
  StridedWalk to = StridedWalk::Over(shape);
  for (const Literal* operand : operands) {
    StridedCopy(operand->shape().dimensions(), *operand, StridedWalk::Over(operand->shape()), &*result, to);
    to.offset += operand->shape().dimensions(axis) * to.strides[axis];
  }
  return result;
}

}  // namespace hilo
