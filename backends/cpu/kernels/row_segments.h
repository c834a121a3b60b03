// Where rows are best cut so that each part reads from one place.
#ifndef HILO_BACKENDS_CPU_KERNELS_ROW_SEGMENTS_H_
#define HILO_BACKENDS_CPU_KERNELS_ROW_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// Positions 0 = p0 < p1 ... < pn = `row` along the minor-most dimension of `roots` (which all have rows of that
// length). Within a segment [p_i, p_i+1) every concatenation and padding along that dimension, which the roots read
// element for element, takes its elements from one operand, so that nothing is asked and nothing is masked in the loop
// over it.
std::vector<int64_t> RowSegments(absl::Span<const HloInstruction* const> roots, int64_t row);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_ROW_SEGMENTS_H_
