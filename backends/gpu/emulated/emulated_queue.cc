#include "backends/gpu/emulated/emulated_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/errors.h"
#include "base/signals_blocked.h"

namespace hilo::gpu {
namespace {

constexpr std::chrono::microseconds kPoll(50);
// This thread is within queued work, which must not wait for its queue.
thread_local bool is_within_work = false;

}  // namespace

int EmulatedQueue::AddStream() {
  std::lock_guard<std::mutex> lock(mutex_);
  streams_[next_stream_];
  return next_stream_++;
}

void EmulatedQueue::RemoveStream(int stream) {
  Synchronize(stream).IgnoreError();
  std::unique_lock<std::mutex> lock(mutex_);
  if (Stream& removed = streams_[stream]; removed.worker.joinable()) {
    removed.stopping = true;
    std::thread worker = std::move(removed.worker);
    lock.unlock();
    changed_.notify_all();
    worker.join();
    lock.lock();
  }
  streams_.erase(stream);
  order_.Forget(stream);
}

void EmulatedQueue::Queue(int stream, QueuedWork work) {
  std::lock_guard<std::mutex> lock(mutex_);
  Stream& to = streams_[stream];
  std::vector<EmulatedReport> races;
  const uint64_t sequence = order_.Queue(stream, work.what, work.slices, &races);
  to.pending.push_back({std::move(work), sequence, std::exchange(to.waits, {})});
  for (EmulatedReport& race : races) Fail(std::move(race));
  if (!asynchronous_) return;
  if (!to.worker.joinable()) {
    const SignalsBlocked blocked;  // the embedder's handlers run on the embedder's threads
    to.worker = std::thread([this, &to] { Work(to); });
  }
  changed_.notify_all();
}

void EmulatedQueue::SetPaused(bool paused) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    paused_ = paused;
  }
  changed_.notify_all();
}

int64_t EmulatedQueue::PendingCount() {
  std::lock_guard<std::mutex> lock(mutex_);
  size_t count = 0;
  for (const auto& [number, stream] : streams_) count += stream.pending.size();
  return static_cast<int64_t>(count);
}

StreamPoint EmulatedQueue::Record(int stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  return order_.Record(stream);
}

void EmulatedQueue::Wait(int stream, const StreamPoint& point) {
  if (point.stream < 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  streams_[stream].waits.emplace_back(point.stream, point.sequence);
  order_.Wait(stream, point);
}

void EmulatedQueue::Forget(const void* memory, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  order_.Forget(memory, bytes);
}

bool EmulatedQueue::IsDone(int stream, uint64_t sequence) const {
  const auto it = streams_.find(stream);
  return it == streams_.end() || it->second.done >= sequence;
}

bool EmulatedQueue::IsReady(const Stream& stream, bool* others) const {
  if (stream.running || stream.pending.empty()) return false;
  const auto& waits = stream.pending.front().waits;
  if (!std::all_of(waits.begin(), waits.end(), [&](const auto& wait) { return IsDone(wait.first, wait.second); }))
    return false;
  const auto& is_ready = stream.pending.front().work.is_ready;
  if (!paused_ && (is_ready == nullptr || !status_.ok() || is_ready())) return true;
  *others = true;
  return false;
}

std::vector<int> EmulatedQueue::Ready(bool* others) const {
  std::vector<int> ready;
  for (const auto& [number, stream] : streams_) {
    if (IsReady(stream, others)) ready.push_back(number);
  }
  return ready;
}

bool EmulatedQueue::AnyRunning() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) { return entry.second.running; });
}

bool EmulatedQueue::RunOne(std::unique_lock<std::mutex>& lock) {
  const std::vector<int> ready = Ready(&waits_for_others_);
  if (ready.empty()) return false;
  RunFront(streams_[ready[random_() % ready.size()]], lock);
  return true;
}

void EmulatedQueue::Work(Stream& stream) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    bool others = false;
    if (IsReady(stream, &others)) {
      RunFront(stream, lock);
    } else if (stream.stopping) {
      return;
    } else if (others) {
      changed_.wait_for(lock, kPoll);
    } else {
      changed_.wait(lock);
    }
  }
}

