// A call whose target is small, or that is the only one of its target, is replaced by the target's instructions. Targets that stay are compiled
// once, so thirty levels that each call the next one twice stay small. Fusions that the module brings along are taken apart too: they were made
// for another machine.
#include "absl/container/flat_hash_map.h"
#include "base/status_macros.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Targets with at most this many instructions are inlined wherever they are called.
constexpr int64_t kSmall = 24;
// A caller does not grow beyond this by inlining.
constexpr int64_t kMaxCaller = 100'000;

absl::Status Inline(HloInstruction* call) {
  HloComputation* caller = call->parent();
  const HloComputation& target = *call->called_computation();
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* instruction : target.MakePostOrder()) {
    if (instruction->IsParameter()) {
      copies[instruction] = call->operand(instruction->parameter_number());
      continue;
    }
    operands.clear();
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
    HloInstruction* copy = caller->AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands));
    for (const HloInstruction* predecessor : instruction->control_predecessors()) {
      copies.at(predecessor)->AddControlDependencyTo(copy);
    }
    if (instruction->opcode() == HloOpcode::kFusion) {
      HloComputation* fused = caller->parent()->CloneComputation(*instruction->called_computation());
      fused->set_fusion_instruction(copy);
      copy->set_called_computation(0, fused);
    }
    copies[instruction] = copy;
  }
  return caller->ReplaceInstruction(call, copies.at(target.root_instruction()));
}

class CallInliner : public HloPass {
 public:
  absl::string_view name() const override { return "inline-calls"; }

  absl::StatusOr<bool> Run(HloModule* module) override {
    absl::flat_hash_map<const HloComputation*, int64_t> uses;
    for (const HloComputation* computation : module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        for (const HloComputation* called : instruction->called_computations()) ++uses[called];
      }
    }
    bool changed = false;
    HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> order, module->MakeComputationPostOrder());
    for (HloComputation* computation : order) {
      for (HloInstruction* instruction : computation->instructions()) {
        const bool fusion = instruction->opcode() == HloOpcode::kFusion;
        if (instruction->opcode() != HloOpcode::kCall && !fusion) continue;
        const HloComputation* target = instruction->called_computation();
        const int64_t size = target->instruction_count();
        if (!fusion && size > kSmall && uses[target] > 1) continue;
        if (!fusion && computation->instruction_count() + size > kMaxCaller) continue;
        HILO_RETURN_IF_ERROR(Inline(instruction));
        changed = true;
      }
    }
    if (changed) HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeCallInliner() { return std::make_unique<CallInliner>(); }

}  // namespace hilo
