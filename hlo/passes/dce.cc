// Dead code, in four kinds: instructions that neither the root nor a side effect needs, computations that nothing
// calls, parameters that a call's target does not read, and leaves of loop state that only compute their own next
// value:
//
//   body { p = (s32[], f32[8]) parameter(0) ... t = tuple(i1, f(x)) }   where leaf 1 has no reader   =>   tuple(i1, x)
//
// so that the leaf passes through unchanged and costs nothing.
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

class Dce : public HloPass {
 public:
  absl::string_view name() const override { return "dce"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    HILO_RETURN_IF_ERROR(FindEffects(*module));
    absl::flat_hash_map<const HloComputation*, int64_t> callers;
    for (const HloComputation* computation : module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        for (const HloComputation* called : instruction->called_computations()) ++callers[called];
      }
    }
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() != HloOpcode::kWhile) continue;
        if (callers[instruction->called_computation(1)] != 1) continue;  // another loop may read what this one does not
        HILO_ASSIGN_OR_RETURN(bool here, PassUnreadStateThrough(instruction, context));
        changed |= here;
      }
    }
    for (HloComputation* computation : module->computations()) {
      std::vector<HloInstruction*> order = computation->MakePostOrder();
      for (auto it = order.rbegin(); it != order.rend(); ++it) {
        HloInstruction* instruction = *it;
        if (!instruction->IsDead() || instruction->IsParameter() || HasEffect(instruction)) continue;
        HILO_RETURN_IF_ERROR(computation->RemoveInstruction(instruction));
        changed = true;
      }
    }
    HILO_ASSIGN_OR_RETURN(int64_t removed, module->RemoveUnusedComputations());
    changed |= removed > 0;
    HILO_ASSIGN_OR_RETURN(bool dropped, DropUnusedParameters(module));
    return changed || dropped;
  }

 private:
  bool HasEffect(const HloInstruction* instruction) const {
    if (instruction->HasSideEffect()) return true;
    for (const HloComputation* called : instruction->called_computations()) {
      if (effects_.contains(called)) return true;
    }
    return false;
  }

  // The computations in which something happens that is not in the result.
  absl::Status FindEffects(const HloModule& module) {
    effects_.clear();
    HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> callees_first, module.MakeComputationPostOrder());
    for (const HloComputation* computation : callees_first) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (HasEffect(instruction)) effects_.insert(computation);
      }
    }
    return absl::OkStatus();
  }

  // Parameters that the target of calls does not read.
  static absl::StatusOr<bool> DropUnusedParameters(HloModule* module) {
    absl::flat_hash_map<HloComputation*, std::vector<HloInstruction*>> calls;
    absl::flat_hash_set<const HloComputation*> other_uses;
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        for (HloComputation* called : instruction->called_computations()) {
          if (instruction->opcode() == HloOpcode::kCall) {
            calls[called].push_back(instruction);
          } else {
            other_uses.insert(called);
          }
        }
      }
    }
    bool changed = false;
    for (HloComputation* target : module->computations()) {
      auto callers = calls.find(target);
      if (callers == calls.end() || other_uses.contains(target)) continue;
      for (int64_t i = target->num_parameters() - 1; i >= 0; --i) {
        if (!target->parameter_instruction(i)->IsDead()) continue;
        HILO_RETURN_IF_ERROR(target->RemoveParameter(i));
        for (HloInstruction* call : callers->second) call->parent()->RemoveOperand(call, i);
        changed = true;
      }
    }
    return changed;
  }

  // Marks in `read` the elements of a loop's state that decide elements that are read, or effects of the body. Returns
  // false if the state is read as a whole.
  absl::StatusOr<bool> MarkRead(const HloComputation& body, const PassContext& context, std::vector<bool>* read) const {
    const HloInstruction *parameter = body.parameter_instruction(0), *root = body.root_instruction();
    std::vector<const HloInstruction*> work;
    for (size_t i = 0; i < read->size(); ++i) {
      if ((*read)[i]) work.push_back(root->operand(static_cast<int64_t>(i)));
    }
    for (const HloInstruction* instruction : body.instructions()) {
      if (HasEffect(instruction) || !instruction->control_successors().empty()) work.push_back(instruction);
    }
    absl::flat_hash_set<const HloInstruction*> seen;
    while (!work.empty()) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      const HloInstruction* next = work.back();
      work.pop_back();
      if (!seen.insert(next).second) continue;
      if (next == parameter) return false;
      if (next->opcode() == HloOpcode::kGetTupleElement && next->operand(0) == parameter) {
        const int64_t index = next->tuple_index();
        if (!(*read)[index]) work.push_back(root->operand(index));
        (*read)[index] = true;
        continue;
      }
      work.insert(work.end(), next->operands().begin(), next->operands().end());
    }
    return true;
  }

  absl::StatusOr<bool> PassUnreadStateThrough(HloInstruction* loop, const PassContext& context) const {
    if (!loop->shape().IsTuple() || loop->IsRoot()) return false;
    HloComputation* condition = loop->called_computation(0);
    HloComputation* body = loop->called_computation(1);
    HloInstruction* root = body->root_instruction();
    if (root->opcode() != HloOpcode::kTuple) return false;
    std::vector<bool> read(loop->shape().tuple_shapes_size(), false);
    auto note = [&](const HloInstruction* tuple) {
      for (const HloInstruction* user : tuple->users()) {
        if (user->opcode() != HloOpcode::kGetTupleElement) return false;
        read[user->tuple_index()] = true;
      }
      return !tuple->IsRoot();
    };
    if (!note(loop) || !note(condition->parameter_instruction(0))) return false;
    HILO_ASSIGN_OR_RETURN(const bool by_element, MarkRead(*body, context, &read));
    if (!by_element) return false;
    bool changed = false;
    HloInstruction* parameter = body->parameter_instruction(0);
    for (size_t i = 0; i < read.size(); ++i) {
      const int64_t index = static_cast<int64_t>(i);
      const HloInstruction* next = root->operand(index);
      const bool passes = next->opcode() == HloOpcode::kGetTupleElement && next->operand(0) == parameter &&
                          next->tuple_index() == index;
      if (read[i] || passes) continue;
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(parameter, index));
      body->ReplaceOperand(root, index, element);
      changed = true;
    }
    return changed;
  }

  absl::flat_hash_set<const HloComputation*> effects_;
};

}  // namespace

std::unique_ptr<HloPass> MakeDce() { return std::make_unique<Dce>(); }

}  // namespace hilo
