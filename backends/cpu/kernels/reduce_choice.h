// Which reductions are short.
#ifndef HILO_BACKENDS_CPU_KERNELS_REDUCE_CHOICE_H_
#define HILO_BACKENDS_CPU_KERNELS_REDUCE_CHOICE_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// Returns true if each result of `reduce` combines so few elements that lanes are best used for neighboring results,
// each with its own elements: loops that read it can then treat it as an element-wise operation. Fusion uses it too.
bool IsShortReduction(const HloInstruction& reduce);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_REDUCE_CHOICE_H_
