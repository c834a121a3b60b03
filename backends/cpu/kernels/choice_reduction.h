// Reductions that select an element: argmax and argmin along rows.
#ifndef HILO_BACKENDS_CPU_KERNELS_CHOICE_REDUCTION_H_
#define HILO_BACKENDS_CPU_KERNELS_CHOICE_REDUCTION_H_

#include "backends/cpu/kernels/kernels.h"

namespace hilo::cpu {

// Makes the kernel of an IsChoiceReduction() over rows of at least `width` elements.
absl::StatusOr<Kernel> ChoiceKernel(FunctionEmitter& f, const HloInstruction* instruction, int width);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_CHOICE_REDUCTION_H_
