// The operands of a kernel's instruction.
#ifndef HILO_BACKENDS_GPU_MATCH_OPERANDS_H_
#define HILO_BACKENDS_GPU_MATCH_OPERANDS_H_

#include <cstdint>

#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns the operand that `operand` stands for, if it is a parameter of a computation inside the fusion `instruction`;
// otherwise `operand`.
const HloInstruction* FusedOperand(const HloInstruction* operand, const HloInstruction* instruction);

// Returns the instruction outside of `instruction` whose array has the elements of `operand`, in the same order; null
// if the kernel of `instruction` computes them.
const HloInstruction* ArrayOfOperand(const HloInstruction* operand, const HloInstruction* instruction);

// The same, or the array that gathers and slices of the fusion take the elements from, if `adjacent` elements which
// begin at a multiple of it, in the order of `operand`, are adjacent there, too, and begin at a multiple of it.
const HloInstruction* ArrayOfLines(const HloInstruction* operand, const HloInstruction* instruction, int64_t adjacent);

// Returns the bytes of an element of the widest operand that has more than one element; at least 1.
int64_t WidestOperandBytes(const HloInstruction& instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_OPERANDS_H_
