// Arrays whose elements are adjacent elements of another array.
#ifndef HILO_HLO_ANALYSIS_CONTIGUOUS_VIEW_H_
#define HILO_HLO_ANALYSIS_CONTIGUOUS_VIEW_H_

#include <cstdint>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Returns true for a slice or dynamic-slice whose elements are adjacent in its operand, such as that of a layer of
// stacked weights. Arrays are row-major.
bool IsContiguousSlice(const HloInstruction& instruction);

// Returns true for contiguous slices and for reshapes of them.
bool IsContiguousView(const HloInstruction& instruction);

// Returns the most elements of which each group of adjacent ones of a gather, beginning at a multiple of their number,
// is such a group of its operand: those of a line of a table, or of a page. Arrays are row-major.
int64_t GatheredLine(const HloInstruction& gather);
// The same of a slice, such as a third of the lines of an array; 1 if it leaves out elements between others.
int64_t SlicedLine(const HloInstruction& slice);

// Returns true if a fusion computes nothing but a dot, of arrays and contiguous views of arrays, or if the instruction
// is a dot.
bool IsDotOfViews(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_CONTIGUOUS_VIEW_H_
