#include "collectives/process_group.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/sha256.h"
#include "collectives/join_processes.h"
#include "collectives/meeting_communicator.h"
#include "collectives/process_run.h"
#include "collectives/remote_work.h"
#include "collectives/sockets.h"
#include "collectives/transport.h"
#include "hilo/status_macros.h"

namespace hilo {

namespace {

constexpr int64_t kMaxProcesses = 4096;

uint64_t Digest64(absl::string_view text) {
  const Sha256::Digest digest = Sha256::Of(text);
  return ByteReader(DigestBytes(digest), "digest").U64();
}

}  // namespace

// Runs hold it by a plain pointer, their communicators by a shared one.
class ProcessGroup::Core : public FrameListener {
 public:
  // Runs of one program are numbered from 0.
  using RunKey = std::pair<uint64_t, uint64_t>;

  static absl::StatusOr<std::shared_ptr<Core>> Join(const ProcessGroupOptions& options) {
    auto core = std::make_shared<Core>();
    core->timeout_ = options.timeout;
    core->process_ = options.process_id;
    core->gone_.resize(options.process_count);
    HILO_ASSIGN_OR_RETURN(JoinedProcesses joined, JoinProcesses(options));
    core->device_counts_ = std::move(joined.device_counts);
    core->transport_ = std::move(joined.transport);
    HILO_RETURN_IF_ERROR(core->transport_->Start(core.get()));
    return core;
  }

  void OnFrame(int64_t process, Frame frame) override {
    std::shared_ptr<ProcessRun> run;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      run = FindLocked({frame.header().program, frame.header().run});
    }
    if (run != nullptr) run->OnFrame(process, std::move(frame));
  }
  void OnGone(int64_t process, const absl::Status& why) override {
    std::vector<std::shared_ptr<ProcessRun>> runs;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      gone_[process] = why;
      for (const auto& [key, run] : runs_) runs.push_back(run);
    }
    for (const auto& run : runs) run->OnGone(process, why);
  }

  std::shared_ptr<ProcessRun> StartRun(uint64_t program, std::vector<int64_t> process_of_rank, RunKey* key) {
    std::shared_ptr<ProcessRun> run;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      *key = {program, next_[program]};
      run = FindLocked(*key);
      ++next_[program];
    }
    run->Start(process_of_rank);
    std::vector<absl::Status> gone;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      gone = gone_;
    }
    for (size_t process = 0; process < gone.size(); ++process) {
      const bool takes_part = std::find(process_of_rank.begin(), process_of_rank.end(),
                                        static_cast<int64_t>(process)) != process_of_rank.end();
      if (takes_part && !gone[process].ok()) run->OnGone(static_cast<int64_t>(process), gone[process]);
    }
    return run;
  }
  void EndRun(const RunKey& key) {
    std::shared_ptr<ProcessRun> run;  // destroyed without the lock
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = runs_.find(key);
    if (found == runs_.end()) return;
    run = std::move(found->second);
    runs_.erase(found);
  }

  // The others are waited for as long as that has been of use.
  bool Begin(ProcessRun& run) {
    const bool begun = run.Begin(waits_to_begin_);
    waits_to_begin_ = begun;
    return begun;
  }

  int64_t process() const { return process_; }
  absl::Duration timeout() const { return timeout_; }
  const std::vector<int64_t>& device_counts() const { return device_counts_; }
  std::string transport_name() const { return transport_->name(); }

 private:
  // The run, one that is still to start included; null if it is over.
  std::shared_ptr<ProcessRun> FindLocked(const RunKey& key) {
    const auto found = runs_.find(key);
    if (found != runs_.end()) return found->second;
    if (key.second < next_[key.first]) return nullptr;
    return runs_[key] = std::make_shared<ProcessRun>(transport_.get(), process_, key.first, key.second);
  }

  absl::Duration timeout_;
  int64_t process_ = 0;
  std::vector<int64_t> device_counts_;
  std::mutex mutex_;
  std::map<RunKey, std::shared_ptr<ProcessRun>> runs_;
  std::map<uint64_t, uint64_t> next_;  // number of the next run, by program
  std::vector<absl::Status> gone_;     // by process
  std::atomic<bool> waits_to_begin_{true};
  std::unique_ptr<Transport> transport_;  // destroyed first, as its thread uses the rest
};

