// The lanes of loops that compute transcendental functions.
#ifndef HILO_BACKENDS_CPU_KERNELS_FUNCTION_LANES_H_
#define HILO_BACKENDS_CPU_KERNELS_FUNCTION_LANES_H_

#include <cstdint>

#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// Returns how many vectors of `width` lanes, which fill a register with the widest type, a loop over rows of `row`
// elements computes together, as one vector that LLVM divides into registers. More than 1 if `instruction`, a kernel,
// computes functions of many elements. A power of two.
int64_t VectorsOfFunctions(const HloInstruction& instruction, int64_t row, int64_t width,
                           const codegen::TargetTraits& target);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_FUNCTION_LANES_H_
