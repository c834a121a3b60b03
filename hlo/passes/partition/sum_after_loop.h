// Adds up in loops before values are exchanged, instead of in each iteration.
#ifndef HILO_HLO_PASSES_PARTITION_SUM_AFTER_LOOP_H_
#define HILO_HLO_PASSES_PARTITION_SUM_AFTER_LOOP_H_

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Moves all-reduces whose sum a loop of the computation carries behind the loop; returns whether there were any.
absl::StatusOr<bool> SumAfterLoops(HloComputation* computation);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SUM_AFTER_LOOP_H_
