// The oracle of random programs: what each value is, and how far a correct backend may be from it.
#ifndef HILO_TESTS_FUZZ_TRACKED_EVALUATOR_H_
#define HILO_TESTS_FUZZ_TRACKED_EVALUATOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_module.h"
#include "tests/fuzz/error_bounds.h"

namespace hilo::fuzz {

using TrackedLeaves = std::vector<Tracked>;  // of a value, depth first

// Evaluates instructions by HloEvaluator and follows how rounding errors grow (error_bounds.h).
class TrackedEvaluator {
 public:
  explicit TrackedEvaluator(bool strict) : strict_(strict) {}

  // The leaves of a computation's root; arguments by parameter number.
  // Errors: the evaluator's; FailedPrecondition if control flow hangs on a value that is not exact, a loop runs beyond
  // 1000 trips, or an instruction takes the evaluator more than some seconds.
  absl::StatusOr<TrackedLeaves> Run(const HloComputation& computation, absl::Span<const TrackedLeaves> arguments);
  // One instruction other than a parameter.
  absl::StatusOr<TrackedLeaves> Step(const HloInstruction& instruction,
                                     absl::Span<const TrackedLeaves* const> operands);

 private:
  bool strict_;
};

// Leaves of exact values; takes tuples apart.
TrackedLeaves ExactLeaves(Literal literal);
// The leaves put together again as a value of `shape`.
Literal Assemble(const Shape& shape, absl::Span<const Tracked> leaves);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_TRACKED_EVALUATOR_H_
