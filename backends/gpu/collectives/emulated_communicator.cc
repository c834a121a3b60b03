// A call is queued on its rank's stream as work that is not ready until the ranks that it needs have come to theirs. Whoever comes last moves the data of all, for the others'
// streams stand still at the call and the memory of emulated devices is the host's. So a device never waits with other work in hand: its other streams go on, as on a GPU.
//
// Collectives are numbered by each rank as they are called; calls of one number meet. Sends and receives meet in order, a queue a pair of ranks.
#include "backends/gpu/collectives/emulated_communicator.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/collectives/grouped_communicator.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "shape/number_types.h"

namespace hilo::gpu {
namespace {

using Kind = CommunicatorCall::Kind;

struct Call : CommunicatorCall {
  int64_t number = -1;  // of a collective
};

template <typename T>
T Combine(DeviceReduction reduction, T a, T b) {
  switch (reduction) {
    case DeviceReduction::kSum:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
      return a + b;
    case DeviceReduction::kProd:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      return a * b;
    case DeviceReduction::kMax:
    case DeviceReduction::kMin:
      if (a != a || b != b) return a != a ? a : b;
      return (reduction == DeviceReduction::kMax) == (a > b) ? a : b;
  }
  return a;
}

template <typename T, typename Wide>
void Accumulate(DeviceReduction reduction, void* sum, const void* operand, int64_t count) {
  auto* to = static_cast<T*>(sum);
  const auto* from = static_cast<const T*>(operand);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(Combine(reduction, static_cast<Wide>(to[i]), static_cast<Wide>(from[i])));
}

void Accumulate(PrimitiveType type, DeviceReduction reduction, void* sum, const void* operand, int64_t count) {
  switch (type) {
    case S8:
      return Accumulate<int8_t, int8_t>(reduction, sum, operand, count);
    case U8:
      return Accumulate<uint8_t, uint8_t>(reduction, sum, operand, count);
    case S32:
      return Accumulate<int32_t, int32_t>(reduction, sum, operand, count);
    case U32:
      return Accumulate<uint32_t, uint32_t>(reduction, sum, operand, count);
    case S64:
      return Accumulate<int64_t, int64_t>(reduction, sum, operand, count);
    case U64:
      return Accumulate<uint64_t, uint64_t>(reduction, sum, operand, count);
    case F16:
      return Accumulate<half, float>(reduction, sum, operand, count);
    case BF16:
      return Accumulate<bfloat16, float>(reduction, sum, operand, count);
    case F32:
      return Accumulate<float, float>(reduction, sum, operand, count);
    default:
      return Accumulate<double, double>(reduction, sum, operand, count);
  }
}

const uint8_t* At(const void* data, int64_t offset) { return static_cast<const uint8_t*>(data) + offset; }
uint8_t* At(void* data, int64_t offset) { return static_cast<uint8_t*>(data) + offset; }

// Piece `piece` of all ranks' data, combined, to each of `receivers`.
void Reduce(const std::vector<const Call*>& calls, int64_t piece, int64_t from_rank, int64_t to_rank) {
  const int64_t bytes = calls[0]->bytes();
  std::vector<uint8_t> sum(At(calls[0]->send, piece * bytes), At(calls[0]->send, piece * bytes) + bytes);
  for (size_t rank = 1; rank < calls.size(); ++rank) {
    Accumulate(calls[0]->type, calls[0]->reduction, sum.data(), At(calls[rank]->send, piece * bytes), calls[0]->count);
  }
  for (int64_t rank = from_rank; rank < to_rank; ++rank) std::memcpy(calls[rank]->receive, sum.data(), bytes);
}

// Does the collective of all ranks; the calls agree.
void Perform(const std::vector<const Call*>& calls) {
  const int64_t bytes = calls[0]->bytes(), size = static_cast<int64_t>(calls.size());
  if (bytes == 0) return;
  switch (calls[0]->kind) {
    case Kind::kAllReduce:
      return Reduce(calls, 0, 0, size);
    case Kind::kReduceScatter: {
      // In place, what rank i receives would be a part of what it sends.
      for (int64_t rank = 0; rank < size; ++rank) Reduce(calls, rank, rank, rank + 1);
      return;
    }
    case Kind::kAllGather:
      for (const Call* to : calls) {
        for (int64_t from = 0; from < size; ++from) std::memmove(At(to->receive, from * bytes), calls[from]->send, bytes);
      }
      return;
    case Kind::kBroadcast:
      for (const Call* to : calls) std::memmove(to->receive, calls[calls[0]->peer]->send, bytes);
      return;
    default:
      for (int64_t to = 0; to < size; ++to) {
        for (int64_t from = 0; from < size; ++from) std::memcpy(At(calls[to]->receive, from * bytes), At(calls[from]->send, to * bytes), bytes);
      }
  }
}

// What the ranks of a communicator share.
class Shared {
 public:
  explicit Shared(int64_t size) : size_(size), failures_(size), rounds_of_(size) {}
  int64_t size() const { return size_; }

