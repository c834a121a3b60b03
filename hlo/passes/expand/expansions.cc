#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

struct Row {
  HloOpcode opcode;
  Expansion expansion;
};

// One row an op, sorted.
constexpr Row kRows[] = {
    {HloOpcode::kBatchNormGrad, ExpandBatchNormGrad},
    {HloOpcode::kBatchNormInference, ExpandBatchNormInference},
    {HloOpcode::kBatchNormTraining, ExpandBatchNormTraining},
    {HloOpcode::kConvolution, ExpandConvolution},
    {HloOpcode::kRng, ExpandRng},
    {HloOpcode::kRngBitGenerator, ExpandRngBitGenerator},
    {HloOpcode::kDot, ExpandDot},
    {HloOpcode::kRaggedDot, ExpandDot},
    {HloOpcode::kScaledDot, ExpandScaledDot},
    {HloOpcode::kCustomCall, ExpandCustomCall},
    {HloOpcode::kScan, ExpandScan},
    {HloOpcode::kStochasticConvert, ExpandStochasticConvert},
    {HloOpcode::kTopK, ExpandTopK},
};

}  // namespace

Expansion FindExpansion(HloOpcode opcode) {
  for (const Row& row : kRows) {
    if (row.opcode == opcode) return row.expansion;
  }
  return nullptr;
}

absl::StatusOr<XlaComputation> CalledComputation(const HloInstruction& instruction, int64_t i) {
  auto module = std::make_shared<HloModule>(instruction.called_computation(i)->name());
  module->set_entry_computation(module->CloneComputation(*instruction.called_computation(i), /*suffix=*/""));
  return XlaComputation(std::move(module));
}

}  // namespace hilo
