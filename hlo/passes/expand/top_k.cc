#include "hilo/status_macros.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {

// Sorts each row together with the numbers of its elements, and keeps the first k.
absl::StatusOr<XlaOp> ExpandTopK(const HloInstruction& instruction, XlaBuilder* builder,
                                 absl::Span<const XlaOp> operands) {
  const auto& attributes = instruction.attrs<TopKAttrs>();
  const Shape& shape = instruction.operand(0)->shape();
  const int64_t last = shape.rank() - 1;
  XlaBuilder order("order");
  const Shape element = ShapeUtil::MakeScalarShape(shape.element_type()), number = ShapeUtil::MakeScalarShape(S32);
  const XlaOp a = Parameter(&order, 0, element, "a"), b = Parameter(&order, 1, element, "b");
  Parameter(&order, 2, number, "i");
  Parameter(&order, 3, number, "j");
  const XlaOp before = attributes.largest ? GtTotalOrder(a, b) : LtTotalOrder(a, b);
  HILO_ASSIGN_OR_RETURN(const XlaComputation comparator, order.Build(before));
  const XlaOp numbers = Iota(builder, ShapeUtil::MakeShape(S32, shape.dimensions()), last);
  const XlaOp sorted = Sort({operands[0], numbers}, comparator, last, /*is_stable=*/true);
  return Tuple(builder, {SliceInDim(GetTupleElement(sorted, 0), 0, attributes.k, 1, last),
                         SliceInDim(GetTupleElement(sorted, 1), 0, attributes.k, 1, last)});
}

}  // namespace hilo