  // A rank's calls of one group, on their way. Owned by the queued work.
  struct Group {
    std::vector<Call> calls;
    std::vector<bool> done;
    bool posted = false;
  };

  // Whether the group is done, after making it known to the others; or the rank is broken.
  bool Advance(int64_t rank, const std::shared_ptr<Group>& group) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!group->posted) {
      group->posted = true;
      group->done.assign(group->calls.size(), false);
      for (size_t i = 0; i < group->calls.size() && failures_[rank].ok(); ++i) Post(rank, group, i);
    }
    return !failures_[rank].ok() || std::find(group->done.begin(), group->done.end(), false) == group->done.end();
  }

  absl::Status failure(int64_t rank) {
    std::lock_guard<std::mutex> lock(mutex_);
    return failures_[rank];
  }

  // The rank's calls come to an end; the others wait for it in vain, as with NCCL, until they are told.
  void Abort(int64_t rank, const absl::Status& why) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failures_[rank].ok()) return;
    failures_[rank] = why;
    // Nobody touches the rank's memory any more.
    for (auto& [number, meeting] : meetings_) {
      meeting.here -= meeting.arrivals[rank].group != nullptr;
      meeting.arrivals[rank] = {};
    }
    for (auto& [pair, mail] : mail_) {
      if (pair.first == rank) mail.sends.clear();
      if (pair.second == rank) mail.receives.clear();
    }
    changed_.notify_all();
  }

  // Waits until all ranks have come with a text each; the texts by rank.
  absl::StatusOr<std::vector<std::string>> Exchange(int64_t rank, std::string text, const KeepWaiting& keep_waiting) {
    std::unique_lock<std::mutex> lock(mutex_);
    const int64_t round = rounds_of_[rank]++;
    Round& meeting = rounds_[round];
    meeting.texts.resize(size_);
    meeting.texts[rank] = std::move(text);
    ++meeting.here;
    changed_.notify_all();
    while (meeting.here < size_) {
      if (!failures_[rank].ok()) return failures_[rank];
      changed_.wait_for(lock, std::chrono::milliseconds(1));
      if (meeting.here == size_) break;
      lock.unlock();
      absl::Status status = keep_waiting == nullptr ? absl::OkStatus() : keep_waiting();
      lock.lock();
      if (!status.ok()) return status;
    }
    std::vector<std::string> texts = meeting.texts;
    if (++meeting.gone == size_) rounds_.erase(round);
    return texts;
  }

  // For Split: what the ranks of one color get, made by the first to ask.
  std::shared_ptr<Shared> Part(int64_t round, int64_t color, int64_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::weak_ptr<Shared>& part = parts_[{round, color}];
    std::shared_ptr<Shared> found = part.lock();
    if (found == nullptr) part = found = std::make_shared<Shared>(size);
    return found;
  }

 private:
  struct Arrival {
    std::shared_ptr<Group> group;
    size_t call = 0;
    const Call& get() const { return group->calls[call]; }
    void SetDone() const { group->done[call] = true; }
  };
  struct Meeting {
    std::vector<Arrival> arrivals;  // by rank
    int64_t here = 0;
  };
  struct Mail {
    std::deque<Arrival> sends, receives;
  };
  struct Round {
    std::vector<std::string> texts;
    int64_t here = 0, gone = 0;
  };

  void FailAll(const absl::Status& status) {
    for (absl::Status& failure : failures_) {
      if (failure.ok()) failure = status;
    }
    meetings_.clear();
    mail_.clear();
    changed_.notify_all();
  }

  void Post(int64_t rank, const std::shared_ptr<Group>& group, size_t i) {
    const Call& call = group->calls[i];
    if (!call.is_collective()) {
      const bool sends = call.kind == Kind::kSend;
      Mail& mail = mail_[sends ? std::pair(rank, call.peer) : std::pair(call.peer, rank)];
      (sends ? mail.sends : mail.receives).push_back({group, i});
      return Deliver(mail, sends ? rank : call.peer, sends ? call.peer : rank);
    }
    Meeting& meeting = meetings_[call.number];
    meeting.arrivals.resize(size_);
    meeting.arrivals[rank] = {group, i};
    if (++meeting.here < size_) return;
    std::vector<const Call*> calls;
    for (const Arrival& arrival : meeting.arrivals) calls.push_back(&arrival.get());
    for (int64_t other = 1; other < size_; ++other) {
      const std::string first = calls[0]->ToString(), second = calls[other]->ToString();
      if (first == second) continue;
      return FailAll(FailedPrecondition("ranks disagree at call ", call.number, " of a communicator: rank 0 is at ", first, ", but rank ", other, " at ", second));
    }
    Perform(calls);
    for (const Arrival& arrival : meeting.arrivals) arrival.SetDone();
    meetings_.erase(call.number);
  }

  void Deliver(Mail& mail, int64_t source, int64_t target) {
    while (!mail.sends.empty() && !mail.receives.empty()) {
      const Call &send = mail.sends.front().get(), &receive = mail.receives.front().get();
      if (send.bytes() != receive.bytes()) {
        return FailAll(
            FailedPrecondition("ranks disagree: rank ", source, " sends ", send.bytes(), " bytes to rank ", target, ", which expects ", receive.bytes()));
      }
      if (send.bytes() > 0) std::memcpy(receive.receive, send.send, send.bytes());
      mail.sends.front().SetDone();
      mail.receives.front().SetDone();
      mail.sends.pop_front();
      mail.receives.pop_front();
    }
  }

  const int64_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<absl::Status> failures_;                // by rank
  std::map<int64_t, Meeting> meetings_;               // by number
  std::map<std::pair<int64_t, int64_t>, Mail> mail_;  // by source and target
  std::map<int64_t, Round> rounds_;
  std::vector<int64_t> rounds_of_;                    // by rank: how many it has begun
  std::map<std::pair<int64_t, int64_t>, std::weak_ptr<Shared>> parts_;
};

