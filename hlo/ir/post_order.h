// The order of some of a computation's instructions.
#ifndef HILO_HLO_IR_POST_ORDER_H_
#define HILO_HLO_IR_POST_ORDER_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Returns `root` and all that it depends on through instructions for which `is_inside` returns true, operands first.
std::vector<HloInstruction*> PostOrderWithin(HloInstruction* root,
                                             absl::FunctionRef<bool(const HloInstruction&)> is_inside);

}  // namespace hilo

#endif  // HILO_HLO_IR_POST_ORDER_H_
