#include "hlo/analysis/program_cost.h"

#include <algorithm>
#include <vector>

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
        dearest += one;
      } else if (one.flops + one.transcendentals + one.bytes_accessed >
                 dearest.flops + dearest.transcendentals + dearest.bytes_accessed) {
        dearest = one;
      }
    }
    return dearest;
  }
  std::vector<double> reads;
  const Work work = WorkOf(instruction, &reads);
  ProgramCost cost = {.flops = work.flops,
                      .transcendentals = work.transcendentals,
                      .bytes_accessed = work.bytes(),
                      .bytes_written = work.bytes_written};
  if (work.bytes() > 0) {
    reads.resize(std::min(reads.size(), ProgramCost::kMaxOperands));
    for (const double bytes : reads) cost.operands.push_back({.bytes_read = bytes, .uses = 1});
  }
  return cost;
}

}  // namespace

ProgramCost& ProgramCost::operator+=(const ProgramCost& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  bytes_accessed += other.bytes_accessed;
  bytes_written += other.bytes_written;
  operands.resize(std::max(operands.size(), other.operands.size()));
  for (size_t i = 0; i < other.operands.size(); ++i) {
    operands[i].bytes_read += other.operands[i].bytes_read;
    operands[i].uses += other.operands[i].uses;
  }
  return *this;
}

absl::StatusOr<ProgramCost> CostOfProgram(const HloModule& module) {
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> order, module.MakeComputationPostOrder());
  Costs costs;
  for (const HloComputation* computation : order) {
    ProgramCost total;
    for (const HloInstruction* instruction : computation->instructions()) total += CostOf(*instruction, costs);
    costs[computation] = total;
  }
  return costs.at(module.entry_computation());
}

}  // namespace hilo
