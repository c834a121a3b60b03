// How often loops run whose end shows: those that count from a constant, by a constant, up or down to a constant.
#ifndef HILO_HLO_ANALYSIS_TRIP_COUNT_H_
#define HILO_HLO_ANALYSIS_TRIP_COUNT_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// The turns of a while, however often its condition was asked; nullopt if they do not show, or the condition does more than to tell. Looks through fusions and copies, so that it
// works at every stage.
std::optional<int64_t> TripCount(const HloInstruction& loop);
// Whether the module has loops whose turns do not show, so that a run may last for ever.
bool HasOpenEnd(const HloModule& module);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_TRIP_COUNT_H_
