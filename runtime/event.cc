#include <utility>

#include "base/spin.h"
#include "hilo/executable.h"

namespace hilo {

void Event::Set(absl::Status status) {
  std::vector<std::function<void(const absl::Status&)>> callbacks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    status_ = std::move(status);
    callbacks.swap(callbacks_);
    done_.store(true, std::memory_order_release);
  }
  happened_.notify_all();
  for (const auto& callback : callbacks) callback(status_);
}

absl::Status Event::Await() const {
  if (!SpinUntil([this] { return done(); })) {
    std::unique_lock<std::mutex> lock(mutex_);
    happened_.wait(lock, [this] { return done_.load(std::memory_order_relaxed); });
  }
  return status_;
}

void Event::OnDone(std::function<void(const absl::Status&)> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!done_.load(std::memory_order_relaxed)) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback(status_);
}

}  // namespace hilo
