// Custom calls that are ops of XLA's own: annotations go, buffers of any content are zeros, TopK is the op.
#include "hlo/ops/structure/custom_call.h"

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

absl::StatusOr<XlaOp> Zeros(const Shape& shape, XlaBuilder* builder) {
  if (!shape.IsArray()) return Unimplemented("custom-call: AllocateBuffer of ", shape.ToString());
  return Broadcast(ConstantLiteral(builder, LiteralUtil::Zero(shape.element_type())), shape.dimensions());
}

std::vector<const Shape*> OperandShapes(const HloInstruction& instruction) {
  std::vector<const Shape*> shapes;
  for (const HloInstruction* operand : instruction.operands()) shapes.push_back(&operand->shape());
  return shapes;
}

}  // namespace

absl::StatusOr<XlaOp> ExpandCustomCall(const HloInstruction& instruction, XlaBuilder* builder,
                                       absl::Span<const XlaOp> operands) {
  const std::string& target = instruction.attrs<CustomCallAttrs>().custom_call_target;
  const Shape& shape = instruction.shape();
  switch (MeaningOfCustomCall(target)) {
    case CustomCallMeaning::kForward:
      HILO_RETURN_IF_ERROR(CheckForwards(target, OperandShapes(instruction), shape));
      if (operands.size() == 1 && ShapeUtil::Compatible(instruction.operand(0)->shape(), shape)) return operands[0];
      return Tuple(builder, shape.tuple_shapes_size() == 0 ? absl::Span<const XlaOp>() : operands);
    case CustomCallMeaning::kAllocate: return Zeros(shape, builder);
    case CustomCallMeaning::kTopK: {
      auto attributes = std::make_unique<TopKAttrs>(TopKAttributesOf(shape));
      return AddOp(builder, HloOpcode::kTopK, operands, std::move(attributes), {}, &shape);
    }
    case CustomCallMeaning::kFunction: break;
  }
  return Unimplemented("custom-call: this platform cannot call functions such as ", target);
}

}  // namespace hilo
