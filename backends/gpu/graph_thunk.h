// Sequences of thunks as graphs of the driver: captured once, then queued as one, which costs the host the time of one launch rather than of all.
//
// A graph holds addresses. A run keeps its frame and scratch memory, so what changes from run to run are parameters and outputs: a few graphs are kept, by the addresses
// that they were captured with, and the one that has waited longest is changed to new ones. The first run of a sequence queues its thunks one by one: a program that runs
// once pays for no capture, and libraries load what they need, which they may not do in a capture.
//
// Loops and branches of a graph are nodes whose condition the device reads, where the driver has such; where it has not, the host goes through them, and what is inside are graphs of
// their own. What the driver refuses to take as a graph for any other reason is queued thunk by thunk, too.
#ifndef HILO_BACKENDS_GPU_GRAPH_THUNK_H_
#define HILO_BACKENDS_GPU_GRAPH_THUNK_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/gpu/thunk.h"

namespace hilo::gpu {

// The graphs of one lane of runs, which follow each other on one stream.
class GraphCache {
 public:
  // `at_once`: captures in the first run already.
  GraphCache() = default;
  explicit GraphCache(bool at_once) : at_once_(at_once) {}

  // Queues the work of `body`, which `thunk` stands for.
  absl::Status Run(const Thunk* thunk, const ThunkSequence& body, GpuRun& run);

 private:
  struct Captured {
    std::vector<const void*> addresses;
    std::unique_ptr<GpuGraph> graph;
    int64_t last_run = 0;
  };
  struct State {
    int64_t runs = 0;
    bool is_refused = false;  // by the driver: its thunks are queued one by one
    std::vector<Captured> captured;
  };
  absl::StatusOr<std::unique_ptr<GpuGraph>> Capture(const ThunkSequence& body, GpuRun& run, std::unique_ptr<GpuGraph> changed);

  bool at_once_ = false;
  absl::flat_hash_map<const Thunk*, State> states_;
};

class GraphThunk : public Thunk {
 public:
  explicit GraphThunk(ThunkSequence body) : body_(std::move(body)), has_control_flow_(HaveControlFlow(body_)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return true; }
  bool HasControlFlow() const override { return has_control_flow_; }

 private:
  ThunkSequence body_;
  bool has_control_flow_;
};

// Makes graphs of neighbours that can be captured, of at least `least` thunks each, or with control flow.
ThunkSequence WithGraphs(ThunkSequence thunks, int64_t least);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_GRAPH_THUNK_H_
