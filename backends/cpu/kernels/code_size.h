// How much code an instruction becomes.
#ifndef HILO_BACKENDS_CPU_KERNELS_CODE_SIZE_H_
#define HILO_BACKENDS_CPU_KERNELS_CODE_SIZE_H_

#include <cstdint>

#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// Estimates the number of LLVM operations that an instruction becomes. `by_elements`: an unrolled kernel computes each
// element on its own rather than one vector.
int64_t CodeSize(const HloInstruction& instruction, bool by_elements);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_CODE_SIZE_H_
