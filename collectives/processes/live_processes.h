// LiveProcesses: connects those of the processes of a group that live, when some have gone or have come back. Private
// to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_LIVE_PROCESSES_H_
#define HILO_COLLECTIVES_PROCESSES_LIVE_PROCESSES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectives/processes/process_mesh.h"
#include "hilo/collectives.h"

namespace hilo {

// Processes agree on who lives, outside of here, and then run programs under that agreement until they make the next.
// Each set of processes that run a program together under an agreement connects at the first such run. Connections
// are not used across agreements, so what one process still sends under an earlier agreement reaches no run of a later
// one, and processes need not have started the same number of runs. When a process of the agreement dies, all runs
// under it fail: one process may have seen a run succeed that failed in another, and wait in the next for one that
// never starts it. One that merely leaves a mesh, as all do on their way to the next agreement, fails only runs that it
// takes part in. Thread-safe.
class LiveProcesses {
 public:
  // `options` are those of the group.
  explicit LiveProcesses(const ProcessGroupOptions& options) : options_(options) {}

  // The mesh of `members`, in order, under the agreement that `agreed` live. Every member makes this call; it waits for
  // the others the first time. Errors: InvalidArgument unless the members are among those; Unavailable if one of those
  // is gone; those of ProcessMesh::Join.
  absl::StatusOr<std::shared_ptr<ProcessMesh>> MeshOf(absl::Span<const ProcessIncarnation> agreed,
                                                      const std::vector<int64_t>& members);
  // Runs under an agreement with a process that is gone, or that has come back with another incarnation, fail.
  void Update(absl::Span<const ProcessState> states);

 private:
  class Agreement;
  using Incarnations = std::map<int64_t, uint64_t>;  // by process

  const ProcessGroupOptions options_;
  std::mutex joining_;  // held while a mesh is made
  std::mutex mutex_;    // guards the rest
  std::shared_ptr<Agreement> agreement_;
  Incarnations last_;                                          // as Update was told last
  std::map<std::pair<int64_t, uint64_t>, absl::Status> gone_;  // by process and incarnation
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_LIVE_PROCESSES_H_
