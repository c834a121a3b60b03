// Arrays of integers that are an affine function of their own index, as those that a program makes of iotas to gather
// windows: x[i + j].
#ifndef HILO_HLO_ANALYSIS_AFFINE_INDEX_H_
#define HILO_HLO_ANALYSIS_AFFINE_INDEX_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/analysis/value_range.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// The element at an index is `offset` and the sum of each dimension's index times its coefficient.
struct AffineIndex {
  int64_t offset = 0;
  std::vector<int64_t> coefficients;  // one a dimension, 0 where its size is 1
  ValueRange range;                   // of all elements

  bool operator==(const AffineIndex&) const = default;
};

// Returns what the elements are if iotas and constants, added, multiplied and broadcast, state it, and nothing wraps
// around on the way. The time is bounded, whatever the program.
std::optional<AffineIndex> AffineIndexOf(const HloInstruction& x);

// Returns the same of each component of the start indices of a gather whose slices are all inside of the operand:
// nothing is clamped. A component's index has the dimensions of the starts without the one of the components.
std::optional<std::vector<AffineIndex>> AffineStartsOf(const HloInstruction& gather);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_AFFINE_INDEX_H_
