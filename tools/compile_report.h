// What the program prints of a compilation while and after it runs: a line of progress, and --timing.
#ifndef HILO_TOOLS_COMPILE_REPORT_H_
#define HILO_TOOLS_COMPILE_REPORT_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/phase_times.h"
#include "tools/flags.h"

namespace hilo::tools {

// Lives as long as the compilation. When standard error is a terminal, and two seconds have passed, a line there tells
// the phase; it is erased at the end. With --timing the end writes a table of all phases to standard error.
class CompileReport {
 public:
  explicit CompileReport(const Flags& flags);
  ~CompileReport();

 private:
  void ShowProgress();
  void PrintTable() const;

  const bool timing_;
  const int64_t start_;
  PhaseTimes times_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread progress_;  // none if standard error is no terminal
};

}  // namespace hilo::tools

#endif  // HILO_TOOLS_COMPILE_REPORT_H_
