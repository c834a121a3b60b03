// Inserts copies that make every sharing of memory safe, as a separate stage.
#ifndef HILO_HLO_MEMORY_COPY_INSERTION_H_
#define HILO_HLO_MEMORY_COPY_INSERTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "hilo/host.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Advances a scheduled module to kAliased: afterwards all values that must share memory (a loop's initial value, its
// parameter, its next value and its result; a conditional's result and its branches' results; outputs and the entry's
// root) can do so without destroying each other. First every such value gets a separate copy; then copies whose
// source and target do not interfere are removed again. The schedule is updated. While and conditional
// computations must each have one caller (hlo/passes/flatten_call_graph.cc).
//
// A result of a loop of at most `loop_local_bytes` that is a result of the program is copied after the loop rather than
// kept in the memory of the program's result: a backend can then keep it in registers.
//
// `cancellation` may be null. Errors: Cancelled, DeadlineExceeded.
absl::Status InsertCopies(HloModule* module, int64_t loop_local_bytes = 0,
                          const CancellationToken* cancellation = nullptr);

// Copies each array of at least `min_bytes` of a scheduled module's entry that is a parameter, is not donated, and
// would be updated in place by a kernel that threads do not share: the update would copy it, on one thread.
// InsertCopies keeps such copies.
void CopyUpdatedParameters(HloModule* module, int64_t min_bytes);

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_COPY_INSERTION_H_
