// Shared by the files that emit ops on arrays at their bounds. Private to this folder.
#ifndef HILO_HLO_PASSES_DYNAMIC_STATIC_FORMS_H_
#define HILO_HLO_PASSES_DYNAMIC_STATIC_FORMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/passes/dynamic/sized_value.h"

namespace hilo {

using SizedOperands = absl::Span<const SizedValue* const>;

std::vector<HloInstruction*> DataOf(SizedOperands operands);
std::vector<int64_t> AllDimensions(const Shape& shape);
// Unimplemented: names the op and `what`.
absl::Status NotWritten(const HloInstruction& instruction, absl::string_view what);
// The result with the sizes that propagate to it.
SizedValue WithFlows(const HloInstruction& instruction, SizedOperands operands, HloInstruction* data);
// The size of one dimension after a window over `size` elements.
HloInstruction* WindowedSize(HloInstruction* size, const Window::Dimension& window, GraphWriter* writer);

// Ops that combine elements by a computation of the module (static_reductions.cc).
absl::StatusOr<SizedValue> WriteReduce(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer);
absl::StatusOr<SizedValue> WriteReduceWindow(const HloInstruction& instruction, SizedOperands operands,
                                             GraphWriter* writer);
absl::StatusOr<SizedValue> WriteSelectAndScatter(const HloInstruction& instruction, SizedOperands operands,
                                                 GraphWriter* writer);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DYNAMIC_STATIC_FORMS_H_
