// The starts of a dynamic-slice or dynamic-update-slice as scalars.
#ifndef HILO_HLO_IR_START_SCALARS_H_
#define HILO_HLO_IR_START_SCALARS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// Programs of older versions of XLA give the starts as one vector with an element for each dimension. Returns
// `operands` with a scalar for each instead, which is added to `computation`; unchanged for other opcodes, and for
// operands that are not of that form.
absl::StatusOr<std::vector<HloInstruction*>> WithStartScalars(HloOpcode opcode, std::vector<HloInstruction*> operands,
                                                              HloComputation* computation);

}  // namespace hilo

#endif  // HILO_HLO_IR_START_SCALARS_H_
