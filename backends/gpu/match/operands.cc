#include "backends/gpu/match/operands.h"

#include <algorithm>

#include "hlo/analysis/contiguous_view.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::gpu {

const HloInstruction* FusedOperand(const HloInstruction* operand, const HloInstruction* instruction) {
  while (operand->IsParameter() && operand->parent()->IsFusion() && operand->parent() != instruction->parent()) {
    operand = operand->parent()->fusion_instruction()->operand(operand->parameter_number());
  }
  return operand;
}

const HloInstruction* ArrayOfOperand(const HloInstruction* operand, const HloInstruction* instruction) {
  operand = FusedOperand(operand, instruction);
  while (operand->opcode() == HloOpcode::kReshape && operand->parent() != instruction->parent())
    operand = FusedOperand(operand->operand(0), instruction);
  return operand->parent() == instruction->parent() && !operand->IsConstant() ? operand : nullptr;
}

const HloInstruction* ArrayOfLines(const HloInstruction* operand, const HloInstruction* instruction, int64_t adjacent) {
  while (true) {
    if (const HloInstruction* array = ArrayOfOperand(operand, instruction)) return array;
    operand = FusedOperand(operand, instruction);
    while (operand->opcode() == HloOpcode::kReshape) operand = FusedOperand(operand->operand(0), instruction);
    const bool gathers = operand->opcode() == HloOpcode::kGather, slices = operand->opcode() == HloOpcode::kSlice;
    if (!gathers && !slices) return nullptr;
    if ((gathers ? GatheredLine(*operand) : SlicedLine(*operand)) % adjacent != 0) return nullptr;
    operand = operand->operand(0);
  }
}

int64_t WidestOperandBytes(const HloInstruction& instruction) {
  int64_t widest = 1;
  for (const HloInstruction* operand : instruction.operands()) {
    if (operand->shape().IsArray() && ShapeUtil::ElementsIn(operand->shape()) > 1)
      widest = std::max<int64_t>(widest, PrimitiveTypeByteSize(operand->shape().element_type()));
  }
  return widest;
}

}  // namespace hilo::gpu
