#include "runtime/device_queue.h"

#include <system_error>
#include <utility>

namespace hilo {

DeviceQueue::~DeviceQueue() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // a callback gave up the last reference
  } else {
    thread_.join();
  }
}

void DeviceQueue::Enqueue(std::function<void()> work) {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    bool started = thread_.joinable();
    if (!started) {
      try {
        thread_ = std::thread([state = state_] { Work(state); });
        started = true;
      } catch (const std::system_error&) {
      }
    }
    if (started) {
      state_->work.push_back(std::move(work));
      work = nullptr;
    }
  }
  if (work != nullptr) return work();
  state_->changed.notify_one();
}

void DeviceQueue::Work(const std::shared_ptr<State>& state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->stopping || !state->work.empty(); });
    if (state->work.empty()) return;
    std::function<void()> work = std::move(state->work.front());
    state->work.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it holds goes before the lock comes
    lock.lock();
  }
}

}  // namespace hilo
