// The work of a collective whose ranks are in several processes. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_REMOTE_WORK_H_
#define HILO_COLLECTIVES_PROCESSES_REMOTE_WORK_H_

#include <cstdint>

#include "collectives/processes/process_run.h"
#include "collectives/rendezvous_communicator.h"

namespace hilo {

// Performs the whole collective: exchanges contributions with the other processes of the group, and gives
// the ranks of this process their results. `arrivals` are of the ranks of `group` that are in this
// process, in its order; `worker` is the rank on whose thread this runs.
absl::Status ExchangeBetweenProcesses(ProcessRun& run, absl::Span<const int64_t> group, Arrivals arrivals,
                                      const Contribution& worker);

// Identifies a group in frames.
uint64_t GroupHash(absl::Span<const int64_t> group);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_REMOTE_WORK_H_
