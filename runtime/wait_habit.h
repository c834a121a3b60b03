// Whether the callers of a program wait for its results at once. If they do, a run on another thread gains nothing and
// costs two changes of threads: measured from Python, 10 to 20 us of a run of 30 to 100.
#ifndef HILO_RUNTIME_WAIT_HABIT_H_
#define HILO_RUNTIME_WAIT_HABIT_H_

#include <atomic>
#include <memory>

namespace hilo {

// One per program, shared by all callers. Thread-safe. It decides speed alone: a wrong guess is no error.
class WaitHabit {
 public:
  // Whether the last callers, two at least, waited within kWaitsAtOnceNanoseconds.
  bool WaitsAtOnce() const { return waits_.load(std::memory_order_relaxed) >= kSure; }

  // The calling thread has started a run of the program of `habit`, or run it, and returns to the caller now.
  static void Returned(const std::shared_ptr<WaitHabit>& habit);
  // The calling thread begins to wait for a result.
  static void Waits();

 private:
  static constexpr int kSure = 2, kMost = 3;
  void Count(bool waited);

  std::atomic<int> waits_{0};  // 0 to kMost: more with every run that was waited for, less with every other
};

}  // namespace hilo

#endif  // HILO_RUNTIME_WAIT_HABIT_H_
