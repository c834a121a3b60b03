#include "backends/gpu/collectives/cliques.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "collectives/communicator.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr char kStart[] = "what the run's collectives need";
constexpr int64_t kStartKey = -1;        // not an instruction's; cliques count down from it, because they overlap
constexpr int64_t kUniqueIdBytes = 256;  // at most; zeros at the end

bool Contains(const CliqueSpec& clique, int64_t rank) {
  return std::find(clique.ranks.begin(), clique.ranks.end(), rank) != clique.ranks.end();
}

bool Contains(const CliqueSpec& clique, const CliqueSpec& part) {
  return std::all_of(part.ranks.begin(), part.ranks.end(), [&](int64_t rank) { return Contains(clique, rank); });
}

CollectiveCall Call(const RunContext& context, int64_t key, absl::Span<const int64_t> group) {
  return {.name = kStart, .key = key, .group = group, .cancellation = context.cancellation};
}

// Gathers the contribution of each rank of the run, for all of them.
absl::Status Gather(const RunContext& context, const void* mine, void* all, int64_t bytes) {
  std::vector<int64_t> everybody(context.replica_count * context.partition_count);
  std::iota(everybody.begin(), everybody.end(), 0);
  const CollectiveBuffer buffer{mine, all, bytes};
  return context.communicator->AllGather(Call(context, kStartKey, everybody), {&buffer, 1});
}

// Distinguishes the processes of a run.
uint64_t ProcessTag() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return std::hash<std::string>()(absl::StrCat(host, " ", getpid()));
}

}  // namespace

// One rank's acquisition of its cliques.
struct Cliques::Acquisition {
  Cliques& cliques;
  const RunContext& context;
  GpuDriver& driver;
  const int64_t rank, size;
  const uint64_t program;
  std::vector<CliqueSpec>
      specs;  // of the plan, then one of all ranks if the plan has none: others may be split off from it
  const GraphAgreement& graphs;
  std::vector<std::string> keys;
  std::vector<uint8_t> alive;
  int64_t graph_generation = 0;
  std::vector<std::shared_ptr<CliqueMember>> members;

  KeepWaiting keep_waiting() const {
    return [token = context.cancellation] { return token == nullptr ? absl::OkStatus() : token->status(); };
  }
  absl::Status FindKeys() {
    struct DeviceOfProcess {
      uint64_t process;
      int64_t device;
      uint64_t program;
    };
    std::vector<DeviceOfProcess> devices(size);
    const DeviceOfProcess own{ProcessTag(), context.device, program};
    HILO_RETURN_IF_ERROR(Gather(context, &own, devices.data(), sizeof(own)));
    for (int64_t other = 0; other < size; ++other) {
      if (devices[other].program != program)
        return FailedPrecondition("rank ", other, " runs another program than rank ", rank,
                                  ": its collectives or their groups are others");
    }
    for (const CliqueSpec& spec : specs) {
      std::string& key = keys.emplace_back(spec.kind);
      for (int64_t member : spec.ranks)
        absl::StrAppend(&key, " ", devices[member].process, ":", devices[member].device);
    }
    return absl::OkStatus();
  }

