// A loop-invariant scalar or short array of a loop's state that starts as a constant:
//
//   n = s32[] constant(10)   init = tuple(zero, n)   w = while(init)     body { ... limit = get-tuple-element(s),
//   index=1 ... }
//
// becomes `limit = s32[] constant(10)` in the condition and the body. The state keeps its shape; an element without
// readers costs nothing.
#include "absl/container/flat_hash_map.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/single_caller_loops.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

// Elements of the longest array: indices that a gather reads, coefficients.
constexpr int64_t kMostElements = 64;

bool IsElement(const HloInstruction* x, const HloInstruction* tuple, int64_t index) {
  return x->opcode() == HloOpcode::kGetTupleElement && x->operand(0) == tuple && x->tuple_index() == index;
}

// Replaces reads of element `index` of the computation's parameter, except the one that passes it to the next step.
absl::StatusOr<bool> ReplaceReads(HloComputation* computation, int64_t index, const HloInstruction& constant,
                                  bool keep_in_root) {
  HloInstruction* parameter = computation->parameter_instruction(0);
  HloInstruction* root = computation->root_instruction();
  HloInstruction* copy = nullptr;
  bool changed = false;
  const std::vector<HloInstruction*> elements(parameter->users().begin(), parameter->users().end());
  for (HloInstruction* element : elements) {
    if (!IsElement(element, parameter, index)) continue;
    const std::vector<HloInstruction*> users(element->users().begin(), element->users().end());
    for (HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) != element || (keep_in_root && user == root && i == index)) continue;
        if (copy == nullptr) copy = computation->AddInstruction(constant.CloneWithNewOperands(constant.shape(), {}));
        computation->ReplaceOperand(user, i, copy);
        changed = true;
      }
    }
    if (element == root && !keep_in_root) {
      if (copy == nullptr) copy = computation->AddInstruction(constant.CloneWithNewOperands(constant.shape(), {}));
      HILO_RETURN_IF_ERROR(computation->set_root_instruction(copy));
      changed = true;
    }
  }
  return changed;
}

absl::StatusOr<bool> PropagateInto(HloInstruction* loop) {
  const HloInstruction* init = loop->operand(0);
  HloComputation* condition = loop->called_computation(0);
  HloComputation* body = loop->called_computation(1);
  const HloInstruction* root = body->root_instruction();
  if (init->opcode() != HloOpcode::kTuple || root->opcode() != HloOpcode::kTuple) return false;
  bool changed = false;
  for (int64_t i = 0; i < init->operand_count(); ++i) {
    const HloInstruction* constant = init->operand(i);
    if (!constant->IsConstant() || !constant->shape().IsArray() ||
        ShapeUtil::ElementsIn(constant->shape()) > kMostElements ||
        !IsElement(root->operand(i), body->parameter_instruction(0), i))
      continue;
    HILO_ASSIGN_OR_RETURN(bool in_condition, ReplaceReads(condition, i, *constant, /*keep_in_root=*/false));
    HILO_ASSIGN_OR_RETURN(bool in_body, ReplaceReads(body, i, *constant, /*keep_in_root=*/true));
    changed |= in_condition || in_body;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> PropagateLoopConstants(HloModule* module) {
  bool changed = false;
  for (HloInstruction* loop : SingleCallerLoops(module)) {
    HILO_ASSIGN_OR_RETURN(bool here, PropagateInto(loop));
    changed |= here;
  }
  return changed;
}

}  // namespace hilo::simplify
