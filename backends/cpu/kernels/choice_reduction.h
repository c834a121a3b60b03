// Reductions that choose: argmax and argmin along rows.
#ifndef HILO_BACKENDS_CPU_KERNELS_CHOICE_REDUCTION_H_
#define HILO_BACKENDS_CPU_KERNELS_CHOICE_REDUCTION_H_

#include "backends/cpu/kernels/kernels.h"

namespace hilo::cpu {

// Of an IsChoiceReduction() of rows of at least `width` elements.
absl::StatusOr<Kernel> ChoiceKernel(FunctionEmitter& f, const HloInstruction* instruction, int width);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_CHOICE_REDUCTION_H_
