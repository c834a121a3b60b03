// scaled-dot(a, b, s, t) => dot(a * blocks(s), b * blocks(t)); blocks repeats each scale over its block of equal
// elements.
#include "hilo/status_macros.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/linalg/scaled_type.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

XlaOp Scaled(const Shape& shape, XlaOp operand, const Shape& scale_shape, XlaOp scale) {
  if (scale_shape.rank() == 0) return operand;
  const PrimitiveType type = ScaledType(shape.element_type(), scale_shape.element_type());
  // Each dimension as blocks and offsets within a block.
  std::vector<int64_t> split, kept;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    kept.push_back(2 * d);
    split.push_back(scale_shape.dimensions(d));
    split.push_back(scale_shape.dimensions(d) == 0 ? 1 : shape.dimensions(d) / scale_shape.dimensions(d));
  }
  const XlaOp blocks = Reshape(BroadcastInDim(ConvertElementType(scale, type), split, kept), shape.dimensions());
  return Mul(ConvertElementType(operand, type), blocks);
}

}  // namespace

absl::StatusOr<XlaOp> ExpandScaledDot(const HloInstruction& instruction, XlaBuilder* builder,
                                      absl::Span<const XlaOp> operands) {
  std::vector<XlaOp> scaled;
  for (int64_t i = 0; i < 2; ++i) {
    scaled.push_back(
        Scaled(instruction.operand(i)->shape(), operands[i], instruction.operand(i + 2)->shape(), operands[i + 2]));
  }
  return AddOp(builder, HloOpcode::kDot, scaled, instruction.attributes()->Clone(), {}, &instruction.shape());
}

}  // namespace hilo
