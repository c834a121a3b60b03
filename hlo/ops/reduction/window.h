// Windows that slide over an array: shared by reduce-window and select-and-scatter.
#ifndef HILO_HLO_OPS_REDUCTION_WINDOW_H_
#define HILO_HLO_OPS_REDUCTION_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "hlo/ops/table/op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

// The sizes of `array` after `window`: an index for each window. A reversed window covers the same elements
// as otherwise, in the same order, as XLA has it outside convolutions. Errors: InvalidArgument if the window
// does not fit the rank, or a part of it is not positive, or its extent is too large.
absl::StatusOr<std::vector<int64_t>> WindowedSizes(const OpView& op, const Shape& array, const Window& window);

// Calls `begin`, then `element` for the row-major index of each element under the window, in row-major order, then
// `end`, for each window in row-major order of `positions` (WindowedSizes). Positions in the padding and in the holes
// of a dilated base are skipped. Errors: those of the callbacks and of op.budget.
absl::Status ForEachWindow(const OpView& op, const Shape& array, const Window& window,
                           absl::Span<const int64_t> positions, absl::FunctionRef<void()> begin,
                           absl::FunctionRef<absl::Status(int64_t linear)> element,
                           absl::FunctionRef<absl::Status(int64_t position)> end);

}  // namespace hilo

#endif  // HILO_HLO_OPS_REDUCTION_WINDOW_H_
