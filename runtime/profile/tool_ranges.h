// Ranges for profilers that watch a whole process: Nsight Systems, by NVTX, and VTune, by ITT. Such a tool names its
// library in a variable of the environment (NVTX_INJECTION64_PATH, INTEL_LIBITTNOTIFY64) of the processes that it
// starts. That library is loaded at the first run of a program; without the variables nothing is, and a run costs one
// load.
#ifndef HILO_RUNTIME_PROFILE_TOOL_RANGES_H_
#define HILO_RUNTIME_PROFILE_TOOL_RANGES_H_

#include <cstdint>
#include <vector>

#include "runtime/profile/recorder.h"

namespace hilo::profile {

// Whether a tool watches this process. A library that cannot be used is a warning, and left out.
bool ToolIsAttached();

// The ranges of one run, on the thread that runs it: the program's, and within it one for each step.
class ToolRanges {
 public:
  // `table` must outlive this.
  explicit ToolRanges(const StepTable& table);
  ToolRanges(const ToolRanges&) = delete;
  ToolRanges& operator=(const ToolRanges&) = delete;
  ~ToolRanges();

  // A mark of compiled code (recorder.h).
  void Mark(int64_t mark);

 private:
  void CloseStep();

  const StepTable& table_;
  std::vector<bool> step_is_open_;  // of each level
};

}  // namespace hilo::profile

#endif  // HILO_RUNTIME_PROFILE_TOOL_RANGES_H_