namespace {

// Ends the run in the core when the last communicator is gone.
struct RunHandle {
  std::shared_ptr<ProcessGroup::Core> core;
  std::shared_ptr<ProcessRun> run;
  std::pair<uint64_t, uint64_t> key;
  ~RunHandle() { core->EndRun(key); }
};

class CrossProcessCommunicator : public MeetingCommunicator {
 public:
  CrossProcessCommunicator(std::shared_ptr<RunHandle> handle, int64_t rank)
      : handle_(std::move(handle)), run_(*handle_->run), rank_(rank) {}
  ~CrossProcessCommunicator() override { Finish(FailedPrecondition("rank ", rank_, " has left its run")); }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return run_.size(); }

  absl::Status Send(const CollectiveCall& given, const void* data, int64_t bytes, int64_t target) override {
    const CollectiveCall call = Limited(given);
    const absl::string_view text(static_cast<const char*>(data), bytes);
    return Ended(call, IsElsewhere(target) ? run_.SendMessage(rank_, call, text, target)
                                           : run_.local().Send(rank_, call, target, std::string(text)));
  }

  absl::Status Receive(const CollectiveCall& given, void* data, int64_t bytes, int64_t source) override {
    const CollectiveCall call = Limited(given);
    return Ended(call, IsElsewhere(source) ? run_.ReceiveMessage(rank_, call, data, bytes, source)
                                           : run_.local().ReceiveInto(rank_, call, source, data, bytes));
  }

  absl::Status failure() const override { return run_.failure(); }

  void Finish(const absl::Status& status) override {
    if (std::exchange(finished_, true)) return;
    if (status.ok()) {
      run_.Finish(rank_);
    } else {
      run_.Fail(status);
    }
  }

 protected:
  absl::Status Meet(Contribution& contribution) override {
    const CollectiveCall& given = *contribution.call;
    if (absl::Status status = CheckCall(given, rank_, size()); !status.ok()) return Ended(given, status);
    const std::vector<int64_t> group(given.group.begin(), given.group.end());
    std::vector<int64_t> here;
    for (int64_t rank : group) {
      if (run_.process_of(rank) == run_.process()) here.push_back(rank);
    }
    CollectiveCall call = Limited(given);
    const std::string name = absl::StrCat(given.name, " (number ", ++numbers_[GroupHash(group)], ")");
    call.name = name;
    call.group = here;
    contribution.call = &call;
    if (here.size() == group.size()) {
      return Ended(call, run_.local().Meet(rank_, contribution, [kind = contribution.kind](Arrivals arrivals) {
        return LocalWork(kind, arrivals);
      }));
    }
    absl::StrAppend(&contribution.signature, ", in ", GroupText(group));
    return Ended(call, run_.local().Meet(rank_, contribution, [&](Arrivals arrivals) -> absl::StatusOr<CollectiveWork> {
      // The group is the same for all, by the signature.
      return CollectiveWork{.parts = 1, .run = [&run = run_, arrivals, group](int64_t, const Arrival& worker) {
                              return ExchangeBetweenProcesses(run, group, arrivals,
                                                              static_cast<const Contribution&>(worker));
                            }};
    }));
  }
  absl::Status Refuse(const absl::Status& error) override {
    run_.Fail(error);
    return error;
  }

 private:
  bool IsElsewhere(int64_t rank) const { return rank >= 0 && rank < size() && run_.process_of(rank) != run_.process(); }

