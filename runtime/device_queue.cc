#include "runtime/device_queue.h"

#include <system_error>
#include <utility>

#include "base/signals_blocked.h"
#include "base/spin.h"

namespace hilo {
namespace {

// Some 30 us: a caller that runs one program after the other has come back by then.
constexpr int kQueueSpins = 3 * kSpins;

// The state of the queue that owns this thread.
thread_local const void* thread_of_state = nullptr;

}  // namespace

bool DeviceQueue::IsCurrent() const { return thread_of_state == state_.get(); }
bool DeviceQueue::OnThreadOfAny() { return thread_of_state != nullptr; }

DeviceQueue::~DeviceQueue() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
    state_->attention = true;
  }
  state_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() != std::this_thread::get_id()) {
    thread_.join();
    return;
  }
  // A callback released the last reference from within a piece of work: remaining work is done here,
  // below it.
  thread_.detach();
  while (std::function<void()> work = Next(*state_)) work();
}

bool DeviceQueue::IsIdle() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->IsIdle();
}

bool DeviceQueue::Enqueue(std::function<void()>&& work) {
  bool was_idle, started;
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    was_idle = state_->IsIdle();
    started = thread_.joinable();
    if (!started) {
      try {
        const SignalsBlocked blocked;  // the embedder's handlers run on the embedder's threads
        thread_ = std::thread([state = state_] {
          thread_of_state = state.get();
          while (std::function<void()> work = Next(*state)) work();
        });
        started = true;
      } catch (const std::system_error&) {
      }
    }
    if (!started) {
      lock.unlock();
      work();
      return was_idle;
    }
    state_->work.push_back(std::move(work));
    state_->attention = true;
  }
  state_->changed.notify_one();
  return was_idle;
}

std::function<void()> DeviceQueue::Next(State& state) {
  std::unique_lock<std::mutex> lock(state.mutex);
  state.running = false;
  if (state.work.empty() && !state.stopping) {
    lock.unlock();
    SpinUntil([&] { return state.attention.load(); }, kQueueSpins);
    lock.lock();
  }
  state.changed.wait(lock, [&] { return state.stopping || !state.work.empty(); });
  if (state.work.empty()) return nullptr;
  std::function<void()> work = std::move(state.work.front());
  state.work.pop_front();
  state.running = true;
  state.attention = state.stopping || !state.work.empty();
  return work;
}

}  // namespace hilo
