// Sorts whose order is that of an unsigned key.
#ifndef HILO_BACKENDS_CPU_KERNELS_SORT_KEY_H_
#define HILO_BACKENDS_CPU_KERNELS_SORT_KEY_H_

#include <optional>

#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

struct SortKey {
  const HloInstruction* expression;  // of parameter 0
  PrimitiveType type;                // that is compared
  bool is_float, is_signed, descending;
};

// Returns the key if `comparison` only compares the same expression of both elements of the first array, in a total
// order.
std::optional<SortKey> SortKeyOf(const HloComputation& comparison);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_SORT_KEY_H_
