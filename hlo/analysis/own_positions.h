// Scatters of which no two updates have the same indices, because these contain the position of the update, as in
// x.at[arange(n), y].add(z).
#ifndef HILO_HLO_ANALYSIS_OWN_POSITIONS_H_
#define HILO_HLO_ANALYSIS_OWN_POSITIONS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// A dimension of a scatter's indices along which an element of the index vectors is the position.
struct OwnPosition {
  int64_t dimension;  // of the indices
  int64_t element;    // of the index vector, by its number
};

// Returns one for each dimension of more than one index vector, in ascending order of dimensions; empty if some
// dimension has none, or if there is a single index vector.
std::vector<OwnPosition> OwnPositionsOf(const HloInstruction& scatter);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_OWN_POSITIONS_H_