class EmulatedCommunicator : public GroupedCommunicator {
 public:
  EmulatedCommunicator(std::shared_ptr<Shared> shared, int64_t rank, EmulatedCommunicatorOptions options)
      : shared_(std::move(shared)), rank_(rank), options_(options) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return shared_->size(); }

  bool has_all_to_all() const override { return options_.has_all_to_all; }

  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Split(int64_t color, int64_t key, const KeepWaiting& keep_waiting) override {
    HILO_RETURN_IF_ERROR(shared_->failure(rank_));
    const int64_t round = splits_++;
    HILO_ASSIGN_OR_RETURN(const std::vector<std::string> choices, shared_->Exchange(rank_, absl::StrCat(color, " ", key), keep_waiting));
    if (color < 0) return nullptr;
    std::vector<std::pair<int64_t, int64_t>> members;  // (key, rank)
    for (size_t rank = 0; rank < choices.size(); ++rank) {
      const size_t space = choices[rank].find(' ');
      if (std::stoll(choices[rank].substr(0, space)) == color) members.emplace_back(std::stoll(choices[rank].substr(space)), rank);
    }
    std::sort(members.begin(), members.end());
    const auto own = std::find(members.begin(), members.end(), std::pair(key, rank_));
    auto part = std::make_unique<EmulatedCommunicator>(shared_->Part(round, color, static_cast<int64_t>(members.size())), own - members.begin(), options_);
    // The part must be there for all before one of them can be done with it.
    HILO_RETURN_IF_ERROR(part->shared_->Exchange(part->rank_, "", keep_waiting).status());
    return part;
  }

  absl::Status AsyncError() override { return shared_->failure(rank_); }
  void Abort(const absl::Status& why) override { shared_->Abort(rank_, why); }

  // Waits for all ranks.
  absl::Status Join(const KeepWaiting& keep_waiting) { return shared_->Exchange(rank_, "", keep_waiting).status(); }

 private:
  absl::Status Submit(std::vector<CommunicatorCall> calls, GpuStream& stream) override {
    auto group = std::make_shared<Shared::Group>();
    std::vector<GpuSlice> slices;
    for (const CommunicatorCall& call : calls) {
      group->calls.push_back({call, call.is_collective() ? collectives_++ : -1});
      call.AddSlices(rank_, size(), &slices);
    }
    return QueueWhenReady(stream, calls[0].ToString(), slices, [shared = shared_, group, rank = rank_] { return shared->Advance(rank, group); },
                          [] { return absl::OkStatus(); });
  }

  const std::shared_ptr<Shared> shared_;
  const int64_t rank_;
  const EmulatedCommunicatorOptions options_;
  int64_t collectives_ = 0, splits_ = 0;
};

