#include <utility>

#include "base/errors.h"
#include "base/spin.h"
#include "hilo/executable.h"
#include "hilo/status_macros.h"
#include "runtime/fork_guard.h"

namespace hilo {

Event::Event() : fork_generation_(ForkGeneration()) {}

absl::Status Event::CheckProcess() const {
  if (done() || ForkGeneration() == fork_generation_) return absl::OkStatus();
  return FailedPrecondition(
      "this process was forked before the run had ended, and the threads that end it stayed in the parent");
}

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
  HILO_RETURN_IF_ERROR(CheckProcess());
  if (!SpinUntil([this] { return done(); })) {
    std::unique_lock<std::mutex> lock(mutex_);
    happened_.wait(lock, [this] { return done_.load(std::memory_order_relaxed); });
  }
  return status_;
}

void Event::OnDone(std::function<void(const absl::Status&)> callback) {
  // Another thread may have held the lock when the process was forked.
  if (const absl::Status status = CheckProcess(); !status.ok()) return callback(status);
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
