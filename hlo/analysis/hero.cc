#include "hlo/analysis/hero.h"

#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

const HloInstruction* HeroOf(const HloInstruction* instruction) {
  while (instruction->opcode() == HloOpcode::kFusion) {
    instruction = instruction->called_computation()->root_instruction();
  }
  return instruction;
}

const HloInstruction* DotOf(const HloInstruction& instruction) {
  const HloInstruction* hero = HeroOf(&instruction);
  if (hero->opcode() == HloOpcode::kDot) return hero;
  if (instruction.opcode() != HloOpcode::kFusion || instruction.attrs<FusionAttrs>().kind != FusionKind::kOutput)
    return nullptr;
  for (const HloInstruction* member : instruction.called_computation()->instructions()) {
    if (member->opcode() == HloOpcode::kDot) return member;
  }
  return nullptr;
}

}  // namespace hilo
