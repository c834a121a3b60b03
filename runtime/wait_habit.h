// Whether the callers of a program wait for its results at once, and how long its runs take. If they do, a short run on
// another thread gains nothing and costs two changes of threads: measured from Python, 10 to 20 us of a run of 30 to
// 100. The times count where an estimate cannot know them, as of loops that end when a solver has converged.
#ifndef HILO_RUNTIME_WAIT_HABIT_H_
#define HILO_RUNTIME_WAIT_HABIT_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

namespace hilo {

// One per program, shared by all callers. Thread-safe. It decides speed alone: a wrong guess is no error.
class WaitHabit {
 public:
  // Whether the last callers, two at least, waited within kWaitsAtOnceNanoseconds.
  bool WaitsAtOnce() const { return waits_.load(std::memory_order_relaxed) >= kSure; }

  // A run took `nanoseconds`.
  void Took(int64_t nanoseconds);
  // The longest of the last runs, a longer one being forgotten by an eighth with every run; the maximum of the type
  // before kSure runs.
  int64_t RecentNanoseconds() const {
    return runs_.load(std::memory_order_relaxed) < kSure ? std::numeric_limits<int64_t>::max()
                                                         : recent_.load(std::memory_order_relaxed);
  }

  // The calling thread has started a run of the program of `habit`, or run it, and returns to the caller now.
  static void Returned(const std::shared_ptr<WaitHabit>& habit);
  // The calling thread begins to wait for a result.
  static void Waits();

 private:
  static constexpr int kSure = 2, kMax = 3;  // runs
  void Count(bool waited);

  std::atomic<int> runs_{0};        // measured, up to kSure
  std::atomic<int64_t> recent_{0};  // nanoseconds
  std::atomic<int> waits_{0};       // 0 to kMax: more with every run that was waited for, less with every other
};

}  // namespace hilo

#endif  // HILO_RUNTIME_WAIT_HABIT_H_
