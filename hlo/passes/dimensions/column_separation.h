// What reductions across rows read of a kernel of the rows.
#ifndef HILO_HLO_PASSES_DIMENSIONS_COLUMN_SEPARATION_H_
#define HILO_HLO_PASSES_DIMENSIONS_COLUMN_SEPARATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo/analysis/row_group.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Gives reductions across rows copies of their own of what they compute from arrays in memory and from results of rows,
// such as the sums of a layer norm's gradient, where that moves fewer bytes than an array which the kernel of the rows
// writes and they read:
//
//   n = f32[8000,64] multiply(x, broadcast(r)), r of the rows, read by others too
//   p = f32[8000,64] multiply(y, n)                                =>   n' = multiply(x, broadcast(r))
//   s = f32[64] reduce(p), dimensions={0}                               p = multiply(y, n')
//
// Returns true if the computation changed. At most kMaxSeparated instructions are copied for an operand.
inline constexpr int64_t kMaxSeparated = 12;
absl::StatusOr<bool> SeparateColumns(HloComputation* computation, const PassContext& context);

// Gives gathers of few elements copies of their own of what they compute from results of rows, such as those of the
// labels' logarithms in a cross entropy, or of what rows are reduced of, such as masked similarities: the kernel of the
// rows would write or read all elements. Returns true if the computation changed.
absl::StatusOr<bool> SeparateFewReads(HloComputation* computation, const PassContext& context);

// Returns true if `instruction` is read only by reductions across the rows of `space`, through cheap element-wise
// instructions that nothing else reads: at most `max_between` of them.
bool IsForColumns(const HloInstruction& instruction, const RowSpace& space, int64_t max_between);

// Returns true if only a gather of few elements reads `instruction`, through element-wise instructions and reshapes
// that nothing else reads.
bool IsForFewReads(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DIMENSIONS_COLUMN_SEPARATION_H_
