// How far a correct backend's value may be from the evaluator's.
#ifndef HILO_TESTS_FUZZ_ERROR_BOUNDS_H_
#define HILO_TESTS_FUZZ_ERROR_BOUNDS_H_

#include <limits>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::fuzz {

inline constexpr double kUnknown = std::numeric_limits<double>::infinity();

// An array, and the largest absolute difference that another evaluation of the same program may
// have. 0: none, every bit is given. kUnknown: nothing is known (a rounding may have decided a
// comparison).
struct Tracked {
  std::shared_ptr<const Literal> value;
  double error = 0;
};

// The error of an array that `instruction` makes of the operands, all of them arrays. The rounding of
// an op is known by its opcode and element type; how it passes on the errors of its operands is
// measured, by evaluating it on operands moved by their errors, or (sums and products) calculated.
// Strict programs round every operation as its type says; others may contract, reorder and keep
// more digits, and there only sums and products of integers are exact. Errors: the evaluator's.
absl::StatusOr<double> ErrorBound(const HloInstruction& instruction, absl::Span<const Tracked* const> operands,
                                  const Literal& result, bool strict);

// The largest magnitude of a finite element (of either part of complex ones); 0 if there is none.
double MaxFinite(const Literal& literal);
// OK if `actual` is within `expected.error` (NaN equals NaN); else says where it is not.
// `zeros_are_equal`: -0 may stand for 0.
absl::Status CompareTracked(const Tracked& expected, const Literal& actual, bool zeros_are_equal);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_ERROR_BOUNDS_H_
