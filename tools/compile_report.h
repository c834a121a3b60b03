// What the program prints of a compilation while and after it runs: a line of progress, and --timing.
#ifndef HILO_TOOLS_COMPILE_REPORT_H_
#define HILO_TOOLS_COMPILE_REPORT_H_

#include <cstdint>
#include <optional>

#include "base/phase_times.h"
#include "tools/flags.h"
#include "tools/progress_line.h"

namespace hilo::tools {

// Lives as long as the compilation, and shows its phase if it takes long. With --timing the end writes a table of all
// phases to standard error.
class CompileReport {
 public:
  explicit CompileReport(const Flags& flags);
  ~CompileReport();

 private:
  void PrintTable() const;

  const bool timing_;
  const int64_t start_;
  PhaseTimes times_;
  std::optional<ProgressLine> progress_;
};

}  // namespace hilo::tools

#endif  // HILO_TOOLS_COMPILE_REPORT_H_
