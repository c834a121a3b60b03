// Makes the transport between the processes of a group. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_JOIN_PROCESSES_H_
#define HILO_COLLECTIVES_PROCESSES_JOIN_PROCESSES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectives/processes/transport.h"
#include "hilo/collectives.h"

namespace hilo {

enum class TransportChoice { kAuto, kSharedMemory, kTcp, kMpi };
// Of ProcessGroupOptions::transport; empty is kAuto. Errors: InvalidArgument, listing the names.
absl::StatusOr<TransportChoice> TransportChoiceOf(absl::string_view name);

struct JoinedProcesses {
  std::unique_ptr<Transport> transport;
  std::vector<int64_t> device_counts;  // by process; 0: no member
};

// Connects `members` of the processes that `options` count, this one among them, in order. Returns when all are
// connected. An error of `give_up`, unless that is null, ends the wait. Errors: InvalidArgument for an unknown
// transport; FailedPrecondition if processes that must share memory, or an MPI job, do not, naming them; those of
// ConnectProcesses and MpiLibrary::Get.
absl::StatusOr<JoinedProcesses> JoinProcesses(const ProcessGroupOptions& options, std::vector<int64_t> members,
                                              const std::function<absl::Status()>& give_up = nullptr);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_JOIN_PROCESSES_H_
