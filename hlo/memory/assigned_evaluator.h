// Evaluates a module in the memory that BufferAssignment assigns: the test oracle of copy insertion and assignment.
#ifndef HILO_HLO_MEMORY_ASSIGNED_EVALUATOR_H_
#define HILO_HLO_MEMORY_ASSIGNED_EVALUATOR_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/work_budget.h"
#include "hilo/literal.h"
#include "hlo/evaluator/evaluation_environment.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo {

// As HloEvaluator::Evaluate, but every value is written to and read from its slice, and memory that has not been
// written, including frames of finished calls, holds a poison pattern. Sharing that destroys a live value causes a
// wrong result.
absl::StatusOr<Literal> EvaluateInAssignedBuffers(const HloModule& module, const BufferAssignment& assignment,
                                                  absl::Span<const Literal* const> arguments,
                                                  EvaluationEnvironment* environment = nullptr,
                                                  WorkBudget* budget = nullptr);

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_ASSIGNED_EVALUATOR_H_
