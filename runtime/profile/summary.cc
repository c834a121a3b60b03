#include "runtime/profile/summary.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace hilo::profile {

int64_t ProgramTimes::OwnNanoseconds() const {
  int64_t sum = 0;
  for (const StepTimes& step : steps) sum += step.own_ns;
  return sum;
}

std::vector<ProgramTimes> Summarize(const Profile& profile) {
  std::vector<ProgramTimes> programs;
  absl::flat_hash_map<const StepTable*, size_t> index;
  for (const Run& run : profile.runs) {
    const StepTable* table = run.table.get();
    const auto [known, is_new] = index.try_emplace(table, programs.size());
    if (is_new) {
      ProgramTimes& added = programs.emplace_back();
      added.program = table;
      for (const Step& step : table->steps) added.steps.push_back({.step = &step});
    }
    ProgramTimes& times = programs[known->second];
    for (const Span& span : run.spans) {
      const int64_t nanoseconds = span.end - span.begin;
      if (span.step < 0) {
        ++times.runs;
        times.total_ns += nanoseconds;
        continue;
      }
      StepTimes& step = times.steps[span.step];
      ++step.executions;
      step.total_ns += nanoseconds;
      step.own_ns += nanoseconds - span.within;
    }
  }
  for (ProgramTimes& times : programs) {
    std::erase_if(times.steps, [](const StepTimes& step) { return step.executions == 0; });
    std::stable_sort(times.steps.begin(), times.steps.end(),
                     [](const StepTimes& a, const StepTimes& b) { return a.own_ns > b.own_ns; });
  }
  std::stable_sort(programs.begin(), programs.end(),
                   [](const ProgramTimes& a, const ProgramTimes& b) { return a.total_ns > b.total_ns; });
  return programs;
}

}  // namespace hilo::profile
