// Fewer exchanges between devices.
#ifndef HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_
#define HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Makes one all-reduce of several small ones that need not wait for each other; whether there were any.
absl::StatusOr<bool> CombineAllReduces(HloComputation* computation);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_
