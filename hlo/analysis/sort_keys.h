// The keys of a comparator that compares several, one after the other, as in a sort of pairs:
//
//   less = a0 < b0 or (a0 == b0 and a1 < b1)
#ifndef HILO_HLO_ANALYSIS_SORT_KEYS_H_
#define HILO_HLO_ANALYSIS_SORT_KEYS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_computation.h"

namespace hilo {

struct SortKey {
  const HloInstruction* less = nullptr;  // compares the elements of one array: with LT or GT
  int64_t array = 0;                     // the number of that array among the sort's operands
};

// Returns the keys that `comparator` compares, the most significant one first; empty: it is not of this form. Floats
// are compared in their total order, so that a stable sort by the last key, then by the one before it and so on up to
// the first is the stable sort by all of them.
std::vector<SortKey> SortKeysOf(const HloComputation& comparator);

// Returns true if `a` is a function of parameter 2j and `b` is the same function of parameter 2j + 1, made of
// element-wise operations on scalars; `array`: j.
bool AreTwins(const HloInstruction* a, const HloInstruction* b, int64_t* array);

// Returns true for a sort of one long list by several keys: its expansion sorts by one key after the other.
bool IsListByKeys(const HloInstruction& sort);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_SORT_KEYS_H_
