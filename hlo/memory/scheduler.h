// Computes a total order of instructions for every computation that runs instruction by instruction.
#ifndef HILO_HLO_MEMORY_SCHEDULER_H_
#define HILO_HLO_MEMORY_SCHEDULER_H_

#include "absl/status/status.h"
#include "hilo/host.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Fills module->schedule() for the entry and for all computations that control flow reaches (not for fused and embedded
// ones). Operands and control predecessors come first. Where the order is free, readers of an array come before the
// instruction that could overwrite it in place (dynamic-update-slice, scatter, the next value of a loop-carried array).
// The order of a module with is_scheduled is ignored: the passes before have rewritten it. `cancellation` may be null.
// Errors: ResourceExhausted if loops and conditionals are nested more than 500 deep; Cancelled, DeadlineExceeded.
absl::Status ScheduleModule(HloModule* module, const CancellationToken* cancellation = nullptr);

// The computations with a schedule, callees first: entry, while conditions and bodies, branches, called computations.
absl::StatusOr<std::vector<HloComputation*>> SequentialComputations(const HloModule& module);

// Those of them that have memory of their own: the entry and called computations.
absl::StatusOr<std::vector<HloComputation*>> ScopesOf(const HloModule& module);

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_SCHEDULER_H_
