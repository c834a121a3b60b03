#include "runtime/watchdog.h"

#include <algorithm>

#include "absl/time/time.h"
#include "base/signals_blocked.h"
#include "runtime/fork_guard.h"

namespace hilo {

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Watchdog::Watch Watchdog::Arm(std::shared_ptr<CancellationToken> token, Clock::time_point time) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!thread_.joinable()) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { Work(); });
  }
  const Watch watch(time, next_++);
  watches_.emplace(watch, std::move(token));
  if (watches_.begin()->first == watch) changed_.notify_one();
  return watch;
}

void Watchdog::Disarm(const Watch& watch) {
  std::lock_guard<std::mutex> lock(mutex_);
  watches_.erase(watch);
}

void Watchdog::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (watches_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto soonest = watches_.begin();
    if (Clock::now() < soonest->first.first) {
      const Clock::time_point until = soonest->first.first;
      changed_.wait_until(lock, until);
      continue;
    }
    soonest->second->Expire();
    watches_.erase(soonest);
  }
}

namespace {

// Of this process; threads do not survive a fork.
Watchdog* WatchdogOfCompilers() {
  static std::mutex mutex;
  static Watchdog* watchdog = nullptr;
  static int generation = 0;
  std::lock_guard<std::mutex> lock(mutex);
  if (watchdog == nullptr || generation != ForkGeneration()) {
    watchdog = new Watchdog();
    generation = ForkGeneration();
  }
  return watchdog;
}

}  // namespace

CompileDeadline::CompileDeadline(CompileOptions* options) {
  if (options->cancellation == nullptr) options->cancellation = std::make_shared<CancellationToken>();
  if (options->deadline == absl::InfiniteDuration()) return;
  if (options->deadline <= absl::ZeroDuration()) {
    options->cancellation->Expire();
    return;
  }
  const absl::Duration longest = absl::Hours(24 * 365 * 100);
  watchdog_ = WatchdogOfCompilers();
  watch_ = watchdog_->Arm(options->cancellation,
                          Watchdog::Clock::now() + absl::ToChronoNanoseconds(std::min(options->deadline, longest)));
}

CompileDeadline::~CompileDeadline() {
  if (watch_.has_value()) watchdog_->Disarm(*watch_);
}

}  // namespace hilo
