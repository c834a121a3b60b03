// clamp(low, x, high) = min(max(low, x), high), so that `high` decides where low > high, and NaN
// anywhere gives NaN.
#include "hilo/status_macros.h"
#include "hlo/ops/elementwise/elementwise_kernels.h"
#include "hlo/ops/linalg/wide_elements.h"
#include "hlo/ops/table/checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kClamp>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckSameElementTypes(op));  // clamp_c3
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, 1, kInt | kFloat | kComplex | kBool));
  for (int i : {0, 2}) {
    // clamp_c1, clamp_c2
    if (!op.operand(i).IsScalar() && !ShapeUtil::SameDimensions(op.operand(i), op.operand(1))) {
      return InvalidOp(op, "operand ", i, " must be a scalar or have the dimensions of ", op.operand(1).ToString(),
                       ", got ", op.operand(i).ToString());
    }
  }
  return ElementwiseShape(op, op.operand(1).element_type());
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kClamp>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  HILO_RETURN_IF_ERROR(WideTypeSwitch(shape.element_type(), [&](auto tag) {
    using W = typename decltype(tag)::type;
    auto loop = [](const W* low, const W* x, const W* high, W* out, int64_t n) {
      for (int64_t i = 0; i < n; ++i) out[i] = MinimumOf(MaximumOf(low[i], x[i]), high[i]);
    };
    return ForEachBlock(op, result->element_count(), loop, WideWriter<W>(&*result),
                        WideReader<W>(*operands[0], operands[0]->shape().IsScalar()), WideReader<W>(*operands[1]),
                        WideReader<W>(*operands[2], operands[2]->shape().IsScalar()));
  }));
  return result;
}

}  // namespace hilo
