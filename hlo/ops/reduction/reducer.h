// The scalar function of reduce and reduce-window: takes N running values and N elements, returns N new
// running values.
#ifndef HILO_HLO_OPS_REDUCTION_REDUCER_H_
#define HILO_HLO_OPS_REDUCTION_REDUCER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ops/table/op.h"
#include "hlo/ops/table/scalar_computation.h"

namespace hilo {

// Checks that operands are N arrays of equal dimensions and N scalars of the same element types, N >= 1, and
// that to_apply fits them. Returns those types.
absl::StatusOr<std::vector<PrimitiveType>> CheckReduction(const OpView& op);

class Reducer {
 public:
  // `operands`: N arrays, N initial values.
  Reducer(const OpView& op, Operands operands);

  // Running values = initial values.
  void Start();
  // Combines with element `linear` of each array: running = f(running, element).
  absl::Status Combine(int64_t linear);
  // Stores the running values as element `linear` of each of `results`.
  void Finish(int64_t linear, absl::Span<Literal> results);

 private:
  static std::vector<PrimitiveType> ParameterTypes(Operands operands);

  Operands operands_;
  int64_t n_;
  ScalarComputation function_;
  std::vector<const uint8_t*> running_;
};

// Zeros of the N array shapes in `shape`, to be collated.
absl::StatusOr<std::vector<Literal>> CreateResults(const Shape& shape);

}  // namespace hilo

#endif  // HILO_HLO_OPS_REDUCTION_REDUCER_H_
