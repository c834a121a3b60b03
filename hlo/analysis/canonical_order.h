// An order of instructions that depends on what a computation computes alone.
#ifndef HILO_HLO_ANALYSIS_CANONICAL_ORDER_H_
#define HILO_HLO_ANALYSIS_CANONICAL_ORDER_H_

#include <vector>

#include "hlo/ir/hlo_computation.h"

namespace hilo {

// Returns the parameters by number, and then what the root needs, operands first, as it is reached from the root.
// Equal computations have equal orders, whatever the order in which their instructions were added.
std::vector<HloInstruction*> CanonicalOrder(const HloComputation& computation);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_CANONICAL_ORDER_H_
