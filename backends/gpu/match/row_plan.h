// Row groups whose rows are in the registers of a block, or go through them.
#ifndef HILO_BACKENDS_GPU_MATCH_ROW_PLAN_H_
#define HILO_BACKENDS_GPU_MATCH_ROW_PLAN_H_

#include <cstdint>
#include <optional>

#include "hlo/analysis/row_group.h"

namespace hilo::gpu {

// How a kernel computes a row group. A row has `threads` threads, a power of two; thread t holds the groups t, t +
// threads ... of `group` adjacent columns, at most `groups` of them and at least one, all in registers.
//
// With reductions across the rows, blocks of `block` threads go through the rows, a part of them each, and a thread
// keeps what these reductions make of its columns in registers until the end.
struct RowPlan : RowGroup {
  int64_t threads = 1, group = 1, groups = 1;
  int64_t block = 0;

  int64_t BlockRows() const { return block / threads; }
  bool IsStreamed() const { return groups == 0; }
};
// Reductions across the rows of one kernel: two of a layer norm's gradient, one of its other forms.
inline constexpr int64_t kMaxColumnReductions = 3;
// Returns nullopt if the instruction has no such kernel, or if its rows do not fit into registers.
std::optional<RowPlan> PlanRows(const HloInstruction* instruction, bool strict);
// Plans a kernel whose blocks go through their row again for each level of reductions and for the results: `groups` is
// 0. Returns nullopt if the instruction has no such kernel.
std::optional<RowPlan> PlanStreamedRows(const HloInstruction* instruction, bool strict);
// Returns the plan of an instruction whose KernelConfig has its numbers: {block, threads, groups}, and the group as
// width.
std::optional<RowPlan> RowPlanOf(const HloInstruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_ROW_PLAN_H_
