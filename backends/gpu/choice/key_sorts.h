// Sorts by several keys.
#ifndef HILO_BACKENDS_GPU_CHOICE_KEY_SORTS_H_
#define HILO_BACKENDS_GPU_CHOICE_KEY_SORTS_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns true for a sort of a list by several keys that is faster by digits of one key after the other than by merges:
// it is expanded to a sort by each.
bool IsSortedByEachKey(const HloInstruction& sort);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CHOICE_KEY_SORTS_H_
