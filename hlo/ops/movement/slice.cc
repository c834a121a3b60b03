#include "hilo/status_macros.h"
#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kSlice>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  const Shape& operand = op.operand(0);
  const std::vector<SliceRange>& slice = op.attrs<SliceAttrs>().slice;
  // slice_c2
  if (static_cast<int64_t>(slice.size()) != operand.rank()) {
    return InvalidOp(op, "slice = ", FieldToText(slice), " must have one range for each of the ", operand.rank(),
                     " dimensions of ", operand.ToString());
  }
  Shape result(operand.element_type(), operand.dimensions());
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const SliceRange& range = slice[d];
    // slice_c3
    if (range.start < 0) return InvalidOp(op, "start_indices[", d, "] = ", range.start, " is negative");
    if (range.limit > operand.dimensions(d)) {
      return InvalidOp(op, "limit_indices[", d, "] = ", range.limit, " exceeds operand dimension ",
                       operand.dimensions(d));
    }
    if (range.start > range.limit) {
      return InvalidOp(op, "start_indices[", d, "] = ", range.start, " exceeds limit_indices[", d, "] = ", range.limit);
    }
    // slice_c4
    if (range.stride < 1) return InvalidOp(op, "strides[", d, "] = ", range.stride, " must be positive");
    // slice_c5; written so that a huge stride cannot overflow
    const int64_t length = range.limit - range.start;
    result.set_dimensions(d, length / range.stride + (length % range.stride != 0));
    // A whole dimension stays as dynamic as it was; a part of it has a known size.
    if (operand.is_dynamic_dimension(d) && length == operand.dimensions(d) && range.stride == 1) {
      result.set_dynamic_dimension(d, true);
    }
  }
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kSlice>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok() || ShapeUtil::IsZeroElementArray(shape)) return result;
  StridedWalk walk = StridedWalk::Over(operands[0]->shape());
  const std::vector<SliceRange>& slice = op.attrs<SliceAttrs>().slice;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    walk.offset += slice[d].start * walk.strides[d];
    // With one element the stride is never taken, and may be too large to multiply.
    walk.strides[d] *= shape.dimensions(d) == 1 ? 1 : slice[d].stride;
  }
  StridedCopy(shape.dimensions(), *operands[0], walk, &*result, StridedWalk::Over(shape));
  return result;
}

}  // namespace hilo
