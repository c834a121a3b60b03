#include "hilo/status_macros.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

Result ElementOfTuple(HloInstruction* i) {
  HloInstruction* tuple = i->operand(0);
  return tuple->opcode() == HloOpcode::kTuple ? tuple->operand(i->tuple_index()) : nullptr;
}

// A tuple of all elements of one tuple, in order.
Result TupleOfElements(HloInstruction* i) {
  if (i->operand_count() == 0 || i->operand(0)->opcode() != HloOpcode::kGetTupleElement) return nullptr;
  HloInstruction* source = i->operand(0)->operand(0);
  if (!ShapeUtil::Compatible(source->shape(), i->shape())) return nullptr;
  for (int64_t k = 0; k < i->operand_count(); ++k) {
    const HloInstruction* element = i->operand(k);
    if (element->opcode() != HloOpcode::kGetTupleElement || element->operand(0) != source ||
        element->tuple_index() != k)
      return nullptr;
  }
  return source;
}

// An element of a loop's result that no iteration changes is the element of the loop's initial value.
Result UnchangedLoopState(HloInstruction* i) {
  HloInstruction* loop = i->operand(0);
  if (loop->opcode() != HloOpcode::kWhile) return nullptr;
  const HloComputation* body = loop->called_computation(1);
  const HloInstruction* root = body->root_instruction();
  if (root->opcode() != HloOpcode::kTuple) return nullptr;
  const HloInstruction* next = root->operand(i->tuple_index());
  if (next->opcode() != HloOpcode::kGetTupleElement || next->operand(0) != body->parameter_instruction(0) ||
      next->tuple_index() != i->tuple_index()) {
    return nullptr;
  }
  HloInstruction* init = loop->operand(0);
  return init->opcode() == HloOpcode::kTuple ? Result(init->operand(i->tuple_index()))
                                             : MakeTupleElement(init, i->tuple_index());
}

// A conditional whose choice is known is a call of the branch.
Result KnownBranch(HloInstruction* i) {
  const HloInstruction* selector = i->operand(0);
  if (!selector->IsConstant()) return nullptr;
  const int64_t branches = static_cast<int64_t>(i->called_computations().size());
  int64_t branch = selector->literal().GetAsInt64(0);
  if (selector->shape().element_type() == PRED) branch = branch != 0 ? 0 : 1;
  if (branch < 0 || branch >= branches) branch = branches - 1;
  return i->parent()->AddOp(HloOpcode::kCall, {i->operand(branch + 1)}, nullptr, {i->called_computation(branch)});
}

// A loop whose condition is false.
Result LoopThatNeverRuns(HloInstruction* i) {
  const HloInstruction* more = i->called_computation(0)->root_instruction();
  return more->IsConstant() && more->literal().GetAsInt64(0) == 0 ? i->operand(0) : nullptr;
}

// A barrier keeps what passes it alive and in order: that is meant for what is read behind it. The barrier itself
// stays, up to the code, or what jax.checkpoint computes a second time would be merged with the first, or be computed
// long before it is needed.
Result BarrierOfReadElements(HloInstruction* i) {
  HloInstruction* tuple = i->operand(0);
  if (tuple->opcode() != HloOpcode::kTuple || i->IsRoot() || i->users().empty()) return nullptr;
  std::vector<bool> is_read(tuple->operand_count(), false);
  for (const HloInstruction* user : i->users()) {
    if (user->opcode() != HloOpcode::kGetTupleElement) return nullptr;
    is_read[user->tuple_index()] = true;
  }
  std::vector<HloInstruction*> passing;
  for (int64_t k = 0; k < tuple->operand_count(); ++k) {
    if (is_read[k]) passing.push_back(tuple->operand(k));
  }
  if (static_cast<int64_t>(passing.size()) == tuple->operand_count()) return nullptr;
  HloComputation* computation = i->parent();
  HILO_ASSIGN_OR_RETURN(HloInstruction * smaller, computation->AddOp(HloOpcode::kTuple, passing));
  HILO_ASSIGN_OR_RETURN(HloInstruction * barrier, computation->AddOp(HloOpcode::kOptimizationBarrier, {smaller}));
  std::vector<HloInstruction*> elements;
  int64_t next = 0;
  for (int64_t k = 0; k < tuple->operand_count(); ++k) {
    HloInstruction* element = tuple->operand(k);
    if (is_read[k]) {
      HILO_ASSIGN_OR_RETURN(element, MakeTupleElement(barrier, next++));
    }
    elements.push_back(element);
  }
  return computation->AddOp(HloOpcode::kTuple, elements);
}

const Rule kStructureRules[] = {
    {HloOpcode::kGetTupleElement, "get-tuple-element(tuple(x, ...)) => x", ElementOfTuple},
    {HloOpcode::kGetTupleElement, "get-tuple-element(while) => element of its init, if no iteration changes it",
     UnchangedLoopState},
    {HloOpcode::kTuple, "tuple(all elements of x) => x", TupleOfElements},
    {HloOpcode::kConditional, "conditional(constant, ...) => call", KnownBranch},
    {HloOpcode::kWhile, "while(x), of a condition that is false => x", LoopThatNeverRuns},
    {HloOpcode::kOptimizationBarrier, "opt-barrier(tuple(x, ...)) => opt-barrier(tuple of the elements that are read)",
     BarrierOfReadElements},
};

}  // namespace

absl::Span<const Rule> StructureRules() { return kStructureRules; }

}  // namespace hilo::simplify
