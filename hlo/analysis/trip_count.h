// The trip count of counted loops: a counter that goes from a constant, by a constant, up or down to a constant; and
// its maximum if the condition asks for more, as of solvers that converge.
#ifndef HILO_HLO_ANALYSIS_TRIP_COUNT_H_
#define HILO_HLO_ANALYSIS_TRIP_COUNT_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// The trip count of a while; nullopt if it cannot be derived, or if the condition has side effects. Looks
// through fusions and copies, so that it works at every stage. The time is bounded, whatever the program.
std::optional<int64_t> TripCount(const HloInstruction& loop);
// The most iterations that a while can run: a loop whose condition is a conjunction ends when one part is false.
// Nullopt if no part counts.
std::optional<int64_t> MaxTripCount(const HloInstruction& loop);
// Returns true if the module has loops whose maximum cannot be derived, so that a run may not terminate.
bool HasOpenEnd(const HloModule& module);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_TRIP_COUNT_H_
