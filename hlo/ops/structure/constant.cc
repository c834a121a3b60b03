// A constant whose text was elided ("{...}") has no literal: its shape is known, its value is an
// error when read.
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

std::string FieldToText(const SharedLiteral& literal) {
  return literal.value == nullptr ? "{...}" : literal.value->ToString(/*with_shape=*/false);
}

absl::Status FieldFromText(absl::string_view, SharedLiteral*) {
  return InvalidArgument("constant: a literal can only be read along with its shape");
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kConstant>(const OpView& op) {
  const Literal* literal = op.attrs<ConstantAttrs>().literal.value.get();
  const Shape* shape = literal == nullptr ? op.stated : &literal->shape();
  if (shape == nullptr) return InvalidOp(op, "neither a literal nor a shape is given");
  if (!shape->IsArray()) return InvalidOp(op, "the result must be an array, got ", shape->ToString());
  // constant_c1
  if (op.stated != nullptr && !ShapeUtil::Compatible(*op.stated, *shape)) {
    return InvalidOp(op, "the stated shape is ", op.stated->ToString(), ", but the literal is ", shape->ToString());
  }
  return WithoutLayouts(*shape);
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kConstant>(const OpView& op, const Shape&, Operands) {
  const Literal* literal = op.attrs<ConstantAttrs>().literal.value.get();
  if (literal == nullptr) return InvalidOp(op, "the value was left out of the text ({...})");
  return CopyOf(*literal);
}

}  // namespace hilo