  // A clique is alive if all its members have it. `own`: the number of specs that are the plan's.
  absl::Status FindAlive(size_t own) {
    const size_t bytes = specs.size() + sizeof(GraphOffer);
    std::vector<uint8_t> mine(bytes, 1), all(bytes * size);
    members.resize(specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!Contains(specs[i], rank)) continue;
      members[i] = cliques.Find(context.device, keys[i]);
      mine[i] = members[i] != nullptr;
    }
    const GraphOffer offer =
        graphs.offer == nullptr ? GraphOffer{.generation = -1} : graphs.offer({members.begin(), members.begin() + own});
    std::memcpy(&mine[specs.size()], &offer, sizeof(offer));
    HILO_RETURN_IF_ERROR(Gather(context, mine.data(), all.data(), static_cast<int64_t>(bytes)));
    alive.assign(specs.size(), 1);
    for (size_t i = 0; i < specs.size(); ++i) {
      for (int64_t member : specs[i].ranks) alive[i] &= all[member * bytes + i];
      if (!alive[i] && members[i] != nullptr) {
        members[i]->Abort(FailedPrecondition("another rank has lost the communicator"));
        members[i] = nullptr;
      }
    }
    std::vector<GraphOffer> offers(size);
    for (int64_t other = 0; other < size; ++other)
      std::memcpy(&offers[other], &all[other * bytes + specs.size()], sizeof(GraphOffer));
    graph_generation = GenerationOf(offers, std::count(alive.begin(), alive.begin() + own, 0) == 0);
    return absl::OkStatus();
  }

  // Graphs of communicators that are recreated now are useless.
  static int64_t GenerationOf(const std::vector<GraphOffer>& offers, bool all_alive) {
    bool is_same = all_alive && offers[0].generation > 0;
    int64_t latest = 0;
    for (const GraphOffer& offer : offers) {
      if (offer.generation < 0) return 0;
      is_same &= offer.generation == offers[0].generation;
      latest = std::max(latest, offer.latest);
    }
    return is_same ? offers[0].generation : latest + 1;
  }

  absl::Status Make(size_t i) {
    const CliqueSpec& spec = specs[i];
    const bool is_member = Contains(spec, rank);
    const int64_t index = std::find(spec.ranks.begin(), spec.ranks.end(), rank) - spec.ranks.begin();
    size_t parent = specs.size();
    for (size_t j = 0; j < specs.size(); ++j) {
      if (alive[j] && Contains(specs[j], spec) &&
          (parent == specs.size() || specs[j].ranks.size() < specs[parent].ranks.size()))
        parent = j;
    }
    std::unique_ptr<DeviceCommunicator> made;
    if (parent < specs.size()) {
      if (!Contains(specs[parent], rank)) return absl::OkStatus();
      absl::StatusOr<std::unique_ptr<DeviceCommunicator>> part =
          members[parent]->communicator().Split(is_member ? 0 : -1, is_member ? index : 0, keep_waiting());
      if (!part.ok()) {
        members[parent]->Abort(part.status());
        return part.status();
      }
      made = *std::move(part);
    } else if (is_member) {
      HILO_ASSIGN_OR_RETURN(made, Bootstrap(i, index));
    }
    if (!is_member) return absl::OkStatus();
    members[i] = std::make_shared<CliqueMember>(std::move(made));
    std::lock_guard<std::mutex> lock(cliques.mutex_);
    cliques.members_[{context.device, keys[i]}] = members[i];
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Bootstrap(size_t i, int64_t index) {
    const CliqueSpec& spec = specs[i];
    std::string id(kUniqueIdBytes, '\0');
    if (index == 0) {
      HILO_ASSIGN_OR_RETURN(const std::string made, cliques.library_->MakeUniqueId());
      HILO_RET_CHECK(made.size() <= id.size()) << "a unique id of " << made.size() << " bytes";
      std::copy(made.begin(), made.end(), id.begin());
    }
    std::string received(kUniqueIdBytes, '\0');
    const CollectiveBuffer buffer{id.data(), received.data(), kUniqueIdBytes};
    HILO_RETURN_IF_ERROR(context.communicator->CollectiveBroadcast(
        Call(context, kStartKey - 1 - static_cast<int64_t>(i), spec.ranks), {&buffer, 1}));
    return cliques.library_->Create(received, static_cast<int64_t>(spec.ranks.size()), index, driver, context.device,
                                    keep_waiting());
  }
};

std::shared_ptr<CliqueMember> Cliques::Find(int device, const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = members_.find({device, key});
  if (it == members_.end()) return nullptr;
  if (!it->second->is_dead()) return it->second;
  members_.erase(it);
  return nullptr;
}

absl::StatusOr<std::vector<std::shared_ptr<CliqueMember>>> Cliques::Acquire(const CollectivePlan& plan,
                                                                            const RunContext& context,
                                                                            GpuDriver& driver,
                                                                            const GraphAgreement& graphs) {
  if (plan.cliques().empty()) return std::vector<std::shared_ptr<CliqueMember>>();
  const int64_t rank = context.replica_id * context.partition_count + context.partition_id,
                size = context.replica_count * context.partition_count;
  if (context.communicator == nullptr)
    return FailedPrecondition("there is no communicator between the ", size, " devices");
  Acquisition a{.cliques = *this,
                .context = context,
                .driver = driver,
                .rank = rank,
                .size = size,
                .program = plan.fingerprint(),
                .specs = plan.cliques(),
                .graphs = graphs};
  CliqueSpec everybody;
  everybody.ranks.resize(size);
  std::iota(everybody.ranks.begin(), everybody.ranks.end(), 0);
  if (std::find(a.specs.begin(), a.specs.end(), everybody) == a.specs.end()) a.specs.push_back(everybody);
  HILO_RETURN_IF_ERROR(a.FindKeys());
  HILO_RETURN_IF_ERROR(a.FindAlive(plan.cliques().size()));
  for (size_t i = 0; i < plan.cliques().size(); ++i) {
    if (a.alive[i]) continue;
    if (absl::Status status = a.Make(i); !status.ok()) {
      return AddContext(status, absl::StrCat("; making the communicator of ranks ", a.specs[i].ToString()));
    }
    a.alive[i] = 1;
  }
  a.members.resize(plan.cliques().size());
  if (graphs.take != nullptr) graphs.take(a.graph_generation, a.members);
  return std::move(a.members);
}

absl::StatusOr<bool> Cliques::AllSay(bool mine, const RunContext& context) {
  std::vector<uint8_t> all(context.replica_count * context.partition_count);
  const uint8_t own = mine;
  HILO_RETURN_IF_ERROR(Gather(context, &own, all.data(), 1));
  return std::find(all.begin(), all.end(), 0) == all.end();
}

}  // namespace hilo::gpu
