// Asynchronous copies, which return (copy, operand, context), and domain, which marks a border that
// values cross unchanged.
#include "hlo/ops/table/op_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCopyStart>(const OpView& op) {
  return WithoutLayouts(Shape({op.operand(0), op.operand(0), Shape(U32, {})}));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCopyStart>(const OpView&, const Shape& shape, Operands operands) {
  std::vector<Literal> elements;
  for (int i = 0; i < 2; ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), CopyOf(*operands[0]));
  }
  HILO_ASSIGN_OR_RETURN(elements.emplace_back(), Literal::Create(shape.tuple_shapes(2)));
  return Literal::MakeTuple(std::move(elements));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCopyDone>(const OpView& op) {
  const Shape& start = op.operand(0);
  if (!start.IsTuple() || start.tuple_shapes_size() != 3) {
    return InvalidOp(op, "the operand must be what copy-start returns, (copy, operand, context), but is ",
                     start.ToString());
  }
  return WithoutLayouts(start.tuple_shapes(0));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCopyDone>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(operands[0]->element(0));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kDomain>(const OpView& op) {
  return WithoutLayouts(op.operand(0));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kDomain>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(*operands[0]);
}

}  // namespace hilo
