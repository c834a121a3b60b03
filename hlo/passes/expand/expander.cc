// Rewrites instructions that the target does not emit in terms of others: builds a computation with XlaBuilder, which
// replaces it.
//
//   y = f32[8,4] batch-norm-inference(x, ...)   =>   s = f32[4] rsqrt(...)
//                                                    b = f32[8,4] broadcast(s)  ...
//                                                    y = f32[8,4] add(...)
//
// The replacement may need expansion too, so this is repeated until nothing is left to expand; an expansion that
// leads back to its own op would never end, and is an internal error.
#include <algorithm>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/passes/expand/expansions.h"
#include "hlo/passes/inline_computation.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Expansions of what expansions make may go this deep.
constexpr int kMaxRepetitions = 16;

absl::StatusOr<XlaComputation> BuildExpansion(const HloInstruction& instruction, Expansion expansion) {
  XlaBuilder builder(instruction.name());
  std::vector<XlaOp> operands;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    operands.push_back(Parameter(&builder, i, instruction.operand(i)->shape(), ""));
  }
  HILO_ASSIGN_OR_RETURN(const XlaOp result, expansion(instruction, &builder, operands));
  return builder.Build(result);
}

// Copies metadata: the origin applies to all replacement instructions, the rest to the
// result alone (which gets it when it replaces the instruction).
void CarryOrigin(const HloInstruction& from, HloInstruction* to) {
  to->set_source_text_line(from.source_text_line());
  to->set_metadata(from.metadata());
  if (to->extra_attributes().empty()) {
    for (const auto& [name, text] : from.extra_attributes()) {
      if (name == "frontend_attributes") to->add_extra_attribute(name, text);
    }
  }
}

absl::Status Replace(HloInstruction* instruction, const HloComputation& expansion) {
  HloComputation* computation = instruction->parent();
  std::vector<HloInstruction*> added;
  HloInstruction* result = InlineComputation(expansion, instruction->operands(), computation, &added);
  for (HloInstruction* copy : added) {
    if (copy != result) CarryOrigin(*instruction, copy);
    for (HloInstruction* predecessor : instruction->control_predecessors()) predecessor->AddControlDependencyTo(copy);
  }
  // Users that speak of memory expect the layout that they have seen.
  if (std::find(added.begin(), added.end(), result) != added.end()) *result->mutable_shape() = instruction->shape();
  return computation->ReplaceInstruction(instruction, result);
}

class Expander : public HloPass {
 public:
  explicit Expander(const Target* target) : target_(*target) {}
  absl::string_view name() const override { return "expand"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    for (int runs = 0; runs < kMaxRepetitions; ++runs) {
      HILO_ASSIGN_OR_RETURN(const bool changed, RunRound(module, context));
      if (!changed) return runs > 0;
    }
    return Internal("expansions do not come to an end");
  }

 private:
  absl::StatusOr<bool> RunRound(HloModule* module, const PassContext& context) {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      // Operands first, so that what dies with an instruction has been passed.
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        const Expansion expansion = kExpansions[instruction->opcode()];
        if (expansion == nullptr || target_.Supports(*instruction)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const absl::StatusOr<XlaComputation> built = BuildExpansion(*instruction, expansion);
        if (!built.ok()) return AddContext(built.status(), InstructionContext(*instruction));
        HILO_RETURN_IF_ERROR(Replace(instruction, *built->module()->entry_computation()));
        changed = true;
      }
    }
    return changed;
  }

  const Target& target_;
};

}  // namespace

std::unique_ptr<HloPass> MakeExpander(const Target* target) { return std::make_unique<Expander>(target); }

}  // namespace hilo
