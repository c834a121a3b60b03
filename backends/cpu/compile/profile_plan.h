// Divides a program into the steps whose times a profile states (runtime/profile/recorder.h). A step is a contiguous
// part of the schedule of a computation, of which all but the longest instruction together are estimated to take less
// than kStepNanoseconds; so a mark costs little of what it measures, and long instructions are steps of their own.
// A loop or a branch is a step, with steps of its own inside if an execution of its computation is long enough.
#ifndef HILO_BACKENDS_CPU_COMPILE_PROFILE_PLAN_H_
#define HILO_BACKENDS_CPU_COMPILE_PROFILE_PLAN_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/cpu/compile/function_partition.h"
#include "hlo/ir/hlo_module.h"
#include "runtime/profile/recorder.h"

namespace hilo::cpu {

class ProfilePlan {
 public:
  // Errors: those of SequentialComputations.
  static absl::StatusOr<ProfilePlan> Create(const HloModule& module, const FunctionPartition& partition);

  // Returns the step that begins with the instruction and is marked in the code, or -1. Step 0 is not marked.
  int64_t StepAt(const HloInstruction* instruction) const;
  // Returns true if the computations of a loop, a branch or a call have steps of their own.
  bool HasStepsInside(const HloInstruction& instruction) const;

  const std::shared_ptr<const profile::StepTable>& steps() const { return steps_; }

 private:
  absl::flat_hash_map<const HloInstruction*, int64_t> step_at_;
  absl::flat_hash_set<const HloComputation*> marked_;
  std::shared_ptr<const profile::StepTable> steps_;
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_PROFILE_PLAN_H_
