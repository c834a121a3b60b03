// Lets fusions that differ in constants share code.
#ifndef HILO_HLO_PASSES_CONSTANT_OPERANDS_H_
#define HILO_HLO_PASSES_CONSTANT_OPERANDS_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "lift-constants": floating-point scalars in which fusions differ that are equal otherwise become operands. After
// fusion.
std::unique_ptr<HloPass> MakeConstantOperands();

}  // namespace hilo

#endif  // HILO_HLO_PASSES_CONSTANT_OPERANDS_H_
