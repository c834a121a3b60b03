// dot of bf16, f16 and narrower floats => the dot in f32 and its result rounded, which is what the op means. Backends ask for it where the f32 dot has a
// library.
#include "hlo/ops/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {

absl::StatusOr<XlaOp> ExpandDot(const HloInstruction& instruction, XlaBuilder* builder, absl::Span<const XlaOp> operands) {
  Shape shape = instruction.shape();
  shape.set_element_type(F32);
  const XlaOp dot = builder->AddOp(HloOpcode::kDot, {ConvertElementType(operands[0], F32), ConvertElementType(operands[1], F32)},
                                   instruction.attributes()->Clone(), {}, &shape);
  return ConvertElementType(dot, instruction.shape().element_type());
}

}  // namespace hilo
