// The times of a profile by step.
#ifndef HILO_RUNTIME_PROFILE_SUMMARY_H_
#define HILO_RUNTIME_PROFILE_SUMMARY_H_

#include <cstdint>
#include <vector>

#include "runtime/profile/recorder.h"

namespace hilo::profile {

struct StepTimes {
  const Step* step = nullptr;  // the profile's
  int64_t executions = 0;
  int64_t total_ns = 0;  // with the steps inside
  int64_t own_ns = 0;
};

struct ProgramTimes {
  const StepTable* program = nullptr;  // the profile's
  int64_t runs = 0;
  int64_t total_ns = 0;            // of all runs
  std::vector<StepTimes> steps;    // that were executed, by falling own time
  int64_t OwnNanoseconds() const;  // of all steps: the rest was spent before, between and after them
};

// Returns the programs by falling time; programs that are equal but for their identity are several.
std::vector<ProgramTimes> Summarize(const Profile& profile);

}  // namespace hilo::profile

#endif  // HILO_RUNTIME_PROFILE_SUMMARY_H_
