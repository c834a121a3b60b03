// Finds the instruction that makes the first NaN or infinity of a run.
#ifndef HILO_BACKENDS_INTERPRETER_FINITE_CHECK_H_
#define HILO_BACKENDS_INTERPRETER_FINITE_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// An observer of HloEvaluator. Errors: FailedPrecondition, naming the instruction, the element, its operands there and
// the line of the source, if the value has a NaN and no operand has one, or an infinity and no operand has one.
// Constants and instructions that only pass values on are accepted; arguments that are not finite are reported.
absl::Status CheckFinite(const HloInstruction& instruction, absl::Span<const HloEvaluator::Leaves* const> operands,
                         const HloEvaluator::Leaves& value);

}  // namespace hilo

#endif  // HILO_BACKENDS_INTERPRETER_FINITE_CHECK_H_
