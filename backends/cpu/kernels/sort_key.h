// Sorts whose order is that of unsigned keys.
#ifndef HILO_BACKENDS_CPU_KERNELS_SORT_KEY_H_
#define HILO_BACKENDS_CPU_KERNELS_SORT_KEY_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

struct SortKey {
  const HloInstruction* expression;  // of parameter 2 * array, an element of this array
  int64_t array;
  PrimitiveType type;  // that is compared
  bool descending;

  // The bits of the unsigned number: floats narrower than F32 are compared as such.
  int64_t bits() const;
};

// Returns the keys, the most significant first, if `comparison` compares the same expressions of both elements in total
// orders, each one where those before are equal:
//   x0 < y0 || (x0 == y0 && (x1 < y1 || ...))
// Returns none for other comparisons.
std::vector<SortKey> SortKeysOf(const HloComputation& comparison);

// Returns keys [begin, end) of those as ranges that fit into 64 bits, the most significant first.
struct SortKeyRange {
  size_t begin, end;
  int64_t bits;
};
std::vector<SortKeyRange> WordsOf(const std::vector<SortKey>& keys);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_SORT_KEY_H_
