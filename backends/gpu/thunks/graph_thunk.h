// Sequences of thunks as graphs of the driver: captured once, then queued as one, which costs the host the time of one
// launch rather than of all.
//
// A graph holds addresses. A run keeps its frame and scratch memory, so what changes from run to run are parameters and
// outputs: a few graphs are kept, by the addresses that they were captured with, and the one that has waited longest is
// changed to new ones. The first run of a sequence queues its thunks one by one: a program that runs once pays for no
// capture, and libraries load what they need, which they may not do in a capture.
//
// Loops and branches of a graph are nodes whose condition the device reads, where the driver has such; where it has
// not, the host goes through them, and what is inside are graphs of their own. What the driver refuses to take as a
// graph for any other reason is queued thunk by thunk, too; the next run tries once more, and each refusal is logged.
//
// Collectives are captured if all ranks capture them, and launched from graphs that all ranks have captured together:
// so NCCL asks. At the start of a run each rank says in which of its turns of capturing it has met these addresses and
// communicators; if all say the same, that turn's graphs are launched, else there is a new turn. Only what every rank
// of the run comes to, however its numbers are, is captured so: the entry and its counted loops, outside of other
// control flow. Its stream for collectives leaves the program's and comes back by events within the graph.
#ifndef HILO_BACKENDS_GPU_THUNKS_GRAPH_THUNK_H_
#define HILO_BACKENDS_GPU_THUNKS_GRAPH_THUNK_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/gpu/collectives/cliques.h"
#include "backends/gpu/thunks/thunk.h"

namespace hilo::gpu {

// The graphs of one lane of runs, which follow each other on one stream.
class GraphCache {
 public:
  // `at_once`: captures in the first run already.
  GraphCache() = default;
  explicit GraphCache(bool at_once) : at_once_(at_once) {}

  // Queues the work of `body`, which `thunk` stands for.
  absl::Status Run(const Thunk* thunk, const ThunkSequence& body, GpuRun& run);

  // A collective of a graph.
  struct Collective {
    int64_t spec;
    std::string op;  // "all-reduce %sum"
  };
  // The same of a body with collectives, all ranks at once.
  absl::Status RunTogether(const Thunk* thunk, const ThunkSequence& body, const std::vector<Collective>& collectives,
                           GpuRun& run);

  // The addresses of a run's entry, and communicators, which graphs keep.
  using Addresses = std::vector<const void*>;
  using Keeps = std::vector<std::shared_ptr<const void>>;
  GraphOffer Offer(const Addresses& addresses, const Keeps& communicators);
  // What all ranks have agreed on: the run's graphs are of `turn`; 0: of none.
  void Take(int64_t turn, const Addresses& addresses, const Keeps& communicators);

 private:
  struct Turn {
    int64_t number;
    Addresses addresses;
    Keeps communicators;
    int64_t last_run;
  };
  struct Captured {
    Addresses addresses;
    int64_t turn = 0;  // of collectives
    std::unique_ptr<GpuGraph> graph;
    int64_t last_run = 0;
  };
  struct State {
    int64_t runs = 0;
    int refusals = 0;  // by the driver
    std::vector<Captured> captured;
  };
  absl::StatusOr<std::unique_ptr<GpuGraph>> Capture(const ThunkSequence& body, GpuRun& run, bool together,
                                                    std::unique_ptr<GpuGraph> changed);

  bool at_once_ = false;
  std::vector<Turn> turns_;  // outlives the graphs
  absl::flat_hash_map<const Thunk*, State> states_;
  int64_t runs_ = 0, turn_ = 0, latest_ = 0;
  bool together_is_refused_ = false;
};

class GraphThunk : public Thunk {
 public:
  explicit GraphThunk(ThunkSequence body);
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return collectives_.empty(); }
  bool HasControlFlow() const override { return has_control_flow_; }

 private:
  ThunkSequence body_;
  std::vector<GraphCache::Collective> collectives_;
  bool has_control_flow_;
};

// Makes graphs of neighbours that can be captured, of at least `least` thunks each, or with control flow.
ThunkSequence WithGraphs(ThunkSequence thunks, int64_t least);
// The same of neighbours with collectives, which all ranks come to. Graphs among them are what is launched when the
// whole is not.
ThunkSequence WithCollectiveGraphs(ThunkSequence thunks, int64_t least);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_GRAPH_THUNK_H_
