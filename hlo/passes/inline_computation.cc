#include "hlo/passes/inline_computation.h"

#include "absl/container/flat_hash_map.h"

namespace hilo {

HloInstruction* InlineComputation(const HloComputation& target, absl::Span<HloInstruction* const> arguments,
                                  HloComputation* caller, std::vector<HloInstruction*>* added) {
  HloModule* module = caller->parent();
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  absl::flat_hash_map<const HloComputation*, HloComputation*> called_copies;
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* instruction : target.MakePostOrder()) {
    if (instruction->IsParameter()) {
      copies[instruction] = arguments[instruction->parameter_number()];
      continue;
    }
    operands.clear();
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
    HloInstruction* copy = caller->AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands));
    for (const HloInstruction* predecessor : instruction->control_predecessors()) {
      copies.at(predecessor)->AddControlDependencyTo(copy);
    }
    for (size_t i = 0; i < instruction->called_computations().size(); ++i) {
      const HloComputation* called = instruction->called_computations()[i];
      if (instruction->opcode() == HloOpcode::kFusion) {
        HloComputation* fused = module->CloneComputation(*called);
        fused->set_fusion_instruction(copy);
        copy->set_called_computation(i, fused);
      } else if (called->parent() != module) {
        HloComputation*& called_copy = called_copies[called];
        if (called_copy == nullptr) called_copy = module->CloneComputation(*called, /*suffix=*/"");
        copy->set_called_computation(i, called_copy);
      }
    }
    copies[instruction] = copy;
    if (added != nullptr) added->push_back(copy);
  }
  return copies.at(target.root_instruction());
}

}  // namespace hilo
