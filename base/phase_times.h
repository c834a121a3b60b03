// The time that the phases of a compilation take, for `hilo --timing` and its line of progress.
//
// Code that is worth a row opens a PhaseTimer. It costs one atomic load unless a PhaseTimes is installed, which the
// program `hilo` does; the times of compilations that run at once are added up.
#ifndef HILO_BASE_PHASE_TIMES_H_
#define HILO_BASE_PHASE_TIMES_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hilo {

class PhaseTimes {
 public:
  struct Row {
    std::string group, name;  // "pass", "simplify"
    int64_t nanoseconds = 0;  // on all threads
    int64_t count = 0;
    bool on_workers = false;  // of several threads at once: part of the row of the phase that started them
  };

  // Collects from all threads from now on. At most one is installed at a time.
  void Install();
  ~PhaseTimes();

  // In the order in which phases were first entered.
  std::vector<Row> rows() const;
  // The phase that was entered last and has not ended: "pass simplify"; empty if there is none.
  std::string current() const;

 private:
  friend class PhaseTimer;
  size_t Enter(absl::string_view group, absl::string_view name, bool on_workers);
  void Leave(size_t row, int64_t nanoseconds);

  mutable std::mutex mutex_;
  std::vector<Row> rows_;
  std::vector<size_t> open_;
};

class PhaseTimer {
 public:
  PhaseTimer(absl::string_view group, absl::string_view name, bool on_workers = false);
  ~PhaseTimer();
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  PhaseTimes* times_;  // null: nothing is collected
  size_t row_ = 0;
  int64_t start_ = 0;
};

}  // namespace hilo

#endif  // HILO_BASE_PHASE_TIMES_H_
