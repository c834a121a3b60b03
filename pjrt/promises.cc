// A graph has a node for each promise that is not defined yet, and for each run that depends on one. The edges of a
// node lead to the unfulfilled promises that it waits for. Only fulfilling a promise can close a cycle, as the
// arguments of a run exist before its results: Fulfill looks for the unfulfilled promises that the value depends on. An
// edge to each of these replaces the path that was followed, as in union-find, so linking a chain takes near-linear
// time in any order.
//
// What waits for a node is stored there, rather than as a callback of its event: callbacks would nest as deep as a
// chain of promises is long.
#include "pjrt/promises.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "runtime/runtime_access.h"

namespace hilo::pjrt {
namespace {

// `promise` becomes `value`.
struct Link {
  std::shared_ptr<BufferValue> promise, value;
};

class WaitGraph {
 public:
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

  void AddPromise(const Event* event) {
    std::lock_guard<std::mutex> lock(mutex_);
    nodes_[event] = Node{};
    CountNodes();
  }
  void AddRun(const Event* event, std::vector<const Event*> waits_for) {
    std::lock_guard<std::mutex> lock(mutex_);
    nodes_[event] = Node{.fulfilled = true, .waits_for = std::move(waits_for)};
    CountNodes();
  }

  // Returns true if the value has a node, whose removal will return the link, and false if it has none.
  // Errors: InvalidArgument if the value depends on the promise.
  absl::StatusOr<bool> AddLink(const Link& link) {
    const Event* const promise = link.promise->definition.get();
    const Event* const value = link.value->definition.get();
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<const Event*> unfulfilled = FindUnfulfilled(value);
    if (std::find(unfulfilled.begin(), unfulfilled.end(), promise) != unfulfilled.end())
      return InvalidArgument("an alias was given a value that waits for the alias itself, and would never be ready");
    Node& node = nodes_[promise];
    node.fulfilled = true;
    node.waits_for = std::move(unfulfilled);
    CountNodes();
    const auto found = nodes_.find(value);
    if (found == nodes_.end()) return false;
    found->second.links.push_back(link);
    return true;
  }

  // Removes the node of an event that has happened, and returns the links to its values.
  std::vector<Link> Remove(const Event* event) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = nodes_.find(event);
    if (found == nodes_.end()) return {};
    std::vector<Link> links = std::move(found->second.links);
    nodes_.erase(found);
    CountNodes();
    return links;
  }

  // The unfulfilled promises that the event waits for; itself, if it is one.
  std::vector<const Event*> UnfulfilledBehind(const Event* event) {
    std::lock_guard<std::mutex> lock(mutex_);
    return FindUnfulfilled(event);
  }

 private:
  struct Node {
    bool fulfilled = false;               // a run, or a promise that has its value
    std::vector<const Event*> waits_for;  // those without a node have happened
    std::vector<Link> links;
  };

  std::vector<const Event*> FindUnfulfilled(const Event* start) {
    std::vector<const Event*> unfulfilled, stack = {start};
    std::vector<Node*> passed;
    absl::flat_hash_set<const Event*> seen = {start};
    while (!stack.empty()) {
      const Event* const event = stack.back();
      stack.pop_back();
      const auto found = nodes_.find(event);
      if (found == nodes_.end()) continue;
      if (!found->second.fulfilled) {
        unfulfilled.push_back(event);
        continue;
      }
      passed.push_back(&found->second);
      for (const Event* next : found->second.waits_for) {
        if (seen.insert(next).second) stack.push_back(next);
      }
    }
    // With several, only the start is known to depend on all.
    if (unfulfilled.size() > 1 && !passed.empty()) passed.resize(1);
    for (Node* node : passed) node->waits_for = unfulfilled;
    return unfulfilled;
  }
  void CountNodes() { size_.store(nodes_.size(), std::memory_order_relaxed); }

  std::mutex mutex_;
  absl::flat_hash_map<const Event*, Node> nodes_;
  std::atomic<size_t> size_{0};
};

WaitGraph& Graph() {
  static WaitGraph* const graph = new WaitGraph;  // never destroyed: other threads may end waits while the process ends
  return *graph;
}

// Ends the links, and those that wait for them.
void End(std::vector<Link> links, const absl::Status& status) {
  while (!links.empty()) {
    const Link link = std::move(links.back());
    links.pop_back();
    BufferValue& promise = *link.promise;
    if (status.ok()) promise.memory = link.value->memory;
    promise.definition->Set(status);
    std::vector<Link> next = Graph().Remove(promise.definition.get());
    links.insert(links.end(), std::make_move_iterator(next.begin()), std::make_move_iterator(next.end()));
  }
}

}  // namespace

std::shared_ptr<BufferValue> MakePromise() {
  auto value = std::make_shared<BufferValue>();
  value->definition = std::make_shared<Event>();
  Graph().AddPromise(value->definition.get());
  return value;
}

absl::Status Fulfill(std::shared_ptr<BufferValue> promise, std::shared_ptr<BufferValue> value) {
  Link link = {std::move(promise), std::move(value)};
  if (link.value->definition != nullptr) {
    HILO_ASSIGN_OR_RETURN(const bool waits, Graph().AddLink(link));
    if (waits) return absl::OkStatus();
    Event& definition = *link.value->definition;
    definition.OnDone([link = std::move(link)](const absl::Status& status) { End({link}, status); });
    return absl::OkStatus();
  }
  End({std::move(link)}, absl::OkStatus());
  return absl::OkStatus();
}

void Fail(std::shared_ptr<BufferValue> promise, const absl::Status& status) {
  End({{.promise = std::move(promise), .value = nullptr}}, status);
}

void RunDependencies::AddArgument(const Buffer& argument) {
  if (Graph().empty()) return;
  const absl::StatusOr<std::shared_ptr<BufferValue>> value = RuntimeAccess::Share(argument);
  if (!value.ok() || (*value)->defined()) return;  // the run reports those that have been deleted
  for (const Event* promise : Graph().UnfulfilledBehind((*value)->definition.get())) {
    if (std::find(promises_.begin(), promises_.end(), promise) == promises_.end()) promises_.push_back(promise);
  }
}

void RunDependencies::AddResult(const Buffer& result) const {
  if (promises_.empty()) return;
  const absl::StatusOr<std::shared_ptr<BufferValue>> value = RuntimeAccess::Share(result);
  if (!value.ok() || (*value)->defined()) return;
  const std::shared_ptr<Event> event = (*value)->definition;
  Graph().AddRun(event.get(), promises_);
  event->OnDone([key = event.get()](const absl::Status& status) { End(Graph().Remove(key), status); });
}

}  // namespace hilo::pjrt
