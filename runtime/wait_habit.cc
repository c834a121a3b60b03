#include "runtime/wait_habit.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/time_thresholds.h"

namespace hilo {
namespace {

// The last run of a thread that the thread has not waited for yet.
struct LastRun {
  std::weak_ptr<WaitHabit> habit;
  std::chrono::steady_clock::time_point returned;
  bool pending = false;
};

thread_local LastRun last_run;

}  // namespace

void WaitHabit::Count(bool waited) {
  const int before = waits_.load(std::memory_order_relaxed);
  waits_.store(std::clamp(before + (waited ? 1 : -1), 0, kMax), std::memory_order_relaxed);
}

void WaitHabit::Took(int64_t nanoseconds) {
  const int64_t before = recent_.load(std::memory_order_relaxed);
  recent_.store(std::max(nanoseconds, before - before / 8), std::memory_order_relaxed);
  const int runs = runs_.load(std::memory_order_relaxed);
  if (runs < kSure) runs_.store(runs + 1, std::memory_order_relaxed);
}

void WaitHabit::Returned(const std::shared_ptr<WaitHabit>& habit) {
  LastRun& last = last_run;
  if (last.pending) {
    if (const std::shared_ptr<WaitHabit> before = last.habit.lock(); before != nullptr) before->Count(false);
  }
  last = {.habit = habit, .returned = std::chrono::steady_clock::now(), .pending = true};
}

void WaitHabit::Waits() {
  LastRun& last = last_run;
  if (!std::exchange(last.pending, false)) return;
  const std::shared_ptr<WaitHabit> habit = last.habit.lock();
  if (habit == nullptr) return;
  habit->Count(std::chrono::steady_clock::now() - last.returned < std::chrono::nanoseconds(kWaitsAtOnceNanoseconds));
}

}  // namespace hilo
