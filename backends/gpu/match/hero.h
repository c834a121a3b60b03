// What a kernel computes: the instruction that determines it, and its results.
#ifndef HILO_BACKENDS_GPU_MATCH_HERO_H_
#define HILO_BACKENDS_GPU_MATCH_HERO_H_

#include <cstdint>

#include "base/math.h"
#include "hlo/analysis/hero.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns the operand that `operand` stands for, if it is a parameter of a computation inside the fusion `instruction`;
// otherwise `operand`.
const HloInstruction* FusedOperand(const HloInstruction* operand, const HloInstruction* instruction);

// Returns the bytes of an element of the widest operand that has more than one element; at least 1.
int64_t WidestOperandBytes(const HloInstruction& instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_HERO_H_
