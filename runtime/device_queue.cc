#include "runtime/device_queue.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/signals_blocked.h"
#include "base/spin.h"

namespace hilo {
namespace {

// Some 30 us: a caller that runs one program after the other has come back by then.
constexpr int kQueueSpins = 3 * kSpins;

// How many pieces are looked at for one that is independent.
constexpr int kMaxLookedAt = 16;

// The state of the queue that owns this thread.
thread_local const void* thread_of_state = nullptr;

thread_local bool runs_beside_another = false;

}  // namespace

bool DeviceQueue::IsCurrent() const { return thread_of_state == state_.get(); }
bool DeviceQueue::OnThreadOfAny() { return thread_of_state != nullptr; }
bool DeviceQueue::RunsBesideAnother() { return runs_beside_another; }

DeviceQueue::~DeviceQueue() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
    state_->attention = true;
  }
  state_->changed.notify_all();
  state_->second_wanted.notify_all();
  bool own = false;
  for (std::thread* thread : {&second_, &thread_}) {
    if (!thread->joinable()) continue;
    if (thread->get_id() == std::this_thread::get_id()) {
      thread->detach();
      own = true;
    } else {
      thread->join();
    }
  }
  // A callback released the last reference from within a piece of work: remaining work is done here,
  // below it.
  while (own) {
    std::function<void()> work = Next(*state_);
    if (work == nullptr) return;
    work();
  }
}

bool DeviceQueue::IsIdle() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->IsIdle();
}

bool DeviceQueue::Start(std::thread* thread, std::function<void()> (*next)(State&)) {
  try {
    const SignalsBlocked blocked;  // the embedder's handlers run on the embedder's threads
    *thread = std::thread([state = state_, next] {
      thread_of_state = state.get();
      while (std::function<void()> work = next(*state)) work();
    });
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool DeviceQueue::StartThread() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return thread_.joinable() || Start(&thread_, &Next);
}

bool DeviceQueue::Enqueue(std::function<void()>&& work, Order order) {
  bool was_idle;
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    was_idle = state_->IsIdle();
    if (!thread_.joinable() && !Start(&thread_, &Next)) {
      lock.unlock();
      work();
      return was_idle;
    }
    // Without it, all runs on the first.
    if (order == Order::kIndependent && !was_idle && !second_.joinable()) Start(&second_, &NextOfSecond);
    state_->work.emplace_back();  // may throw, and then the caller still has the work
    state_->work.back() = {std::move(work), order};
    state_->attention = true;
    if (order == Order::kIndependent) state_->WakeSecond();
  }
  state_->changed.notify_one();
  return was_idle;
}

std::deque<DeviceQueue::Piece>::iterator DeviceQueue::State::FirstIndependent() {
  const auto end = work.begin() + std::min<std::ptrdiff_t>(kMaxLookedAt, std::ssize(work));
  const auto found =
      std::find_if(work.begin(), end, [](const Piece& piece) { return piece.order == Order::kIndependent; });
  return found == end ? work.end() : found;
}

void DeviceQueue::State::WakeSecond() {
  if (second_may_start && !second_runs) second_wanted.notify_one();
}

std::function<void()> DeviceQueue::Next(State& state) {
  std::unique_lock<std::mutex> lock(state.mutex);
  state.running = false;
  state.second_may_start = false;  // what comes next is this thread's, with all processors, if the second one has ended
  if (state.work.empty() && !state.stopping) {
    lock.unlock();
    SpinUntil([&] { return state.attention.load(); }, kQueueSpins);
    lock.lock();
  }
  state.changed.wait(lock, [&] { return state.stopping || !state.work.empty(); });
  if (state.work.empty()) return nullptr;
  Piece piece = std::move(state.work.front());
  state.work.pop_front();
  state.running = true;
  state.attention = state.stopping || !state.work.empty();
  state.second_may_start = piece.order == Order::kIndependent && state.FirstIndependent() != state.work.end();
  state.WakeSecond();
  runs_beside_another = state.second_may_start || state.second_runs;
  return std::move(piece.work);
}

std::function<void()> DeviceQueue::NextOfSecond(State& state) {
  std::unique_lock<std::mutex> lock(state.mutex);
  state.second_runs = false;
  std::deque<Piece>::iterator next;
  state.second_wanted.wait(lock, [&] {
    next = state.second_may_start ? state.FirstIndependent() : state.work.end();
    return state.stopping || next != state.work.end();
  });
  // The first thread finishes what is left.
  if (state.stopping) return nullptr;
  std::function<void()> work = std::move(next->work);
  state.work.erase(next);
  state.second_runs = true;
  state.attention = !state.work.empty();
  runs_beside_another = true;
  return work;
}

}  // namespace hilo
