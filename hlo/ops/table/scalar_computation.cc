#include "hlo/ops/table/scalar_computation.h"

#include <utility>

#include "hilo/status_macros.h"

namespace hilo {

ScalarComputation::ScalarComputation(const ComputationFn& fn, absl::Span<const PrimitiveType> types) : fn_(fn) {
  for (PrimitiveType type : types) arguments_.push_back(LiteralUtil::Zero(type));
  for (const Literal& argument : arguments_) argument_pointers_.push_back(&argument);
}

absl::Status ScalarComputation::Call() {
  HILO_ASSIGN_OR_RETURN(result_, fn_(argument_pointers_));
  return absl::OkStatus();
}

}  // namespace hilo
