#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kParameter>(const OpView& op) {
  const int64_t number = op.attrs<ParameterAttrs>().number;
  if (number < 0) return InvalidOp(op, "number = ", number, " is negative");
  if (op.stated == nullptr) return InvalidOp(op, "a parameter needs a stated shape");
  return WithoutLayouts(*op.stated);
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kParameter>(const OpView& op, const Shape&, Operands) {
  return Internal("parameter: the value of parameter ", op.attrs<ParameterAttrs>().number,
                  " comes from the caller, not from an evaluation");
}

}  // namespace hilo
