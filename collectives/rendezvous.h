// Rendezvous of the ranks of one run: synchronizes the ranks of a group for a collective, and detects
// groups that can never become complete. Private to collectives.
#ifndef HILO_COLLECTIVES_RENDEZVOUS_H_
#define HILO_COLLECTIVES_RENDEZVOUS_H_

#include <atomic>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/communicator.h"

namespace hilo {

// The contribution of a rank. Lives on its stack while it participates; derived classes add the
// addresses.
struct Arrival {
  const CollectiveCall* call = nullptr;
  std::string signature;  // ranks must agree on it besides op and group, as text: "of 16 and 4 bytes"
};

// The work of a collective, split into parts that any of the ranks may do.
struct CollectiveWork {
  int64_t parts = 0;
  // Does part `i` on the thread of the rank that `worker` belongs to; thread-safe.
  std::function<absl::Status(int64_t i, const Arrival& worker)> run;
};

// OK if the group of the call is one that `rank`, of `size` ranks, can be in.
absl::Status CheckCall(const CollectiveCall& call, int64_t rank, int64_t size);
// "rank 3", "ranks 1, 3"; "{0,1}".
std::string RankList(absl::Span<const int64_t> ranks);
std::string GroupText(absl::Span<const int64_t> group);

class RunState {
 public:
  // `arrivals` in the order of the group. Errors: FailedPrecondition if the ranks do not agree.
  using MakeWork = std::function<absl::StatusOr<CollectiveWork>(absl::Span<const Arrival* const> arrivals)>;

  explicit RunState(int64_t size);
  int64_t size() const { return size_; }

  // Waits for the others of the group and does the work together with them. All ranks pass the same
  // `make_work`, which is called once, by the last rank to arrive.
  absl::Status Join(int64_t rank, const Arrival& arrival, const MakeWork& make_work);
  // Queues a message on the channel `call.key`.
  absl::Status Send(int64_t rank, const CollectiveCall& call, int64_t target, std::string message);
  // Waits for the next message on the channel.
  absl::StatusOr<std::string> Receive(int64_t rank, const CollectiveCall& call, int64_t source);
  // Like Receive, of `bytes` bytes. Errors: FailedPrecondition if it is not; the run goes on.
  absl::Status ReceiveInto(int64_t rank, const CollectiveCall& call, int64_t source, void* data, int64_t bytes);
  // Ends the run of all ranks with an error, unless it has one.
  void Abandon(const absl::Status& status);
  void Finish(int64_t rank, const absl::Status& status);
  absl::Status failure() const;

 private:
  enum class Phase { kGathering, kWorking, kDone };
  // Parts [next, end) are not taken yet.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  struct Rendezvous {
    std::vector<int64_t> group;
    std::vector<const Arrival*> arrivals;  // by index in the group; null: has not arrived
    int64_t missing = 0;
    std::atomic<Phase> phase{Phase::kGathering};
    absl::Status status;  // from kDone on it stays as it is
    CollectiveWork work;
    std::vector<Share> shares;  // one per rank
    std::atomic<int64_t> parts_done{0};
    std::condition_variable changed;
  };

  struct Channel {
    int64_t key, source, target;
    auto operator<=>(const Channel&) const = default;
  };
  struct Mailbox {
    std::deque<std::string> messages;
    std::shared_ptr<Rendezvous> receiver;  // waits for the next message; null: none
  };

  absl::StatusOr<std::shared_ptr<Rendezvous>> Arrive(int64_t rank, const Arrival& arrival);
  absl::Status AwaitOthers(std::unique_lock<std::mutex>& lock, Rendezvous& rendezvous, int64_t rank,
                           const CollectiveCall& call);
  void StartWork(Rendezvous& rendezvous, const MakeWork& make_work);
  absl::Status Work(Rendezvous& rendezvous, const Arrival& worker);
  // The reason why `rendezvous` can never be complete; OK if it may.
  absl::Status Hopeless(const Rendezvous& rendezvous, const CollectiveCall& call) const;
  // Errors: FailedPrecondition if a rank waits for `rank`, which has ended.
  absl::Status CheckNotAwaited(int64_t rank) const;
  absl::Status CheckPeer(const CollectiveCall& call, int64_t peer) const;
  void Wake(Rendezvous& rendezvous, const absl::Status& status);
  // Ends the run with `status`, before the arrival of `rank` goes out of scope; returns failure_.
  absl::Status Leave(int64_t rank, const absl::Status& status);
  // Ends the run with `status`, unless failure_ is already set.
  void Fail(const absl::Status& status);

  const int64_t size_;
  mutable std::mutex mutex_;
  absl::Status failure_;
  // Not Abseil hash tables, which are unsafe if an allocation fails.
  std::map<std::vector<int64_t>, std::shared_ptr<Rendezvous>> gathering_;  // by group
  std::map<Channel, Mailbox> mail_;
  std::vector<const Rendezvous*> waiting_;  // by rank
  std::vector<bool> ended_;                 // by rank
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_RENDEZVOUS_H_