  CollectiveCall Limited(const CollectiveCall& given) const {
    CollectiveCall call = given;
    call.deadline = std::min(call.deadline, absl::Now() + handle_->core->timeout());
    return call;
  }

  // An error of one rank is an error of all, and states this rank's position.
  absl::Status Ended(const CollectiveCall& call, const absl::Status& status) {
    if (status.ok()) return status;
    run_.Fail(status);
    if (absl::StartsWith(status.message(), call.name)) return status;
    return absl::Status(status.code(), absl::StrCat(call.name, ": ", status.message()));
  }

  const std::shared_ptr<RunHandle> handle_;
  ProcessRun& run_;
  const int64_t rank_;
  bool finished_ = false;
  std::map<uint64_t, int64_t> numbers_;  // of collectives, by group
};

}  // namespace

absl::StatusOr<std::shared_ptr<ProcessGroup>> ProcessGroup::Join(const ProcessGroupOptions& options) {
  if (options.process_count < 1 || options.process_count > kMaxProcesses)
    return InvalidArgument("process_count: expected 1 to ", kMaxProcesses, ", got ", options.process_count);
  if (options.process_id < 0 || options.process_id >= options.process_count)
    return InvalidArgument("process_id: expected a number below process_count = ", options.process_count, ", got ",
                           options.process_id);
  if (options.store == nullptr) return InvalidArgument("a group of processes needs a store, but got null");
  if (options.name.empty() || options.name.size() > 200)
    return InvalidArgument("the name of a group has 1 to 200 bytes, not ", options.name.size());
  if (options.timeout <= absl::ZeroDuration()) return InvalidArgument("timeout: expected more than nothing");
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<Core> core, Core::Join(options));
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(std::move(core)));
}

ProcessGroup::~ProcessGroup() = default;

int64_t ProcessGroup::process_id() const { return core_->process(); }
int64_t ProcessGroup::process_count() const { return static_cast<int64_t>(core_->device_counts().size()); }
absl::Span<const int64_t> ProcessGroup::device_counts() const { return core_->device_counts(); }
std::string ProcessGroup::transport_name() const { return core_->transport_name(); }

ProcessGroup::Run ProcessGroup::StartRun(absl::Span<const int> devices, std::vector<int64_t> process_of_rank) {
  const uint64_t program =
      Digest64(absl::StrCat(absl::StrJoin(devices, ","), ";", absl::StrJoin(process_of_rank, ",")));
  auto handle = std::make_shared<RunHandle>();
  handle->core = core_;
  handle->run = core_->StartRun(program, process_of_rank, &handle->key);
  Run run;
  run.begin = [core = core_.get(), run = handle->run.get()] { return core->Begin(*run); };
  run.id = static_cast<int64_t>(Digest64(absl::StrCat(program, " ", handle->key.second)) >> 1);
  for (size_t rank = 0; rank < process_of_rank.size(); ++rank) {
    if (process_of_rank[rank] == core_->process())
      run.communicators.push_back(std::make_unique<CrossProcessCommunicator>(handle, static_cast<int64_t>(rank)));
  }
  return run;
}

absl::StatusOr<ProcessGroupOptions> ProcessGroupOptionsFrom(const LaunchEnvironment& launch) {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<KeyValueStore> store,
                        OpenStore(launch.coordinator, launch.token, launch.rank == 0));
  ProcessGroupOptions options{.process_id = launch.rank, .process_count = launch.world_size, .store = std::move(store)};
  if (const char* host = std::getenv("HILO_HOST"); host != nullptr) {
    options.host = host;
  } else if (const auto endpoint = ParseEndpoint(launch.coordinator); endpoint.ok() && !IsLoopback(endpoint->host)) {
    HILO_ASSIGN_OR_RETURN(options.host, AddressTowards(*endpoint));
  }
  return options;
}

void ProcessGroup::Forget(std::shared_ptr<ProcessGroup> group) { new std::shared_ptr<ProcessGroup>(std::move(group)); }

}  // namespace hilo
