// Sequences of thunks as graphs of the driver: captured once, then queued as one unit, which costs the host the time of
// one launch rather than of all.
//
// A graph contains addresses. A run keeps its frame and scratch memory, so only parameters and outputs change from run
// to run: a few graphs are kept, keyed by their captured addresses, and the least recently used one is updated for new
// addresses. The first run of a sequence queues its thunks one by one: a program that runs once does not pay for a
// capture, and libraries can load what they need, which is not allowed in a capture.
//
// Loops and branches of a graph are nodes whose condition the device reads, if the driver supports them; if not, the
// host executes them, and their bodies are graphs of their own. If the driver rejects a graph for any other reason, its
// thunks are queued one by one, too; the next run tries again, and each rejection is logged.
//
// Collectives are captured if all ranks capture them, and launched from graphs that all ranks captured together, as
// NCCL requires. At the start of a run, each rank reports the capture generation in which it captured these addresses
// and communicators; if all report the same one, that generation's graphs are launched, else a new generation begins.
// Only code that every rank of the run executes whatever its data, the entry and its counted loops outside of other
// control flow, is captured so. Its stream for collectives forks from and joins the program's stream by events within
// the graph.
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

// The graphs of one lane of runs, which run sequentially on one stream.
class GraphCache {
 public:
  // `at_once`: captures already in the first run.
  GraphCache() = default;
  explicit GraphCache(bool at_once) : at_once_(at_once) {}

  // Queues the work of `body`, which `thunk` represents.
  absl::Status Run(const Thunk* thunk, const ThunkSequence& body, GpuRun& run);

  // A collective of a graph.
  struct Collective {
    int64_t spec;
    std::string op;  // "all-reduce %sum"
  };
  // The same for a body with collectives, which all ranks must call.
  absl::Status RunTogether(const Thunk* thunk, const ThunkSequence& body, const std::vector<Collective>& collectives,
                           GpuRun& run);

  // The addresses of a run's entry, and the communicators, which graphs keep alive.
  using Addresses = std::vector<const void*>;
  using Keeps = std::vector<std::shared_ptr<const void>>;
  GraphOffer Offer(const Addresses& addresses, const Keeps& communicators);
  // Sets the agreement of all ranks: the run's graphs are those of `generation`; 0: none.
  void Take(int64_t generation, const Addresses& addresses, const Keeps& communicators);

 private:
  struct Generation {
    int64_t number;
    Addresses addresses;
    Keeps communicators;
    int64_t last_run;
  };
  struct Captured {
    Addresses addresses;
    int64_t generation = 0;  // agreed with the other ranks
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
  std::vector<Generation> generations_;  // outlives the graphs
  absl::flat_hash_map<const Thunk*, State> states_;
  int64_t runs_ = 0, generation_ = 0, latest_ = 0;
  bool together_is_refused_ = false;
};

class GraphThunk : public Thunk {
 public:
  explicit GraphThunk(ThunkSequence body);
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kGraph; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return collectives_.empty(); }
  bool HasControlFlow() const override { return has_control_flow_; }

 private:
  ThunkSequence body_;
  std::vector<GraphCache::Collective> collectives_;
  bool has_control_flow_;
};

// Groups adjacent capturable thunks into graphs of at least `least` thunks each, or with control flow.
ThunkSequence WithGraphs(ThunkSequence thunks, int64_t least);
// The same for adjacent thunks with collectives, in code that all ranks execute. Graphs nested in them are launched
// when the whole graph is not.
ThunkSequence WithCollectiveGraphs(ThunkSequence thunks, int64_t least);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_GRAPH_THUNK_H_
