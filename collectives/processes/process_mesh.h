// ProcessMesh: processes that are connected to each other, and their runs. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_PROCESS_MESH_H_
#define HILO_COLLECTIVES_PROCESSES_PROCESS_MESH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "collectives/processes/process_run.h"
#include "collectives/processes/transport.h"
#include "hilo/collectives.h"

namespace hilo {

// Runs hold it by a plain pointer, their communicators by a shared one. Thread-safe.
class ProcessMesh : private FrameListener {
 public:
  // The program, and the number among its runs, from 0.
  using RunKey = std::pair<uint64_t, uint64_t>;

  // Connects `members` of the processes that `options` count, as JoinProcesses does. `on_death`, unless it is null, is
  // told of every member that has died or become unreachable, on a thread of the transport.
  static absl::StatusOr<std::shared_ptr<ProcessMesh>> Join(
      const ProcessGroupOptions& options, std::vector<int64_t> members,
      const std::function<absl::Status()>& give_up = nullptr,
      std::function<void(int64_t process, const absl::Status& why)> on_death = nullptr);

  // The next run of the program. Every run must be ended.
  std::shared_ptr<ProcessRun> StartRun(uint64_t program, std::vector<int64_t> process_of_rank, RunKey* key);
  void EndRun(const RunKey& key);
  // Tells the others that this process begins the run (ProcessGroup::Run::begin). They are waited for as long as that
  // has been of use.
  bool Begin(ProcessRun& run);
  // A process is gone, which need not be a member: runs that it takes part in fail as if its connection had ended, and
  // all others, too, as do those that are still to start.
  void Abandon(int64_t process, const absl::Status& why);

  int64_t process() const { return process_; }
  absl::Duration timeout() const { return timeout_; }
  const std::vector<int64_t>& device_counts() const { return device_counts_; }
  std::string transport_name() const { return transport_->name(); }

 private:
  void OnFrame(int64_t process, Frame frame) override;
  void OnGone(int64_t process, const absl::Status& why, bool has_left) override;
  // The run, one that is still to start included; null if it is over.
  std::shared_ptr<ProcessRun> FindLocked(const RunKey& key);

  absl::Duration timeout_;
  int64_t process_ = 0;
  std::vector<int64_t> device_counts_;
  std::function<void(int64_t process, const absl::Status& why)> on_death_;
  std::mutex mutex_;
  std::map<RunKey, std::shared_ptr<ProcessRun>> runs_;
  std::map<uint64_t, uint64_t> next_;  // number of the next run, by program
  std::vector<absl::Status> gone_;     // by process
  absl::Status abandoned_;
  std::atomic<bool> waits_to_begin_{true};
  std::unique_ptr<Transport> transport_;  // destroyed first, as its thread uses the rest
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_PROCESS_MESH_H_
