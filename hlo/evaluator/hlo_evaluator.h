// Interprets a module on literals, one instruction after the other, by the naive semantics of each op: the reference of
// every test.
#ifndef HILO_HLO_EVALUATOR_HLO_EVALUATOR_H_
#define HILO_HLO_EVALUATOR_HLO_EVALUATOR_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/work_budget.h"
#include "hilo/literal.h"
#include "hlo/evaluator/evaluation_environment.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op.h"

namespace hilo {

class HloEvaluator {
 public:
  // `budget` is charged one operation per computed element plus some for each instruction, and ends the
  // evaluation by its errors; null: unlimited. `environment` runs ops that reach outside; null: a single device, and
  // nothing outside. Both outlive the evaluator.
  explicit HloEvaluator(WorkBudget* budget = nullptr, EvaluationEnvironment* environment = nullptr)
      : budget_(budget), environment_(environment) {}

  // The result of the entry computation; one literal per parameter (tuples as tuple literals).
  // Errors: InvalidArgument if the arguments do not fit; Unimplemented for ops known by name only; each with the
  // instruction named; those of the budget.
  absl::StatusOr<Literal> Evaluate(const HloModule& module, absl::Span<const Literal* const> arguments);
  absl::StatusOr<Literal> Evaluate(const HloComputation& computation, absl::Span<const Literal* const> arguments);

  // One instruction, on literals of its operands. Not for parameters and control flow.
  absl::StatusOr<Literal> EvaluateInstruction(const HloInstruction& instruction, Operands operands);

  // A value as its leaves, depth first, shared between instructions.
  using Leaves = std::vector<std::shared_ptr<const Literal>>;
  // Called with each instruction that has been evaluated, in each computation, its operands and its value; of
  // parameters with those of the outermost computation. Its error ends the evaluation.
  using Observer = std::function<absl::Status(const HloInstruction& instruction,
                                              absl::Span<const Leaves* const> operands, const Leaves& value)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }

 private:
  // Data prepared once for each computation.
  struct Plan {
    struct Step {
      const HloInstruction* instruction;
      std::vector<int> operands;   // step numbers
      std::vector<int> last_uses;  // steps whose values have no use after this one
    };
    std::vector<Step> steps;
    int root = 0;
  };
  const Plan& PlanOf(const HloComputation& computation);

  absl::StatusOr<Leaves> Run(const HloComputation& computation, const std::vector<Leaves>& arguments);
  absl::StatusOr<Leaves> RunStep(const HloInstruction& instruction, const std::vector<const Leaves*>& operands);
  absl::StatusOr<Leaves> RunWhile(const HloInstruction& loop, const Leaves& init);
  absl::StatusOr<Leaves> RunConditional(const HloInstruction& conditional, const std::vector<const Leaves*>& operands);
  absl::StatusOr<Literal> RunOutside(const HloInstruction& instruction, Operands operands);
  // The callbacks through which ops call their computations.
  const std::vector<ComputationFn>& CallbacksOf(const HloInstruction& instruction);

  absl::Status Spend(int64_t operations) { return budget_ == nullptr ? absl::OkStatus() : budget_->Spend(operations); }

  WorkBudget* budget_;
  EvaluationEnvironment* environment_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<Plan>> plans_;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<std::vector<ComputationFn>>> callbacks_;
  Observer observer_;  // null: none
  int depth_ = 0;
};

}  // namespace hilo

#endif  // HILO_HLO_EVALUATOR_HLO_EVALUATOR_H_
