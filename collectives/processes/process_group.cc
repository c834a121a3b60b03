#include "collectives/processes/process_group.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/log_sink.h"
#include "base/sha256.h"
#include "collectives/processes/connect_processes.h"
#include "collectives/processes/live_processes.h"
#include "collectives/processes/process_mesh.h"
#include "collectives/processes/process_run.h"
#include "collectives/processes/remote_work.h"
#include "collectives/processes/sockets.h"
#include "collectives/rendezvous_communicator.h"
#include "hilo/status_macros.h"

namespace hilo {

namespace {

constexpr int64_t kMaxProcesses = 4096;

uint64_t Digest64(absl::string_view text) {
  const Sha256::Digest digest = Sha256::Of(text);
  return ByteReader(DigestBytes(digest), "digest").U64();
}

// Ends the run in the mesh when the last communicator is gone.
struct RunHandle {
  std::shared_ptr<ProcessMesh> mesh;
  std::shared_ptr<ProcessRun> run;
  ProcessMesh::RunKey key;
  ~RunHandle() {
    if (run != nullptr) mesh->EndRun(key);
  }
};

class CrossProcessCommunicator : public RendezvousCommunicator {
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
  absl::Status Join(Contribution& contribution) override {
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
      return Ended(call, run_.local().Join(rank_, contribution, [kind = contribution.kind](Arrivals arrivals) {
        return LocalWork(kind, arrivals);
      }));
    }
    absl::StrAppend(&contribution.signature, ", in ", GroupText(group));
    return Ended(call, run_.local().Join(rank_, contribution, [&](Arrivals arrivals) -> absl::StatusOr<CollectiveWork> {
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
    call.deadline = std::min(call.deadline, absl::Now() + handle_->mesh->timeout());
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
  auto group = std::shared_ptr<ProcessGroup>(new ProcessGroup);
  group->process_ = options.process_id;
  group->live_ = std::make_unique<LiveProcesses>(options);
  bool returns = false;
  if (options.may_return) {
    HILO_ASSIGN_OR_RETURN(returns, HasJoined(*options.store, options.name, options.process_id));
  }
  if (!returns) {
    std::vector<int64_t> members(options.process_count);
    std::iota(members.begin(), members.end(), 0);
    HILO_ASSIGN_OR_RETURN(group->mesh_, ProcessMesh::Join(options, std::move(members)));
    group->device_counts_ = group->mesh_->device_counts();
    return group;
  }
  HILO_ASSIGN_OR_RETURN(group->device_counts_, ReadAnnouncements(*options.store, options.name, options.process_count,
                                                                 absl::Now() + options.timeout));
  if (const int64_t before = group->device_counts_[options.process_id]; before != options.device_count)
    return FailedPrecondition("process ", options.process_id, " returns to the group '", options.name, "' with ",
                              options.device_count, " devices; it had ", before);
  LogInfo("process ", options.process_id, " returns to the group '", options.name, "'");
  return group;
}

ProcessGroup::~ProcessGroup() = default;

int64_t ProcessGroup::process_id() const { return process_; }
int64_t ProcessGroup::process_count() const { return static_cast<int64_t>(device_counts_.size()); }
absl::Span<const int64_t> ProcessGroup::device_counts() const { return device_counts_; }
std::string ProcessGroup::transport_name() const {
  return mesh_ == nullptr ? "none, as this process has returned" : mesh_->transport_name();
}

absl::StatusOr<ProcessGroup::Run> ProcessGroup::StartRun(absl::Span<const int> devices,
                                                         std::vector<int64_t> process_of_rank,
                                                         absl::Span<const ProcessIncarnation> live) {
  const uint64_t program =
      Digest64(absl::StrCat(absl::StrJoin(devices, ","), ";", absl::StrJoin(process_of_rank, ",")));
  auto handle = std::make_shared<RunHandle>();
  handle->mesh = mesh_;
  if (!live.empty()) {
    std::vector<int64_t> members = process_of_rank;
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    HILO_ASSIGN_OR_RETURN(handle->mesh, live_->MeshOf(live, members));
  }
  if (handle->mesh == nullptr)
    return FailedPrecondition(
        "process ", process_,
        " has returned to its group: it takes part in runs for which the processes have agreed on "
        "those that live (ExecuteOptions::processes; live_devices in JAX)");
  handle->run = handle->mesh->StartRun(program, process_of_rank, &handle->key);
  Run run;
  run.begin = [mesh = handle->mesh.get(), run = handle->run.get()] { return mesh->Begin(*run); };
  run.id = static_cast<int64_t>(Digest64(absl::StrCat(program, " ", handle->key.second)) >> 1);
  for (size_t rank = 0; rank < process_of_rank.size(); ++rank) {
    if (process_of_rank[rank] == process_)
      run.communicators.push_back(std::make_unique<CrossProcessCommunicator>(handle, static_cast<int64_t>(rank)));
  }
  return run;
}

void ProcessGroup::Update(absl::Span<const ProcessState> states) { live_->Update(states); }

absl::StatusOr<ProcessGroupOptions> ProcessGroupOptionsFrom(const LaunchEnvironment& launch) {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<KeyValueStore> store,
                        OpenStore(launch.coordinator, launch.token, launch.rank == 0));
  ProcessGroupOptions options{.process_id = launch.rank, .process_count = launch.world_size, .store = std::move(store)};
  HILO_ASSIGN_OR_RETURN(options.host, OwnHost(launch.coordinator));
  return options;
}

absl::StatusOr<std::string> OwnHost(absl::string_view coordinator) {
  if (const char* host = std::getenv("HILO_HOST"); host != nullptr) return std::string(host);
  const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(coordinator);
  if (!endpoint.ok() || IsLoopback(endpoint->host)) return std::string();
  return AddressTowards(*endpoint);
}

void ProcessGroup::Forget(std::shared_ptr<ProcessGroup> group) { new std::shared_ptr<ProcessGroup>(std::move(group)); }

}  // namespace hilo
