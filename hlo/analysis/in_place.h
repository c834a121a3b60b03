// Determines which instructions may write their result over an operand.
#ifndef HILO_HLO_ANALYSIS_IN_PLACE_H_
#define HILO_HLO_ANALYSIS_IN_PLACE_H_

#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Result leaf `output` (depth first) may occupy the memory of array operand `operand`, if that operand is not used
// afterwards.
struct InPlacePair {
  int64_t operand;
  int64_t output;
  // The operation writes only a part of its result (dynamic-update-slice, scatter): sharing saves a copy of the rest.
  bool updates_part;
};

// Element-wise instructions and fusions that read the operand at the same index they write; dynamic-update-slice and
// scatter, also as the root of a fusion that reads the updated operand nowhere else, or only at the written index.
std::vector<InPlacePair> InPlacePairs(const HloInstruction& instruction);

// Returns true if `slice` reads of an array just what `update`, a dynamic-update-slice of it, writes.
bool ReadsWrittenWindow(const HloInstruction& slice, const HloInstruction& update);

// True for instructions whose result leaves are operand leaves, without code: tuple, get-tuple-element, opt-barrier,
// add-dependency, and outside fusions reshape, bitcast and reinterpretations (arrays are row-major).
bool IsForwarding(const HloInstruction& instruction);

// True for a bitcast-convert that splits elements into parts or joins them, of the same bytes: u64[4] to u32[4,2].
bool IsReinterpretation(const HloInstruction& bitcast_convert);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_IN_PLACE_H_
