// Adds up before values are exchanged, instead of afterwards.
#ifndef HILO_HLO_PASSES_PARTITION_SUM_BEFORE_EXCHANGE_H_
#define HILO_HLO_PASSES_PARTITION_SUM_BEFORE_EXCHANGE_H_

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Makes sums of all-reduces, and of reduce-scatters, those of sums; returns whether there were any.
absl::StatusOr<bool> SumBeforeExchange(HloComputation* computation);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SUM_BEFORE_EXCHANGE_H_