void EmulatedQueue::RunFront(Stream& stream, std::unique_lock<std::mutex>& lock) {
  Pending pending = std::move(stream.pending.front());
  stream.pending.pop_front();
  stream.running = true;
  if (status_.ok() || pending.work.always) {
    lock.unlock();
    const bool was_within = std::exchange(is_within_work, true);
    absl::Status status = pending.work.run();
    is_within_work = was_within;
    if (pending.work.is_done == nullptr) pending.work.run = nullptr;  // what it holds is destroyed outside the lock
    lock.lock();
    if (!status.ok() && status_.ok()) status_ = std::move(status);
  }
  if (status_.ok() && pending.work.is_done != nullptr && !pending.work.is_done()) {
    stream.running = false;
    stream.pending.push_front(std::move(pending));
    changed_.notify_all();
    return;
  }
  stream.running = false;
  stream.done = pending.sequence;
  changed_.notify_all();
}

absl::Status EmulatedQueue::Reach(const StreamPoint& point) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!IsDone(point.stream, point.sequence)) {
    waits_for_others_ = false;
    if (!asynchronous_ && RunOne(lock)) continue;
    if (asynchronous_ && !Ready(&waits_for_others_).empty()) {
      changed_.wait(lock);
      continue;
    }
    if (waits_for_others_) {
      changed_.wait_for(lock, kPoll);
      continue;
    }
    if (AnyRunning()) {
      changed_.wait(lock);
      continue;
    }
    Fail({"stream-deadlock", "streams wait for each other, or for an event that is not reached"});
    for (auto& [number, stream] : streams_) {
      if (!stream.pending.empty()) stream.done = stream.pending.back().sequence;
      stream.pending.clear();
    }
  }
  order_.HostHasWaited(point);
  return status_;
}

bool EmulatedQueue::Poll(const StreamPoint& point) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!asynchronous_ && !IsDone(point.stream, point.sequence)) RunOne(lock);
  if (!IsDone(point.stream, point.sequence)) return false;
  order_.HostHasWaited(point);
  return true;
}

void EmulatedQueue::Drain() {
  if (is_within_work) return;
  std::vector<int> streams;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [number, stream] : streams_) streams.push_back(number);
  }
  for (int stream : streams) Synchronize(stream).IgnoreError();
}

void EmulatedQueue::Fail(EmulatedReport report) {
  if (status_.ok()) status_ = Internal(report.kind, ": ", report.text);
  reports_.push_back(std::move(report));
}

void EmulatedQueue::Report(EmulatedReport report) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fail(std::move(report));
}

std::vector<EmulatedReport> EmulatedQueue::TakeReports() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(reports_, {});
}

absl::Status EmulatedQueue::status() {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

absl::Status EmulatedQueue::Advance(CapturedRun& run) {
  return run.Advance([this] {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<size_t>(random_());
  });
}

CapturedRun::CapturedRun(std::shared_ptr<const CapturedWork> work)
    : work_(std::move(work)), done_(work_->nodes.size()), left_(work_->nodes.size()) {
  for (const CapturedWork::Node& node : work_->nodes)
    is_ready_.push_back(node.work.begin == nullptr ? nullptr : node.work.begin());
}

std::vector<size_t> CapturedRun::Ready() const {
  std::vector<size_t> ready;
  for (size_t i = 0; i < done_.size(); ++i) {
    const std::vector<size_t>& after = work_->nodes[i].after;
    if (done_[i] || !std::all_of(after.begin(), after.end(), [&](size_t before) { return done_[before]; })) continue;
    if (is_ready_[i] == nullptr || is_ready_[i]()) ready.push_back(i);
  }
  return ready;
}

absl::Status CapturedRun::Advance(const std::function<size_t()>& dice) {
  for (std::vector<size_t> ready = Ready(); !ready.empty(); ready = Ready()) {
    const size_t node = ready[dice() % ready.size()];
    if (absl::Status status = work_->nodes[node].work.run(); !status.ok()) {
      left_ = 0;
      return status;
    }
    done_[node] = true;
    --left_;
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
