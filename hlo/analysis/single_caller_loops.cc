#include "hlo/analysis/single_caller_loops.h"

#include "absl/container/flat_hash_map.h"

namespace hilo {

std::vector<HloInstruction*> SingleCallerLoops(HloModule* module) {
  absl::flat_hash_map<const HloComputation*, int64_t> callers;
  std::vector<HloInstruction*> loops;
  for (const HloComputation* computation : module->computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) ++callers[called];
      if (instruction->opcode() == HloOpcode::kWhile) loops.push_back(instruction);
    }
  }
  std::erase_if(loops, [&](const HloInstruction* loop) {
    return callers[loop->called_computation(0)] != 1 || callers[loop->called_computation(1)] != 1;
  });
  return loops;
}

}  // namespace hilo
