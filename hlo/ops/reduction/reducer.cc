#include "hlo/ops/reduction/reducer.h"

#include <cstring>
#include <utility>

#include "hlo/ops/table/op_checks.h"

namespace hilo {

absl::StatusOr<std::vector<PrimitiveType>> CheckReduction(const OpView& op) {
  const int64_t count = op.operands.size();
  if (count == 0 || count % 2 != 0) {
    return InvalidOp(op, "expected N >= 1 arrays and as many initial values, got ", count, " operands");
  }
  const int64_t n = count / 2;
  HILO_RETURN_IF_ERROR(CheckSameDimensions(op, 0, n, "arrays"));
  std::vector<PrimitiveType> types;
  for (int64_t i = 0; i < n; ++i) {
    const Shape& init = op.operand(n + i);
    if (!init.IsScalar() || init.element_type() != op.operand(i).element_type()) {
      return InvalidOp(op, "initial value ", i, " must be ", PrimitiveTypeName(op.operand(i).element_type()),
                       "[], but is ", init.ToString());
    }
    types.push_back(init.element_type());
  }
  HILO_RETURN_IF_ERROR(CheckReducer(op, types));
  return types;
}

Reducer::Reducer(const OpView& op, Operands operands)
    : operands_(operands),
      n_(operands.size() / 2),
      function_(op.computations[0], ParameterTypes(operands)),
      running_(n_) {}

// The types of the arrays and then of the initial values are just those of the parameters.
std::vector<PrimitiveType> Reducer::ParameterTypes(Operands operands) {
  std::vector<PrimitiveType> types;
  for (const Literal* operand : operands) types.push_back(operand->shape().element_type());
  return types;
}

void Reducer::Start() {
  for (int64_t i = 0; i < n_; ++i) running_[i] = operands_[n_ + i]->untyped_data().data();
}

absl::Status Reducer::Combine(int64_t linear) {
  for (int64_t i = 0; i < n_; ++i) {
    function_.SetArgument(i, running_[i]);
    function_.SetArgument(n_ + i, operands_[i]->untyped_data().data() + linear * function_.element_size(i));
  }
  HILO_RETURN_IF_ERROR(function_.Call());
  for (int64_t i = 0; i < n_; ++i) running_[i] = function_.result(i);
  return absl::OkStatus();
}

void Reducer::Finish(int64_t linear, absl::Span<Literal> results) {
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t size = function_.element_size(i);
    std::memcpy(results[i].untyped_data().data() + linear * size, running_[i], size);
  }
}

absl::StatusOr<std::vector<Literal>> CreateResults(const Shape& shape) {
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  if (shape.IsTuple()) return std::move(literal).DecomposeTuple();
  std::vector<Literal> results;
  results.push_back(std::move(literal));
  return results;
}

}  // namespace hilo
