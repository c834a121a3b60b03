// Common subexpressions: of equal instructions (opcode, operands, attributes, shape, called computations) the first
// stays. Equal constants become one. Metadata does not count, and computations are equal if they compute the same:
// every reduction of JAX has a computation of its own. Nor does which channel a collective has: the devices exchange
// the same data but once.
#include "absl/container/flat_hash_map.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/value_numbering.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

bool MayMerge(const HloInstruction& instruction) {
  if (instruction.IsParameter() || instruction.HasSideEffect()) return false;
  if (instruction.opcode() == HloOpcode::kOptimizationBarrier) return false;
  if (HasTrait(instruction.opcode(), kControlFlow) || instruction.opcode() == HloOpcode::kFusion) return false;
  return !instruction.HasControlDependencies();
}

// Numbers the computations that others call, such as those of reductions. What calls others is equal to itself alone.
ValueNumbering NumberCalled(const HloModule& module) {
  ValueNumbering numbering;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!MayMerge(*instruction)) continue;
      for (const HloComputation* called : instruction->called_computations()) {
        if (!numbering.HasNumber(called)) numbering.Number(*called);
      }
    }
  }
  return numbering;
}

class Cse : public HloPass {
 public:
  absl::string_view name() const override { return "cse"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    const ValueNumbering numbering = NumberCalled(*module);  // first, as those called lose instructions too
    for (HloComputation* computation : module->computations()) {
      absl::flat_hash_map<Expression, HloInstruction*> first;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        if (!MayMerge(*instruction)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        Expression expression = Expression::Of(*instruction);
        expression.operands.assign(instruction->operands().begin(), instruction->operands().end());
        for (const HloComputation* called : instruction->called_computations())
          expression.called.push_back(numbering.NumberOf(called));
        auto [it, fresh] = first.try_emplace(std::move(expression), instruction);
        if (fresh) continue;
        HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(instruction, it->second));
        HILO_RETURN_IF_ERROR(computation->RemoveInstruction(instruction));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeCse() { return std::make_unique<Cse>(); }

}  // namespace hilo
