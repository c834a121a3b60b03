// Which dots become library calls.
#ifndef HILO_BACKENDS_CPU_KERNELS_DOT_KERNEL_H_
#define HILO_BACKENDS_CPU_KERNELS_DOT_KERNEL_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// True for matrix products that are big enough for a library call to pay and whose operands it can read in place.
bool IsLibraryDot(const HloInstruction& dot);
// True if both factors are floats narrower than F32 and the result is none wider.
bool HasNarrowOperands(const HloInstruction& dot);
// True for products of narrower floats, or integers that f32 multiplies exactly, that would be such if they were in
// f32.
bool IsWidenedDot(const HloInstruction& dot);
// True for products that would be such if their operands were transposed.
bool IsTransposedDot(const HloInstruction& dot);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_DOT_KERNEL_H_
