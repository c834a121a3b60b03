// Selects the dots that become library calls.
#ifndef HILO_BACKENDS_CPU_KERNELS_DOT_KERNEL_H_
#define HILO_BACKENDS_CPU_KERNELS_DOT_KERNEL_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// Returns true for matrix products large enough for a library call, whose operands the library can read in place.
bool IsLibraryDot(const HloInstruction& dot);
// Returns true if both factors are floats narrower than F32 and the result is no wider than F32.
bool HasNarrowOperands(const HloInstruction& dot);
// Returns true for products of narrower floats, or of integers that f32 multiplies exactly, that would be library dots
// in f32.
bool IsWidenedDot(const HloInstruction& dot);
// Returns true for products that would be library dots if their operands were transposed.
bool IsTransposedDot(const HloInstruction& dot);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_DOT_KERNEL_H_
