// Combines small exchanges between devices.
#ifndef HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_
#define HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Merges small independent all-reduces into one; returns whether there were any.
absl::StatusOr<bool> CombineAllReduces(HloComputation* computation);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_