class EmulatedLibrary : public DeviceCommunicatorLibrary {
 public:
  explicit EmulatedLibrary(const EmulatedCommunicatorOptions& options) : options_(options) {}

  absl::StatusOr<std::string> Version() override { return "emulated"; }
  absl::StatusOr<std::string> MakeUniqueId() override {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string id = absl::StrCat("emulated communicator ", getpid(), " ", next_id_++);
    ids_.insert(id);
    return id;
  }

  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Create(const std::string& unique_id, int64_t size, int64_t rank, GpuDriver&, int,
                                                             const KeepWaiting& keep_waiting) override {
    if (rank < 0 || rank >= size) return InvalidArgument("expected a rank below ", size, ", got ", rank);
    std::shared_ptr<Shared> shared;
    {
      const std::string id = unique_id.c_str();  // zeros may follow
      std::lock_guard<std::mutex> lock(mutex_);
      if (!ids_.contains(id)) return Unimplemented("a communicator between emulated devices of several processes");
      std::weak_ptr<Shared>& known = communicators_[id];
      shared = known.lock();
      if (shared == nullptr) known = shared = std::make_shared<Shared>(size);
    }
    if (shared->size() != size) return InvalidArgument("rank ", rank, " expects ", size, " ranks, others ", shared->size());
    auto communicator = std::make_unique<EmulatedCommunicator>(std::move(shared), rank, options_);
    HILO_RETURN_IF_ERROR(communicator->Join(keep_waiting));
    return communicator;
  }

 private:
  const EmulatedCommunicatorOptions options_;
  std::mutex mutex_;
  int64_t next_id_ = 0;
  absl::flat_hash_set<std::string> ids_;
  absl::flat_hash_map<std::string, std::weak_ptr<Shared>> communicators_;
};

}  // namespace

std::shared_ptr<DeviceCommunicatorLibrary> CreateEmulatedCommunicatorLibrary(const EmulatedCommunicatorOptions& options) {
  return std::make_shared<EmulatedLibrary>(options);
}

}  // namespace hilo::gpu
