// Splits rows so that each segment reads from one operand.
#ifndef HILO_BACKENDS_CPU_KERNELS_ROW_SEGMENTS_H_
#define HILO_BACKENDS_CPU_KERNELS_ROW_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// More segments than this cost more code than they save in time.
inline constexpr int64_t kMaxRowSegments = 9;

// Returns positions 0 = p0 < p1 ... < pn = `row` along the dimension of `roots` that is `behind` positions before the
// minor-most one (all of which have that length). Within a segment [p_i, p_i+1), every concatenation and padding along
// that dimension that the roots read element for element takes its elements from one operand, so that the loop over the
// segment has no selects and no masks.
std::vector<int64_t> RowSegments(absl::Span<const HloInstruction* const> roots, int64_t row, int64_t behind = 0);

// Returns true if elements of some operand alternate with padding along rows of that length: which lanes of a vector
// are elements is known at compile time if the vectors of each segment, though it may be the only one, begin at
// multiples of the width.
bool HasPaddedPattern(absl::Span<const HloInstruction* const> roots, int64_t row);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_ROW_SEGMENTS_H_
