// The ops that pass values on: tuple, get-tuple-element, opt-barrier, and the joining of tokens.
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kTuple>(const OpView& op) {
  std::vector<Shape> elements;
  for (const Shape* operand : op.operands) elements.push_back(*operand);
  return WithoutLayouts(Shape(std::move(elements)));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kTuple>(const OpView&, const Shape&, Operands operands) {
  std::vector<Literal> elements;
  for (const Literal* operand : operands) {
    HILO_ASSIGN_OR_RETURN(Literal element, CopyOf(*operand));
    elements.push_back(std::move(element));
  }
  return Literal::MakeTuple(std::move(elements));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kGetTupleElement>(const OpView& op) {
  const Shape& tuple = op.operand(0);
  const int64_t index = op.attrs<GetTupleElementAttrs>().index;
  if (!tuple.IsTuple()) return InvalidOp(op, "the operand must be a tuple, but is ", tuple.ToString());
  // get_tuple_element_c1
  if (index < 0 || index >= tuple.tuple_shapes_size()) {
    return InvalidOp(op, "index = ", index, " is not in [0, ", tuple.tuple_shapes_size(), "), the elements of ",
                     tuple.ToString());
  }
  return WithoutLayouts(tuple.tuple_shapes(index));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kGetTupleElement>(const OpView& op, const Shape&, Operands operands) {
  return CopyOf(operands[0]->element(op.attrs<GetTupleElementAttrs>().index));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAfterAll>(const OpView& op) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operand(i).IsToken()) {
      return InvalidOp(op, "operands must be tokens, but operand ", i, " is ", op.operand(i).ToString());
    }
  }
  return ShapeUtil::MakeTokenShape();
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAfterAll>(const OpView&, const Shape& shape, Operands) {
  return Literal::Create(shape);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAddDependency>(const OpView& op) {
  if (!op.operand(1).IsToken()) return InvalidOp(op, "operand 1 must be a token, but is ", op.operand(1).ToString());
  return WithoutLayouts(op.operand(0));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAddDependency>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(*operands[0]);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kOptimizationBarrier>(const OpView& op) {
  return WithoutLayouts(op.operand(0));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kOptimizationBarrier>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(*operands[0]);
}

}  // namespace hilo
