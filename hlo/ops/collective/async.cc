// Asynchronous pairs of any computation. Nothing here runs by itself: the start computes, and the
// done returns the computed result.
#include "hlo/ops/collective/async_shapes.h"

namespace hilo {

absl::Status CheckStartShape(const OpView& op) {
  if (op.stated == nullptr || (op.stated->IsTuple() && op.stated->tuple_shapes_size() >= 2)) return absl::OkStatus();
  return InvalidOp(op, "expected the shape (operands, result, ...), got ", op.stated->ToString());
}

Shape StartShape(const OpView& op, Shape operands, Shape result) {
  std::vector<Shape> elements = {std::move(operands), std::move(result)};
  for (int64_t i = 2; op.stated != nullptr && i < op.stated->tuple_shapes_size(); ++i) {
    elements.push_back(op.stated->tuple_shapes(i));
  }
  return WithoutLayouts(Shape(std::move(elements)));
}

absl::StatusOr<Shape> InferDone(const OpView& op) {
  const Shape& start = op.operand(0);
  if (!start.IsTuple() || start.tuple_shapes_size() < 2) {
    return InvalidOp(op, "the operand must be what a start returns, (operands, result, ...), but is ",
                     start.ToString());
  }
  return WithoutLayouts(start.tuple_shapes(1));
}

absl::StatusOr<Literal> StartedLiteral(const Shape& shape, Operands operands, Literal result) {
  std::vector<Literal> copies, elements;
  for (const Literal* operand : operands) {
    HILO_ASSIGN_OR_RETURN(copies.emplace_back(), CopyOf(*operand));
  }
  // A single operand may be given without a tuple.
  const bool itself = copies.size() == 1 && ShapeUtil::Compatible(copies[0].shape(), shape.tuple_shapes(0));
  elements.push_back(itself ? std::move(copies[0]) : Literal::MakeTuple(std::move(copies)));
  elements.push_back(std::move(result));
  for (int64_t i = 2; i < shape.tuple_shapes_size(); ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), Literal::Create(shape.tuple_shapes(i)));
  }
  return Literal::MakeTuple(std::move(elements));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAsyncStart>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckStartShape(op));
  HILO_RETURN_IF_ERROR(CheckArguments(op, 0, op.operands));
  std::vector<Shape> operands;
  for (const Shape* operand : op.operands) operands.push_back(*operand);
  return StartShape(op, Shape(std::move(operands)), op.called[0]->result);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAsyncStart>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, op.computations[0](operands));
  return StartedLiteral(shape, operands, std::move(result));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAsyncUpdate>(const OpView& op) {
  HILO_RETURN_IF_ERROR(InferDone(op).status());
  return WithoutLayouts(op.operand(0));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAsyncUpdate>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(*operands[0]);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAsyncDone>(const OpView& op) {
  return InferDone(op);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAsyncDone>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(operands[0]->element(1));
}

}  // namespace hilo
