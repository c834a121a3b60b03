// Call, fusion, conditional and while: checks of their computations, and evaluation.
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// The one computation takes the operands; its result is the op's.
absl::StatusOr<Shape> InferForward(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArguments(op, 0, op.operands));
  return WithoutLayouts(op.called[0]->result);
}

// The branch that `selector` selects: PRED true is 0; a number out of range is the last one.
int64_t ChosenBranch(const Literal& selector, int64_t branches) {
  if (selector.shape().element_type() == PRED) return selector.GetFirstElement<bool>() ? 0 : 1;
  const int64_t index = selector.GetFirstElement<int32_t>();
  return index < 0 || index >= branches ? branches - 1 : index;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCall>(const OpView& op) {
  return InferForward(op);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCall>(const OpView& op, const Shape&, Operands operands) {
  return op.computations[0](operands);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kFusion>(const OpView& op) {
  return InferForward(op);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kFusion>(const OpView& op, const Shape&, Operands operands) {
  return op.computations[0](operands);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kConditional>(const OpView& op) {
  const int64_t branches = op.called.size();
  if (branches == 0) return InvalidOp(op, "needs at least one branch");  // case_c1
  if (static_cast<int64_t>(op.operands.size()) != 1 + branches) {
    return InvalidOp(op, "expected a selector and one operand for each of the ", branches, " branches, got ",
                     op.operands.size(), " operands");
  }
  const Shape& selector = op.operand(0);
  if (!selector.IsScalar() || (selector.element_type() != PRED && selector.element_type() != S32)) {
    return InvalidOp(op, "operand 0 must be pred[] or s32[], but is ", selector.ToString());
  }
  if (selector.element_type() == PRED && branches != 2) {
    return InvalidOp(op, "a pred[] chooses between 2 branches, but there are ", branches);
  }
  for (int64_t b = 0; b < branches; ++b) {
    HILO_RETURN_IF_ERROR(CheckArguments(op, b, op.operands.subspan(1 + b, 1)));  // if_c1, case_c2
    if (!ShapeUtil::Compatible(op.called[0]->result, op.called[b]->result)) {    // if_c2, case_c3
      return InvalidOp(op, "branches must return one shape, but branch 0 returns ", op.called[0]->result.ToString(),
                       " and branch ", b, " returns ", op.called[b]->result.ToString());
    }
  }
  return WithoutLayouts(op.called[0]->result);  // if_c3, case_c4
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kConditional>(const OpView& op, const Shape&, Operands operands) {
  const int64_t branch = ChosenBranch(*operands[0], op.computations.size());
  return op.computations[branch](operands.subspan(1 + branch, 1));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kWhile>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArguments(op, 0, op.operands));  // while_c1
  HILO_RETURN_IF_ERROR(CheckArguments(op, 1, op.operands));  // while_c2
  const Shape& condition = op.called[0]->result;
  if (!condition.IsScalar() || condition.element_type() != PRED) {  // while_c1
    return InvalidOp(op, "condition must return pred[], but returns ", condition.ToString());
  }
  const Shape& body = op.called[1]->result;
  if (!ShapeUtil::Compatible(body, op.operand(0))) {  // while_c2
    return InvalidOp(op, "body must return ", op.operand(0).ToString(), ", but returns ", body.ToString());
  }
  return WithoutLayouts(op.operand(0));  // while_c3
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kWhile>(const OpView& op, const Shape&, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal state, CopyOf(*operands[0]));
  while (true) {
    const Literal* const argument[] = {&state};
    HILO_ASSIGN_OR_RETURN(const Literal proceed, op.computations[0](argument));
    if (!proceed.GetFirstElement<bool>()) return state;
    HILO_ASSIGN_OR_RETURN(Literal next, op.computations[1](argument));
    state = std::move(next);
  }
}

}  // namespace hilo
