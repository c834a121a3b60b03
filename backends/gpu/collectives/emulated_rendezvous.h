// The synchronization point of the ranks of an emulated communicator. Private to emulated communicators.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_RENDEZVOUS_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_RENDEZVOUS_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/gpu/collectives/grouped_communicator.h"

namespace hilo::gpu {

// A rank's pending calls of one group. Owned by the queued work.
struct CallGroup {
  std::vector<CommunicatorCall> calls;
  std::vector<int64_t> numbers;  // by call: the index of the collective on its rank; -1: a send or receive
  std::vector<bool> done;        // by call
  bool posted = false;
  std::vector<std::string> memory;  // memory of the calls where it is not a device's of this process
};

// Thread-safe.
class EmulatedRendezvous {
 public:
  // `changed` is called, with a lock held, when calls may have completed; null: no notification.
  explicit EmulatedRendezvous(int64_t size, std::function<void()> changed = nullptr)
      : size_(size), notify_(std::move(changed)), failures_(size), exchanges_begun_(size) {}
  int64_t size() const { return size_; }

  // Publishes the group to the other ranks; returns true if it is done or the rank is broken.
  bool Advance(int64_t rank, const std::shared_ptr<CallGroup>& group);
  absl::Status failure(int64_t rank);
  // Completes the rank's calls; as with NCCL, the other ranks keep waiting for it until they are aborted.
  void Abort(int64_t rank, const absl::Status& why);
  // Does the same for all ranks.
  void FailAll(const absl::Status& why);

  // Contributes a rank's text; all ranks must. Returns the number of the exchange.
  int64_t Contribute(int64_t rank, std::string text);
  // Returns the texts by rank, once, when all have been contributed.
  std::optional<std::vector<std::string>> Take(int64_t exchange);
  // Waits briefly, or until something has changed.
  void Await();

 private:
  struct Arrival {
    std::shared_ptr<CallGroup> group;
    size_t call = 0;
    const CommunicatorCall& get() const { return group->calls[call]; }
    void SetDone() const { group->done[call] = true; }
  };
  struct PendingCollective {
    std::vector<Arrival> arrivals;  // by rank
    int64_t arrived = 0;
  };
  struct Mail {
    std::deque<Arrival> sends, receives;
  };
  struct Exchange {
    std::vector<std::string> texts;
    int64_t arrived = 0, taken = 0;
  };

  void Fail(const absl::Status& status);
  void Post(int64_t rank, const std::shared_ptr<CallGroup>& group, size_t i);
  void Deliver(Mail& mail, int64_t source, int64_t target);
  void Notify();

  const int64_t size_;
  const std::function<void()> notify_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<absl::Status> failures_;                // by rank
  std::map<int64_t, PendingCollective> pending_;      // by number
  std::map<std::pair<int64_t, int64_t>, Mail> mail_;  // by source and target
  std::map<int64_t, Exchange> exchanges_;
  std::vector<int64_t> exchanges_begun_;  // by rank: the number of exchanges it has begun
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_RENDEZVOUS_H_
