// The communicators of a client's devices, kept for later runs.
//
// A clique is an ordered list of devices. Before their first thunk, all ranks of a run agree on which cliques of the
// program each member still has, and create the others in one global order: by splitting a communicator that contains
// them, or from a unique id that the first member sends to the rest through the run's host communicator. Communicators
// are therefore never created in the middle of a program, and no two processes can deadlock waiting for each other. The
// next run recreates a communicator that has been broken.
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

// One device's end of a communicator. Thread-safe except for the communicator's calls.
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

// One rank's state of the graphs of its collectives when a run begins.
struct GraphOffer {
  int64_t generation =
      0;  // in which it captured these addresses and communicators; 0: never; -1: it captures nothing in this run
  int64_t latest = 0;  // the highest generation in which it took part
};

// Agreement of the ranks of a run on the graphs of their collectives that they launch (GraphCache), in addition to the
// communicators. Null functions: no graphs.
struct GraphAgreement {
  // Returns the offer of this rank, which has these communicators.
  std::function<GraphOffer(const std::vector<std::shared_ptr<CliqueMember>>& members)> offer;
  // Receives the agreed generation; 0: none.
  std::function<void(int64_t generation, const std::vector<std::shared_ptr<CliqueMember>>& members)> take;
};

// Thread-safe.
class Cliques {
 public:
  explicit Cliques(std::shared_ptr<DeviceCommunicatorLibrary> library) : library_(std::move(library)) {}

  // Returns the communicators of the plan's cliques, by number; null where the rank of `context` is not a member. All
  // ranks of the run must call it. Errors: those of communicators; FailedPrecondition if the run has no host
  // communicator; Cancelled and DeadlineExceeded.
  absl::StatusOr<std::vector<std::shared_ptr<CliqueMember>>> Acquire(const CollectivePlan& plan,
                                                                     const RunContext& context, GpuDriver& driver,
                                                                     const GraphAgreement& graphs);
  // Returns true if `mine` is true on all ranks of the run.
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
