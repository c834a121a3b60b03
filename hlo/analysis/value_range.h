// The values that the elements of an array of integers may have, as far as the program states them: indices that come
// from iotas, constants, and the bounds of clamps, minima and remainders.
#ifndef HILO_HLO_ANALYSIS_VALUE_RANGE_H_
#define HILO_HLO_ANALYSIS_VALUE_RANGE_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Both ends are included.
struct ValueRange {
  int64_t first = 0, last = 0;

  bool operator==(const ValueRange&) const = default;
};

// Returns all numbers of a type of integers, or of predicates; nullopt for other types, and for U64.
std::optional<ValueRange> RangeOfType(PrimitiveType type);

// Returns the range of all elements, at most that of the type; of predicates, 0 and 1. Nullopt if the result is no
// array of integers, or one of U64 that may have values beyond those of S64. Looks into fusions, and out of them. The
// time is bounded, whatever the program.
std::optional<ValueRange> ValueRangeOf(const HloInstruction& instruction);

// Returns how many bits, the least significant ones, differ among numbers of a range: those of the two's complement of
// a type of `type_bits` bits.
int64_t DifferentBits(const ValueRange& range, int64_t type_bits);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_VALUE_RANGE_H_
