// Which instructions may write their result over an operand.
#ifndef HILO_HLO_ANALYSIS_IN_PLACE_H_
#define HILO_HLO_ANALYSIS_IN_PLACE_H_

#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Result leaf `output` (depth first) may occupy the memory of array operand `operand`, if that operand is not needed
// afterwards.
struct InPlacePair {
  int64_t operand;
  int64_t output;
  // The operation only writes a part of its result (dynamic-update-slice, scatter): sharing saves a copy of the rest.
  bool updates_part;
};

// Element-wise instructions and fusions that read the operand at the very index they write; dynamic-update-slice and
// scatter, also as the root of a fusion that reads the updated operand nowhere else, or only at the place it writes.
std::vector<InPlacePair> InPlacePairs(const HloInstruction& instruction);

// True for instructions whose result leaves are operand leaves, without code: tuple, get-tuple-element, opt-barrier,
// add-dependency, and outside fusions reshape, bitcast and reinterpretations (arrays are row-major).
bool IsForwarding(const HloInstruction& instruction);

// True for a bitcast-convert that cuts elements into parts or joins them, of the same bytes: u64[4] to u32[4,2].
bool IsReinterpretation(const HloInstruction& bitcast_convert);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_IN_PLACE_H_
