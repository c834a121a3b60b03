// Transposes that loops over tiles compute, and what keeps them from it.
#ifndef HILO_HLO_PASSES_DIMENSIONS_TRANSPOSE_TILES_H_
#define HILO_HLO_PASSES_DIMENSIONS_TRANSPOSE_TILES_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Returns true if loops over tiles cannot compute the producer together with `user`: one of them is a transpose, and
// the other moves elements otherwise. Tiles read slices, reversals and paddings; a user that leaves out most of the
// producer does not count.
bool PreventsTiles(const HloInstruction& producer, const HloInstruction& user);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DIMENSIONS_TRANSPOSE_TILES_H_
