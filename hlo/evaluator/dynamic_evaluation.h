// Evaluation of instructions on operands with dynamic dimensions.
#ifndef HILO_HLO_EVALUATOR_DYNAMIC_EVALUATION_H_
#define HILO_HLO_EVALUATOR_DYNAMIC_EVALUATION_H_

#include "absl/status/statusor.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/table/op.h"

namespace hilo {

bool AnyDynamic(Operands operands);

// As EvaluateOp for an instruction of which AnyDynamic(operands); `op` is its view. Errors: Unimplemented for ops that
// take no dynamic dimensions.
absl::StatusOr<Literal> EvaluateDynamic(const HloInstruction& instruction, const OpView& op, Operands operands);

}  // namespace hilo

#endif  // HILO_HLO_EVALUATOR_DYNAMIC_EVALUATION_H_
