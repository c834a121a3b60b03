#include "hlo/analysis/program_cost.h"

#include "absl/container/flat_hash_map.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"

namespace hilo {
namespace {

using Costs = absl::flat_hash_map<const HloComputation*, ProgramCost>;

ProgramCost CostOf(const HloInstruction& instruction, const Costs& costs) {
  if (HasTrait(instruction.opcode(), kControlFlow)) {
    ProgramCost dearest;
    for (const HloComputation* called : instruction.called_computations()) {
      const ProgramCost& one = costs.at(called);
      if (instruction.opcode() != HloOpcode::kConditional) {
        dearest.flops += one.flops;
        dearest.transcendentals += one.transcendentals;
        dearest.bytes_accessed += one.bytes_accessed;
      } else if (one.flops + one.transcendentals + one.bytes_accessed >
                 dearest.flops + dearest.transcendentals + dearest.bytes_accessed) {
        dearest = one;
      }
    }
    return dearest;
  }
  const Work work = WorkOf(instruction);
  return {.flops = work.flops, .transcendentals = work.transcendentals, .bytes_accessed = work.bytes()};
}

}  // namespace

absl::StatusOr<ProgramCost> CostOfProgram(const HloModule& module) {
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> order, module.MakeComputationPostOrder());
  Costs costs;
  for (const HloComputation* computation : order) {
    ProgramCost total;
    for (const HloInstruction* instruction : computation->instructions()) {
      const ProgramCost one = CostOf(*instruction, costs);
      total.flops += one.flops;
      total.transcendentals += one.transcendentals;
      total.bytes_accessed += one.bytes_accessed;
    }
    costs[computation] = total;
  }
  return costs.at(module.entry_computation());
}

}  // namespace hilo
