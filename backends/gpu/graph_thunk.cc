#include "backends/gpu/graph_thunk.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace hilo::gpu {
namespace {

// Graphs of one sequence: two sets of buffers that take turns, as in training, and as many again.
constexpr size_t kMaxGraphs = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<GpuGraph>> GraphCache::Capture(const ThunkSequence& body, GpuRun& run, std::unique_ptr<GpuGraph> changed) {
  HILO_RETURN_IF_ERROR(run.stream.BeginCapture());
  GpuRun captured = run.On(run.stream);
  captured.graphs = nullptr;  // graphs within are a part of this one
  captured.is_captured = true;
  const absl::Status status = RunThunks(body, captured);
  absl::StatusOr<std::unique_ptr<GpuGraph>> graph = run.stream.EndCapture(std::move(changed));
  if (!status.ok()) return status;
  return graph;
}

absl::Status GraphCache::Run(const Thunk* thunk, const ThunkSequence& body, GpuRun& run) {
  State& state = states_[thunk];
  if (state.is_refused || (state.runs++ == 0 && !at_once_)) return RunThunks(body, run);
  std::vector<const void*> addresses(run.parameters.begin(), run.parameters.end());
  addresses.insert(addresses.end(), run.outputs.begin(), run.outputs.end());
  addresses.push_back(run.frame);
  auto it = std::find_if(state.captured.begin(), state.captured.end(), [&](const Captured& captured) { return captured.addresses == addresses; });
  if (it == state.captured.end()) {
    std::unique_ptr<GpuGraph> changed;
    if (state.captured.size() >= kMaxGraphs) {
      it = std::min_element(state.captured.begin(), state.captured.end(), [](const Captured& a, const Captured& b) { return a.last_run < b.last_run; });
      changed = std::move(it->graph);
      state.captured.erase(it);
    }
    absl::StatusOr<std::unique_ptr<GpuGraph>> graph = Capture(body, run, std::move(changed));
    if (!graph.ok()) {
      state.is_refused = true;
      return RunThunks(body, run);
    }
    it = state.captured.insert(state.captured.end(), {std::move(addresses), *std::move(graph)});
  }
  it->last_run = state.runs;
  return run.stream.LaunchGraph(it->graph.get());
}

absl::Status GraphThunk::Run(GpuRun& run) const {
  const bool by_itself = run.graphs == nullptr || (has_control_flow_ && !run.stream.CapturesControlFlow());
  return by_itself ? RunThunks(body_, run) : run.graphs->Run(this, body_, run);
}

std::string GraphThunk::ToString(const std::string& indent) const { return absl::StrCat(indent, "graph\n", ThunksToString(body_, indent + "  ")); }

ThunkSequence WithGraphs(ThunkSequence thunks, int64_t least) {
  ThunkSequence result, neighbours;
  auto finish = [&] {
    if (static_cast<int64_t>(neighbours.size()) >= least || (least < INT64_MAX && HaveControlFlow(neighbours))) {
      result.push_back(std::make_unique<GraphThunk>(std::move(neighbours)));
    } else {
      std::move(neighbours.begin(), neighbours.end(), std::back_inserter(result));
    }
    neighbours.clear();
  };
  for (std::unique_ptr<Thunk>& thunk : thunks) {
    if (thunk->IsCapturable()) {
      neighbours.push_back(std::move(thunk));
      continue;
    }
    finish();
    result.push_back(std::move(thunk));
  }
  finish();
  return result;
}

}  // namespace hilo::gpu
