// A call whose target is small, or that is the only caller of its target, is replaced by the target's instructions.
// Targets that stay are compiled once, so thirty levels that each call the next one twice stay small. Fusions in the
// input module are inlined by a separate pass, which every backend requires: they were made for
// another machine.
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/in_place.h"
#include "hlo/passes/inline_computation.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Targets with at most this many instructions are inlined wherever they are called.
constexpr int64_t kSmall = 24;
// As kSmall, for targets of instructions that fuse with those around the call; a call takes its arrays through memory.
constexpr int64_t kSmallFusible = 128;
// A caller does not grow beyond this by inlining.
constexpr int64_t kMaxCaller = 100'000;

// Returns true if the target is inlined wherever it is called. Instructions without code of their own do not count.
bool IsSmall(const HloComputation& target) {
  if (target.instruction_count() > 4 * kSmallFusible) return false;
  int64_t size = 0;
  bool is_fusible = true;
  for (const HloInstruction* instruction : target.instructions()) {
    const HloOpcode opcode = instruction->opcode();
    if (instruction->IsParameter() || instruction->IsConstant() || IsForwarding(*instruction) ||
        IsFreeToRepeat(*instruction))
      continue;
    ++size;
    is_fusible = is_fusible && (IsElementwise(opcode) || HasTrait(opcode, kMovement));
  }
  return size <= (is_fusible ? kSmallFusible : kSmall);
}

// Adds the calls in the inlined copy to `calls`, unless that is null. Operands without uses stay, for dce: they
// may be in the lists of the callers.
absl::Status Inline(HloInstruction* call, std::vector<HloInstruction*>* calls = nullptr) {
  HloComputation* caller = call->parent();
  std::vector<HloInstruction*> added;
  HloInstruction* result = InlineComputation(*call->called_computation(), call->operands(), caller, &added);
  if (calls != nullptr) {
    for (HloInstruction* instruction : added) {
      if (instruction->opcode() == HloOpcode::kCall) calls->push_back(instruction);
    }
  }
  if (call->HasControlDependencies() && result->user_count() != 0) {
    // For example an operand of the call, on which its predecessors may depend: it cannot be ordered after them itself.
    result = caller->AddInstruction(HloInstruction::Create(HloOpcode::kOptimizationBarrier, result->shape(), {result}));
  }
  HILO_RETURN_IF_ERROR(caller->ReplaceAllUsesWith(call, result));
  if (!result->IsParameter()) result->CopyOriginFrom(*call);
  for (HloInstruction* predecessor : call->control_predecessors()) predecessor->AddControlDependencyTo(result);
  for (HloInstruction* successor : call->control_successors()) result->AddControlDependencyTo(successor);
  return caller->RemoveInstruction(call);
}

class CallInliner : public HloPass {
 public:
  absl::string_view name() const override { return "inline-calls"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    HILO_ASSIGN_OR_RETURN(const bool small, InlineSmall(module, context));
    if (small) HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
    HILO_ASSIGN_OR_RETURN(const bool single, InlineSingle(module, context));
    if (single) HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
    return small || single;
  }

 private:
  static bool MayInline(const HloInstruction* call) {
    if (call->HasControlDependencies()) return false;
    return call->parent()->instruction_count() + call->called_computation()->instruction_count() <= kMaxCaller;
  }

  // Calls of small targets: callees first, so that a target's size is its size after inlining.
  static absl::StatusOr<bool> InlineSmall(HloModule* module, const PassContext& context) {
    bool changed = false;
    HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> order, module->MakeComputationPostOrder());
    absl::flat_hash_set<const HloComputation*> small;
    for (HloComputation* computation : order) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() != HloOpcode::kCall || !small.contains(instruction->called_computation()) ||
            !MayInline(instruction))
          continue;
        HILO_RETURN_IF_ERROR(Inline(instruction));
        changed = true;
      }
      if (IsSmall(*computation)) small.insert(computation);
    }
    return changed;
  }

  // Calls that are the only use of their target: callers first, so that a long chain of calls moves each instruction
  // once.
  static absl::StatusOr<bool> InlineSingle(HloModule* module, const PassContext& context) {
    absl::flat_hash_map<const HloComputation*, int64_t> uses;
    for (const HloComputation* computation : module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        for (const HloComputation* called : instruction->called_computations()) ++uses[called];
      }
    }
    bool changed = false;
    HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> order, module->MakeComputationPostOrder());
    absl::flat_hash_set<const HloComputation*> gone;
    for (auto caller = order.rbegin(); caller != order.rend(); ++caller) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      if (gone.contains(*caller)) continue;
      std::vector<HloInstruction*> work = (*caller)->instructions();
      while (!work.empty()) {
        HloInstruction* instruction = work.back();
        work.pop_back();
        if (instruction->opcode() != HloOpcode::kCall) continue;
        const HloComputation* target = instruction->called_computation();
        if (uses[target] != 1 || !MayInline(instruction)) continue;
        HILO_RETURN_IF_ERROR(Inline(instruction, &work));
        gone.insert(target);
        changed = true;
      }
    }
    return changed;
  }
};

class FusionInliner : public HloPass {
 public:
  absl::string_view name() const override { return "inline-fusions"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> order, module->MakeComputationPostOrder());
    for (HloComputation* computation : order) {
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() != HloOpcode::kFusion) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        HILO_RETURN_IF_ERROR(Inline(instruction));
        changed = true;
      }
    }
    if (changed) HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeFusionInliner() { return std::make_unique<FusionInliner>(); }
std::unique_ptr<HloPass> MakeCallInliner() { return std::make_unique<CallInliner>(); }

}  // namespace hilo
