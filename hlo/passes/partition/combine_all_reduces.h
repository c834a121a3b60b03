// Fewer exchanges between partitions.
#ifndef HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_
#define HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_

#include "absl/status/status.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Makes one all-reduce of several small ones that need not wait for each other.
absl::Status CombineAllReduces(HloComputation* computation);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_COMBINE_ALL_REDUCES_H_
