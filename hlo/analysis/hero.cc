#include "hlo/analysis/hero.h"

#include "hlo/ir/hlo_computation.h"

namespace hilo {

const HloInstruction* HeroOf(const HloInstruction* instruction) {
  while (instruction->opcode() == HloOpcode::kFusion) {
    instruction = instruction->called_computation()->root_instruction();
  }
  return instruction;
}

}  // namespace hilo
