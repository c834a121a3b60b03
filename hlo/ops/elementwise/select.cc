// select: picks elements of one of two arrays; the values' type does not matter.
#include "hilo/status_macros.h"
#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

template <int kBytes>
void SelectBytes(absl::Span<const bool> pred, const uint8_t* on_true, const uint8_t* on_false, uint8_t* out) {
  for (size_t i = 0; i < pred.size(); ++i) {
    std::memcpy(out + i * kBytes, (pred[i] ? on_true : on_false) + i * kBytes, kBytes);
  }
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kSelect>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  const Shape &pred = op.operand(0), &on_true = op.operand(1), &on_false = op.operand(2);
  if (pred.element_type() != PRED) return InvalidOp(op, "operand 0 must be pred, got ", pred.ToString());
  // select_c2
  if (on_true.element_type() != on_false.element_type() || !ShapeUtil::SameDimensions(on_true, on_false)) {
    return InvalidOp(op, "operands 1 and 2 must have one shape, got ", on_true.ToString(), " and ",
                     on_false.ToString());
  }
  // select_c1
  if (!pred.IsScalar() && !ShapeUtil::SameDimensions(pred, on_true)) {
    return InvalidOp(op, "operand 0 must be a scalar or have the dimensions of ", on_true.ToString(), ", got ",
                     pred.ToString());
  }
  return ElementwiseShape(op, on_true.element_type());
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kSelect>(const OpView&, const Shape& shape, Operands operands) {
  if (operands[0]->shape().IsScalar()) {
    HILO_ASSIGN_OR_RETURN(Literal result, CopyOf(*operands[operands[0]->data<bool>()[0] ? 1 : 2]));
    *result.mutable_shape_do_not_resize() = shape;
    return result;
  }
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const absl::Span<const bool> pred = operands[0]->data<bool>();
  const uint8_t* on_true = operands[1]->untyped_data().data();
  const uint8_t* on_false = operands[2]->untyped_data().data();
  uint8_t* out = result->untyped_data().data();
  switch (PrimitiveTypeByteSize(shape.element_type())) {
    case 1: SelectBytes<1>(pred, on_true, on_false, out); break;
    case 2: SelectBytes<2>(pred, on_true, on_false, out); break;
    case 4: SelectBytes<4>(pred, on_true, on_false, out); break;
    case 8: SelectBytes<8>(pred, on_true, on_false, out); break;
    default: SelectBytes<16>(pred, on_true, on_false, out);
  }
  return result;
}

}  // namespace hilo
