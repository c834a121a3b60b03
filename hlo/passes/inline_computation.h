// Inlines the instructions of a computation into another one.
#ifndef HILO_HLO_PASSES_INLINE_COMPUTATION_H_
#define HILO_HLO_PASSES_INLINE_COMPUTATION_H_

#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Copies the instructions of `target` into `caller`, with `arguments` substituted for its parameters, and returns the
// copy of its root (an argument, if the root is a parameter). Computations that they call are shared if they are of the
// caller's module and copied if not; fused ones are always copied, as they belong to one fusion. The copies are
// appended to `added`, unless that is null.
HloInstruction* InlineComputation(const HloComputation& target, absl::Span<HloInstruction* const> arguments,
                                  HloComputation* caller, std::vector<HloInstruction*>* added = nullptr);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_INLINE_COMPUTATION_H_
