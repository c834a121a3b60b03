// The oracle of random programs: what each value is, and how far a correct backend may be from it.
#ifndef HILO_TESTS_FUZZ_TRACKED_EVALUATOR_H_
#define HILO_TESTS_FUZZ_TRACKED_EVALUATOR_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/ir/hlo_module.h"
#include "shape/literal.h"

namespace hilo::fuzz {

// An array, and the largest absolute difference that another evaluation of the same program may
// have. 0: none, every bit is given. Infinity: nothing is known (a rounding may have decided a
// comparison).
struct Tracked {
  std::shared_ptr<const Literal> value;
  double error = 0;
};
using TrackedLeaves = std::vector<Tracked>;  // of a value, depth first

// Evaluates instructions by HloEvaluator and follows how rounding errors grow. The rounding of an
// op is known by its opcode and element type; how it passes on the errors of its operands is
// measured, by evaluating it on operands moved by their errors, or (sums and products) calculated.
// Strict programs round every operation as its type says; others may contract, reorder and keep
// more digits, and there only sums and products of integers are exact.
class TrackedEvaluator {
 public:
  explicit TrackedEvaluator(bool strict) : strict_(strict) {}

  // The leaves of a computation's root; arguments by parameter number.
  // Errors: the evaluator's; FailedPrecondition if control flow hangs on a value that is not exact,
  // or a loop runs beyond 1000 trips.
  absl::StatusOr<TrackedLeaves> Run(const HloComputation& computation,
                                    absl::Span<const TrackedLeaves> arguments);
  // One instruction other than a parameter.
  absl::StatusOr<TrackedLeaves> Step(const HloInstruction& instruction,
                                     absl::Span<const TrackedLeaves* const> operands);

 private:
  absl::StatusOr<double> ErrorOf(const HloInstruction& instruction,
                                 absl::Span<const Tracked* const> operands, const Literal& result);
  absl::StatusOr<double> Sensitivity(const HloInstruction& instruction,
                                     absl::Span<const Tracked* const> operands,
                                     const Literal& result);
  double Rounding(const HloInstruction& instruction, absl::Span<const Tracked* const> operands,
                  const Literal& result) const;

  bool strict_;
};

// Leaves of exact values; takes tuples apart.
TrackedLeaves ExactLeaves(Literal literal);
// The leaves put together again as a value of `shape`.
Literal Assemble(const Shape& shape, absl::Span<const Tracked> leaves);

// The largest magnitude of a finite element (of either part of complex ones); 0 if there is none.
double MaxFinite(const Literal& literal);
// OK if `actual` is within `expected.error` (NaN equals NaN); else says where it is not.
// `zeros_are_equal`: -0 may stand for 0.
absl::Status CompareTracked(const Tracked& expected, const Literal& actual, bool zeros_are_equal);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_TRACKED_EVALUATOR_H_
