// ProcessGroup: several processes, on one machine or more, whose devices run programs together.
#ifndef HILO_COLLECTIVES_PROCESSES_PROCESS_GROUP_H_
#define HILO_COLLECTIVES_PROCESSES_PROCESS_GROUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "collectives/communicator.h"
#include "hilo/collectives.h"

namespace hilo {

class LiveProcesses;
class ProcessMesh;

// Every pair of processes has a connection, and those of one host share memory. A process that dies, leaves or becomes
// unreachable ends the runs that it participates in, with an error in all others; the group remains usable
// for runs of the remaining processes, and of those that come back. Thread-safe.
class ProcessGroup {
 public:
  // Returns when all have joined; at once if this process returns (ProcessGroupOptions::may_return). Errors:
  // InvalidArgument for options out of range; DeadlineExceeded, naming the processes that are missing;
  // FailedPrecondition if the name is already used, and if a process returns with another number of devices;
  // Unavailable.
  static absl::StatusOr<std::shared_ptr<ProcessGroup>> Join(const ProcessGroupOptions& options);
  ~ProcessGroup();

  int64_t process_id() const;
  int64_t process_count() const;
  // By process.
  absl::Span<const int64_t> device_counts() const;
  // What carries data between the processes, for messages: "shared memory", "TCP", or how many use which.
  std::string transport_name() const;

  struct Run {
    int64_t id = 0;  // the same in all processes
    // One per rank of this process, in order. They work as those of one process do
    // (collectives/communicator.h), and give the same bits. One that is destroyed without Finish fails.
    std::vector<std::unique_ptr<Communicator>> communicators;
    // Tells the other processes that this one begins the run now, and returns whether all of them have begun it, too:
    // a collective of the run need not wait for a process that may come much later. Waits 0.1 ms at most, and
    // returns false where it cannot be known as soon. While a communicator lives.
    std::function<bool()> begin;
  };
  // The next run on `devices`, one device per rank; `process_of_rank` has the process of each.
  // Processes count their runs on the same devices: runs of equal number belong together. A rank that
  // starts early waits in its first collective. A call that fails names the op, its number among
  // those of the run on its group, and the ranks that are missing or disagree. With `live`
  // (ExecuteOptions::processes) runs are counted, and processes connected, for each such agreement: the first run of a
  // set of processes waits until all of them start it. Errors: FailedPrecondition without `live` if this process has
  // returned; with it InvalidArgument if it lacks a process of the run, Unavailable if one of it is gone, those of
  // Join.
  absl::StatusOr<Run> StartRun(absl::Span<const int> devices, std::vector<int64_t> process_of_rank,
                               absl::Span<const ProcessIncarnation> live = {});
  // As Client::UpdateProcesses.
  void Update(absl::Span<const ProcessState> states);

  // For a forked child, in which the threads of the group do not exist: drops it.
  static void Forget(std::shared_ptr<ProcessGroup> group);

 private:
  ProcessGroup() = default;

  int64_t process_ = 0;
  std::vector<int64_t> device_counts_;
  std::shared_ptr<ProcessMesh> mesh_;  // of all processes; null: this one has returned
  std::unique_ptr<LiveProcesses> live_;
};

// ProcessGroupOptions::host: HILO_HOST, else the address that this machine has towards the coordinator, HOST:PORT;
// empty if that is this machine's loopback interface, or no such address. Errors: Unavailable if there is no way to it.
absl::StatusOr<std::string> OwnHost(absl::string_view coordinator);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_PROCESS_GROUP_H_
