// Reductions that choose: argmax and argmin along rows.
#ifndef HILO_BACKENDS_CPU_CHOICE_REDUCTION_H_
#define HILO_BACKENDS_CPU_CHOICE_REDUCTION_H_

#include "backends/cpu/kernels.h"

namespace hilo::cpu {

// True if `reduce` goes along its minor-most dimension alone, over pairs of a value and its position, and its computation does nothing but compare
// and choose, in such a way that the pairs may meet in any order as long as the one that stands first is the first operand.
bool IsChoiceReduction(const HloInstruction& reduce);

// Of such a reduction of rows of at least `width` elements.
absl::StatusOr<Kernel> ChoiceKernel(FunctionEmitter& f, const HloInstruction* instruction, int width);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_CHOICE_REDUCTION_H_
