#include "backends/gpu/thunks/graph_thunk.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/thunks/collective_thunk.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/log_sink.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// Graphs of one sequence: two alternating sets of buffers, as in training, and as many again.
constexpr size_t kMaxGraphs = 4;
// After this many rejections a sequence is no longer captured.
constexpr int kMaxRefusals = 2;

template <typename Entries>
auto LongestUnused(Entries& entries) {
  return std::min_element(entries.begin(), entries.end(),
                          [](const auto& a, const auto& b) { return a.last_run < b.last_run; });
}

// Groups adjacent thunks for which `fits`, as graphs where `is_worth_it`.
template <typename Fits, typename IsWorthIt>
ThunkSequence Grouped(ThunkSequence thunks, const Fits& fits, const IsWorthIt& is_worth_it) {
  ThunkSequence result, neighbours;
  auto finish = [&] {
    if (is_worth_it(neighbours)) {
      result.push_back(std::make_unique<GraphThunk>(std::move(neighbours)));
    } else {
      std::move(neighbours.begin(), neighbours.end(), std::back_inserter(result));
    }
    neighbours.clear();
  };
  for (std::unique_ptr<Thunk>& thunk : thunks) {
    if (fits(*thunk)) {
      neighbours.push_back(std::move(thunk));
      continue;
    }
    finish();
    result.push_back(std::move(thunk));
  }
  finish();
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GpuGraph>> GraphCache::Capture(const ThunkSequence& body, GpuRun& run, bool together,
                                                              std::unique_ptr<GpuGraph> changed) {
  HILO_RETURN_IF_ERROR(run.stream.BeginCapture());
  GpuRun captured = run.On(run.stream);
  captured.graphs = nullptr;  // nested graphs are a part of this one
  captured.is_captured = true;
  absl::Status status = RunThunks(body, captured);
  // The collectives' stream must rejoin before the end.
  if (status.ok() && together) status = run.collectives->AwaitAll(run.stream);
  absl::StatusOr<std::unique_ptr<GpuGraph>> graph = run.stream.EndCapture(std::move(changed));
  if (!status.ok()) return status;
  return graph;
}

absl::Status GraphCache::Run(const Thunk* thunk, const ThunkSequence& body, GpuRun& run) {
  State& state = states_[thunk];
  if (state.refusals >= kMaxRefusals || (state.runs++ == 0 && !at_once_)) return RunThunks(body, run);
  Addresses addresses = run.addresses();
  auto it = std::find_if(state.captured.begin(), state.captured.end(),
                         [&](const Captured& captured) { return captured.addresses == addresses; });
  if (it == state.captured.end()) {
    std::unique_ptr<GpuGraph> changed;
    if (state.captured.size() >= kMaxGraphs) {
      it = LongestUnused(state.captured);
      changed = std::move(it->graph);
      state.captured.erase(it);
    }
    absl::StatusOr<std::unique_ptr<GpuGraph>> graph = Capture(body, run, /*together=*/false, std::move(changed));
    if (!graph.ok()) {
      ++state.refusals;
      LogWarning("the driver refuses a graph of ", body.size(), " operations (refusal ", state.refusals, " of at most ",
                 kMaxRefusals, "): ", graph.status().message());
      return RunThunks(body, run);
    }
    it = state.captured.insert(state.captured.end(), {.addresses = std::move(addresses), .graph = *std::move(graph)});
  }
  it->last_run = state.runs;
  return run.stream.LaunchGraph(it->graph.get());
}

GraphOffer GraphCache::Offer(const Addresses& addresses, const Keeps& communicators) {
  if (together_is_refused_ || (runs_++ == 0 && !at_once_)) return {.generation = -1, .latest = latest_};
  const auto it = absl::c_find_if(generations_, [&](const Generation& generation) {
    return generation.addresses == addresses && generation.communicators == communicators;
  });
  return {.generation = it == generations_.end() ? 0 : it->number, .latest = latest_};
}

void GraphCache::Take(int64_t generation, const Addresses& addresses, const Keeps& communicators) {
  generation_ = generation;
  latest_ = std::max(latest_, generation);
  if (generation == 0) return;
  auto it = absl::c_find_if(generations_, [&](const Generation& one) { return one.number == generation; });
  if (it == generations_.end()) {
    // There may be older graphs with the same addresses, which not all ranks had.
    auto gone = absl::c_find_if(generations_, [&](const Generation& one) { return one.addresses == addresses; });
    if (gone == generations_.end() && generations_.size() >= kMaxGraphs) gone = LongestUnused(generations_);
    if (gone != generations_.end()) {
      for (auto& [thunk, state] : states_)
        std::erase_if(state.captured, [&](const Captured& captured) { return captured.generation == gone->number; });
      generations_.erase(gone);
    }
    it = generations_.insert(
        generations_.end(),
        {.number = generation, .addresses = addresses, .communicators = communicators, .last_run = 0});
  }
  it->last_run = runs_;
}

absl::Status GraphCache::RunTogether(const Thunk* thunk, const ThunkSequence& body,
                                     const std::vector<Collective>& collectives, GpuRun& run) {
  if (generation_ == 0 || together_is_refused_) return RunThunks(body, run);
  HILO_RETURN_IF_ERROR(run.collectives->AwaitAll(run.stream));
  const Addresses addresses = run.addresses();
  std::vector<Captured>& all = states_[thunk].captured;
  auto it = absl::c_find_if(all, [&](const Captured& captured) {
    return captured.generation == generation_ && captured.addresses == addresses;
  });
  if (it == all.end()) {
    CollectiveRun::Noted noted = run.collectives->noted();
    absl::StatusOr<std::unique_ptr<GpuGraph>> graph = Capture(body, run, /*together=*/true, nullptr);
    HILO_RETURN_IF_ERROR(run.collectives->status());
    HILO_ASSIGN_OR_RETURN(const bool all_have_it, run.collectives->AllSay(graph.ok()));
    if (!all_have_it) {
      together_is_refused_ = true;
      LogWarning("a graph of ", body.size(), " operations with collectives is refused: ",
                 graph.ok() ? "by another rank's driver" : graph.status().message());
      // All ranks must have recorded the same ops on the board, including those whose driver failed halfway.
      for (const Collective& collective : collectives)
        HILO_RETURN_IF_ERROR(run.collectives->NoteSince(&noted, collective.spec, collective.op));
      return RunThunks(body, run);
    }
    all.push_back({.addresses = addresses, .generation = generation_, .graph = *std::move(graph)});
    return run.stream.LaunchGraph(all.back().graph.get());  // the thunks have recorded on the board what they captured
  }
  for (const Collective& collective : collectives)
    HILO_RETURN_IF_ERROR(run.collectives->Enter(collective.spec, collective.op));
  HILO_RETURN_IF_ERROR(run.stream.LaunchGraph(it->graph.get()));
  for (const Collective& collective : collectives) run.collectives->Queued(collective.spec);
  return absl::OkStatus();
}

GraphThunk::GraphThunk(ThunkSequence body) : body_(std::move(body)), has_control_flow_(HaveControlFlow(body_)) {
  for (const auto& thunk : body_) {
    if (thunk->starts() >= 0)
      collectives_.push_back({thunk->starts(), static_cast<const CollectiveThunk&>(*thunk).name()});
  }
}

void GraphThunk::Write(ThunkWriter& out) const { out.Thunks(body_); }

std::unique_ptr<Thunk> GraphThunk::Read(ThunkReader& in) {
  ThunkSequence body;
  in.Thunks(body);
  in.Require(absl::c_all_of(body, [](const auto& thunk) { return thunk->IsCapturableTogether(); }),
             "thunks that a graph can capture");
  return std::make_unique<GraphThunk>(std::move(body));
}

absl::Status GraphThunk::Run(GpuRun& run) const {
  if (run.graphs == nullptr || (has_control_flow_ && !run.stream.CapturesControlFlow())) return RunThunks(body_, run);
  return collectives_.empty() ? run.graphs->Run(this, body_, run)
                              : run.graphs->RunTogether(this, body_, collectives_, run);
}

std::string GraphThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "graph\n", ThunksToString(body_, indent + "  "));
}

ThunkSequence WithGraphs(ThunkSequence thunks, int64_t least) {
  return Grouped(
      std::move(thunks), [](const Thunk& thunk) { return thunk.IsCapturable(); },
      [&](const ThunkSequence& neighbours) {
        return static_cast<int64_t>(neighbours.size()) >= least || (least < INT64_MAX && HaveControlFlow(neighbours));
      });
}

ThunkSequence WithCollectiveGraphs(ThunkSequence thunks, int64_t least) {
  return Grouped(
      std::move(thunks), [](const Thunk& thunk) { return thunk.IsCapturableTogether(); },
      [&](const ThunkSequence& neighbours) {
        return static_cast<int64_t>(neighbours.size()) >= least &&
               absl::c_any_of(neighbours, [](const auto& thunk) { return thunk->starts() >= 0; });
      });
}

}  // namespace hilo::gpu
