// Reductions that select an element: argmax and argmin along rows.
#ifndef HILO_BACKENDS_CPU_KERNELS_ARG_REDUCTION_H_
#define HILO_BACKENDS_CPU_KERNELS_ARG_REDUCTION_H_

#include "backends/cpu/kernels/kernels.h"

namespace hilo::cpu {

// Makes the kernel of an IsArgReduction() over rows of at least `width` elements.
absl::StatusOr<Kernel> ArgReductionKernel(FunctionEmitter& f, const HloInstruction* instruction, int width);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_ARG_REDUCTION_H_
