// The communicators of a client's devices, kept for later runs.
//
// A clique is an ordered list of devices. All ranks of a run agree, before their first thunk, which cliques of the
// program each of their members still has, and make the others in one order: by splitting a communicator that contains
// them, or from a unique id that the first member gives to the rest through the run's host communicator. So nothing is
// made in the middle of a program, and no two processes can wait for each other crosswise. A communicator that has been
// broken is made anew by the next run.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_CLIQUES_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_CLIQUES_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/collectives/collective_plan.h"
#include "backends/gpu/collectives/device_communicator.h"
#include "runtime/compiler.h"

namespace hilo::gpu {

// One device's end of a communicator. Thread-safe but for the communicator's calls.
class CliqueMember {
 public:
  explicit CliqueMember(std::unique_ptr<DeviceCommunicator> communicator) : communicator_(std::move(communicator)) {}
  DeviceCommunicator& communicator() { return *communicator_; }
  bool is_dead() const { return dead_.load(); }
  void Abort(const absl::Status& why) {
    dead_ = true;
    communicator_->Abort(why);
  }

 private:
  std::unique_ptr<DeviceCommunicator> communicator_;
  std::atomic<bool> dead_{false};
};

// What one rank says about the graphs of its collectives when a run begins.
struct GraphOffer {
  int64_t turn =
      0;  // in which it has captured these addresses and communicators; 0: never; -1: it captures nothing in this run
  int64_t latest = 0;  // the highest turn that it has been in
};

// What the ranks of a run agree on beside their communicators: which graphs of their collectives they launch
// (GraphCache). Null functions: none.
struct GraphAgreement {
  // What this rank says, which has these communicators.
  std::function<GraphOffer(const std::vector<std::shared_ptr<CliqueMember>>& members)> offer;
  // The turn; 0: none.
  std::function<void(int64_t turn, const std::vector<std::shared_ptr<CliqueMember>>& members)> take;
};

// Thread-safe.
class Cliques {
 public:
  explicit Cliques(std::shared_ptr<DeviceCommunicatorLibrary> library) : library_(std::move(library)) {}

  // The communicators of the plan's cliques, by number; null where the rank of `context` is no member. All ranks of the
  // run call it. Errors: those of communicators; FailedPrecondition if the run has no host communicator; Cancelled and
  // DeadlineExceeded.
  absl::StatusOr<std::vector<std::shared_ptr<CliqueMember>>> Acquire(const CollectivePlan& plan,
                                                                     const RunContext& context, GpuDriver& driver,
                                                                     const GraphAgreement& graphs);
  // Whether all ranks of the run say so.
  static absl::StatusOr<bool> AllSay(bool mine, const RunContext& context);

 private:
  struct Acquisition;
  std::shared_ptr<CliqueMember> Find(int device, const std::string& key);

  const std::shared_ptr<DeviceCommunicatorLibrary> library_;
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, std::shared_ptr<CliqueMember>> members_;  // by device and clique
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_CLIQUES_H_
