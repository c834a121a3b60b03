// A loop-invariant scalar or short array of a loop's state that starts as a constant is that constant in the condition
// and the body:
//
//   n = s32[] constant(10), init = tuple(zero, n), w = while(init)
//   body { ... limit = get-tuple-element(s), index=1 ... }   =>   body { ... limit = s32[] constant(10) ... }
//
// The state keeps its shape; an element without readers costs nothing.
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/single_caller_loops.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

// Elements of the longest array: indices that a gather reads, coefficients.
constexpr int64_t kMaxElements = 64;

using Constants = absl::flat_hash_map<int64_t, const HloInstruction*>;  // by the index of the element

// Replaces reads of elements of the computation's parameter that are constant, except those that pass them to the next
// step.
absl::StatusOr<bool> ReplaceReads(HloComputation* computation, const Constants& constants, bool keep_in_root,
                                  const PassContext& context) {
  HloInstruction* parameter = computation->parameter_instruction(0);
  HloInstruction* root = computation->root_instruction();
  absl::flat_hash_map<const HloInstruction*, int64_t> index_of;  // of reads
  std::vector<HloInstruction*> readers;
  absl::flat_hash_set<const HloInstruction*> seen;
  for (HloInstruction* element : parameter->users()) {
    if (element->opcode() != HloOpcode::kGetTupleElement || !constants.contains(element->tuple_index())) continue;
    index_of[element] = element->tuple_index();
    for (HloInstruction* user : element->users()) {
      if (seen.insert(user).second) readers.push_back(user);
    }
  }
  absl::flat_hash_map<int64_t, HloInstruction*> copies;
  const auto copy_of = [&](int64_t index) {
    HloInstruction*& copy = copies[index];
    const HloInstruction& constant = *constants.at(index);
    if (copy == nullptr) copy = computation->AddInstruction(constant.CloneWithNewOperands(constant.shape(), {}));
    return copy;
  };
  for (HloInstruction* reader : readers) {
    HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
    for (int64_t i = 0; i < reader->operand_count(); ++i) {
      const auto read = index_of.find(reader->operand(i));
      if (read == index_of.end() || (keep_in_root && reader == root && i == read->second)) continue;
      computation->ReplaceOperand(reader, i, copy_of(read->second));
    }
  }
  if (const auto read = index_of.find(root); read != index_of.end() && !keep_in_root)
    HILO_RETURN_IF_ERROR(computation->set_root_instruction(copy_of(read->second)));
  return !copies.empty();
}

absl::StatusOr<bool> PropagateInto(HloInstruction* loop, const PassContext& context) {
  const HloInstruction* init = loop->operand(0);
  HloComputation* body = loop->called_computation(1);
  const HloInstruction *parameter = body->parameter_instruction(0), *root = body->root_instruction();
  if (init->opcode() != HloOpcode::kTuple || root->opcode() != HloOpcode::kTuple) return false;
  Constants constants;
  for (int64_t i = 0; i < init->operand_count(); ++i) {
    const HloInstruction *first = init->operand(i), *next = root->operand(i);
    if (first->IsConstant() && first->shape().IsArray() && ShapeUtil::ElementsIn(first->shape()) <= kMaxElements &&
        next->opcode() == HloOpcode::kGetTupleElement && next->operand(0) == parameter && next->tuple_index() == i)
      constants[i] = first;
  }
  if (constants.empty()) return false;
  HILO_ASSIGN_OR_RETURN(const bool in_condition, ReplaceReads(loop->called_computation(0), constants,
                                                              /*keep_in_root=*/false, context));
  HILO_ASSIGN_OR_RETURN(const bool in_body, ReplaceReads(body, constants, /*keep_in_root=*/true, context));
  return in_condition || in_body;
}

}  // namespace

absl::StatusOr<bool> PropagateLoopConstants(HloModule* module, const PassContext& context) {
  bool changed = false;
  for (HloInstruction* loop : SingleCallerLoops(module)) {
    HILO_ASSIGN_OR_RETURN(bool here, PropagateInto(loop, context));
    changed |= here;
  }
  return changed;
}

}  // namespace hilo::simplify
