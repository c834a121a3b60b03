// transpose and reverse: the operand's elements at permuted or mirrored indices.
#include "hilo/status_macros.h"
#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kTranspose>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  const Shape& operand = op.operand(0);
  const std::vector<int64_t>& dimensions = op.attrs<TransposeAttrs>().dimensions;
  // transpose_c2
  if (static_cast<int64_t>(dimensions.size()) != operand.rank() ||
      !CheckDistinctDimensions(op, "dimensions", dimensions, operand.rank()).ok()) {
    return InvalidOp(op, "dimensions = ", ListText(dimensions), " is not a permutation of 0..", operand.rank() - 1,
                     " for operand ", operand.ToString());
  }
  Shape result(operand.element_type(), operand.dimensions());
  for (int64_t i = 0; i < operand.rank(); ++i) {
    result.set_dimensions(i, operand.dimensions(dimensions[i]));
    if (operand.is_dynamic_dimension(dimensions[i])) result.set_dynamic_dimension(i, true);
  }
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kTranspose>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(operands[0]->shape().dimensions());
  StridedWalk walk;
  for (int64_t dimension : op.attrs<TransposeAttrs>().dimensions) walk.strides.push_back(strides[dimension]);
  StridedCopy(shape.dimensions(), *operands[0], walk, &*result, StridedWalk::Over(shape));
  return result;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kReverse>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  // reverse_c2, reverse_c3
  HILO_RETURN_IF_ERROR(
      CheckDistinctDimensions(op, "dimensions", op.attrs<ReverseAttrs>().dimensions, op.operand(0).rank()));
  return ElementwiseShape(op, op.operand(0).element_type());
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kReverse>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  StridedWalk walk = StridedWalk::Over(shape);
  for (int64_t dimension : op.attrs<ReverseAttrs>().dimensions) {
    walk.offset += (shape.dimensions(dimension) - 1) * walk.strides[dimension];
    walk.strides[dimension] *= -1;
  }
  StridedCopy(shape.dimensions(), *operands[0], walk, &*result, StridedWalk::Over(shape));
  return result;
}

}  // namespace hilo
