// Combinations of several running values that replace two reductions of an array, of which the second one needs the
// result of the first: with these the array is read once (hlo/passes/reductions/one_pass_reductions.cc). Each is
// associative and commutative but for rounding.
#ifndef HILO_HLO_ANALYSIS_ONE_PASS_REDUCTION_H_
#define HILO_HLO_ANALYSIS_ONE_PASS_REDUCTION_H_

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Adds the combination of pairs (m, s) of a maximum, of type `element`, and a sum of exponentials less it, of type
// `sum`: the elements x of an array are the pairs (x, 1), and the empty array is (-inf, 0). The result for a whole
// array is (max(x), sum(exp(x - max(x)))), but that s is the number of elements where all are -inf, and anything where
// m is inf.
absl::StatusOr<HloComputation*> AddExponentialSum(HloModule* module, PrimitiveType element, PrimitiveType sum);

// Adds the combination of triples (s, v, n), all of `type`, of a sum, a sum of squared differences from the mean, and a
// number of elements: the elements x of an array are the triples (x, 0, 1), and the empty array is (0, 0, 0). The
// result for a whole array is (sum(x), sum((x - mean(x))^2), n). (Chan, Golub, LeVeque: Updating Formulae and a
// Pairwise Algorithm for Computing Sample Variances, 1979.)
absl::StatusOr<HloComputation*> AddMoments(HloModule* module, PrimitiveType type);

// Returns true if `reduce` combines by one of these.
bool IsOnePassReduction(const HloInstruction& reduce);

// Returns true if `reduce` combines by AddMoments the triples (x, 0, 1) of the elements of one array. Those of a few
// elements are better computed directly, from their mean, than combined one by one, each with two divisions.
bool IsMomentsOfElements(const HloInstruction& reduce);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_ONE_PASS_REDUCTION_H_
