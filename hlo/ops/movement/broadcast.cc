// broadcast: copies the operand along new dimensions. Operand dimension i becomes result dimension
// dimensions[i]; unlike BroadcastInDim of the builder, sizes must agree: stretching size 1 is the
// builder's business.
#include "hilo/status_macros.h"
#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kBroadcast>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  const Shape& operand = op.operand(0);
  const Shape& result = *op.stated;
  const std::vector<int64_t>& dimensions = op.attrs<BroadcastAttrs>().dimensions;
  // broadcast_in_dim_c1
  if (operand.element_type() != result.element_type()) {
    return InvalidOp(op, "result ", result.ToString(), " must have the operand's element type, ",
                     PrimitiveTypeName(operand.element_type()));
  }
  // broadcast_in_dim_c2
  if (static_cast<int64_t>(dimensions.size()) != operand.rank()) {
    return InvalidOp(op, "dimensions = ", ListText(dimensions), " must have one entry for each of the ", operand.rank(),
                     " dimensions of the operand");
  }
  // broadcast_in_dim_c3, broadcast_in_dim_c4
  HILO_RETURN_IF_ERROR(CheckDistinctDimensions(op, "dimensions", dimensions, result.rank()));
  for (int64_t i = 0; i < operand.rank(); ++i) {
    // broadcast_in_dim_c5
    if (operand.dimensions(i) != result.dimensions(dimensions[i])) {
      return InvalidOp(op, "operand dimension ", i, " of size ", operand.dimensions(i), " must equal result dimension ",
                       dimensions[i], " of size ", result.dimensions(dimensions[i]));
    }
  }
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kBroadcast>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const Shape& operand = operands[0]->shape();
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(operand.dimensions());
  StridedWalk walk{0, std::vector<int64_t>(shape.rank(), 0)};
  const std::vector<int64_t>& dimensions = op.attrs<BroadcastAttrs>().dimensions;
  for (int64_t i = 0; i < operand.rank(); ++i) walk.strides[dimensions[i]] = strides[i];
  StridedCopy(shape.dimensions(), *operands[0], walk, &*result, StridedWalk::Over(shape));
  return result;
}

}  // namespace hilo
