// A called computation on scalars, run once per element.
//
// The arguments are scalar literals made once and overwritten for each call, since allocating them for
// each call would cost more than most computations.
#ifndef HILO_HLO_OPS_TABLE_SCALAR_COMPUTATION_H_
#define HILO_HLO_OPS_TABLE_SCALAR_COMPUTATION_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ops/table/op.h"

namespace hilo {

class ScalarComputation {
 public:
  // `fn` outlives this; `types` are those of its parameters.
  ScalarComputation(const ComputationFn& fn, absl::Span<const PrimitiveType> types);
  ScalarComputation(const ScalarComputation&) = delete;
  ScalarComputation& operator=(const ScalarComputation&) = delete;

  int64_t element_size(int64_t i) const { return static_cast<int64_t>(arguments_[i].untyped_data().size()); }
  void SetArgument(int64_t i, const uint8_t* element) {
    std::memcpy(arguments_[i].untyped_data().data(), element, element_size(i));
  }
  // Errors: those of the computation.
  absl::Status Call();
  // Bytes of element k of the result of the last call; 0 is the result itself if it is not a tuple.
  const uint8_t* result(int64_t k) const {
    return (result_.shape().IsTuple() ? result_.element(k) : result_).untyped_data().data();
  }

 private:
  const ComputationFn& fn_;
  std::vector<Literal> arguments_;
  std::vector<const Literal*> argument_pointers_;
  Literal result_;
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_SCALAR_COMPUTATION_H_
