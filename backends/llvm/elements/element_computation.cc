// How the elements of one instruction are computed: each op has a generator.
#include "backends/llvm/elements/data_movement.h"
#include "backends/llvm/elements/elemental_emitter.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo::codegen {

absl::StatusOr<ElementEmitter::Values> ElementEmitter::Compute(const HloInstruction* instruction, const Index& index) {
  if (!IsElementwise(instruction->opcode())) return EmitMovement(*this, instruction, index);
  Values operands;
  for (int64_t i = 0; i < instruction->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(),
                          Generate(instruction->operand(i), IsReadAtSameIndex(instruction, i) ? index : Index()));
  }
  if (instruction->opcode() == HloOpcode::kMap) {
    return EmitComputation(context_, *instruction->called_computation(), operands);
  }
  auto value = EmitElementwise(context_, instruction, operands);
  if (!value.ok()) return AddContext(value.status(), InstructionContext(*instruction));
  return Values{*value};
}

}  // namespace hilo::codegen
