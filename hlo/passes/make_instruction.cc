#include "hlo/passes/make_instruction.h"

#include <memory>
#include <utility>

#include "hlo/ir/hlo_module.h"

namespace hilo {

absl::StatusOr<HloInstruction*> MakeReshape(HloInstruction* operand, const Shape& shape) {
  return operand->parent()->AddOp(HloOpcode::kReshape, {operand}, nullptr, {}, &shape);
}

absl::StatusOr<HloInstruction*> MakeBroadcast(HloInstruction* operand, const Shape& shape,
                                              std::vector<int64_t> dimensions) {
  auto attributes = std::make_unique<BroadcastAttrs>();
  attributes->dimensions = std::move(dimensions);
  return operand->parent()->AddOp(HloOpcode::kBroadcast, {operand}, std::move(attributes), {}, &shape);
}

absl::StatusOr<HloInstruction*> MakeTranspose(HloInstruction* operand, std::vector<int64_t> dimensions) {
  auto attributes = std::make_unique<TransposeAttrs>();
  attributes->dimensions = std::move(dimensions);
  return operand->parent()->AddOp(HloOpcode::kTranspose, {operand}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> MakeSlice(HloInstruction* operand, std::vector<SliceRange> ranges) {
  auto attributes = std::make_unique<SliceAttrs>();
  attributes->slice = std::move(ranges);
  return operand->parent()->AddOp(HloOpcode::kSlice, {operand}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> MakeBinary(HloOpcode opcode, HloInstruction* lhs, HloInstruction* rhs) {
  return lhs->parent()->AddOp(opcode, {lhs, rhs});
}

absl::StatusOr<HloInstruction*> MakeReduce(HloInstruction* operand, HloInstruction* init,
                                           std::vector<int64_t> dimensions, HloComputation* computation) {
  auto attributes = std::make_unique<ReduceAttrs>();
  attributes->dimensions = std::move(dimensions);
  return operand->parent()->AddOp(HloOpcode::kReduce, {operand, init}, std::move(attributes), {computation});
}

absl::StatusOr<HloInstruction*> MakeTupleElement(HloInstruction* tuple, int64_t index) {
  auto attributes = std::make_unique<GetTupleElementAttrs>();
  attributes->index = index;
  return tuple->parent()->AddOp(HloOpcode::kGetTupleElement, {tuple}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> MakeUniform(HloInstruction* like, double value) {
  HloInstruction* scalar = like->parent()->AddConstant(LiteralUtil::FromDouble(like->shape().element_type(), value));
  if (like->shape().IsScalar()) return scalar;
  return MakeBroadcast(scalar, like->shape(), {});
}

HloComputation* MakeScalarComputation(HloModule* module, HloOpcode opcode, PrimitiveType type) {
  HloComputation* computation = module->AddComputation(HloOpcodeString(opcode));
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  HloInstruction* x = computation->AddInstruction(HloInstruction::CreateParameter(0, scalar, "x"));
  HloInstruction* y = computation->AddInstruction(HloInstruction::CreateParameter(1, scalar, "y"));
  auto root = computation->AddOp(opcode, {x, y});
  if (root.ok()) computation->set_root_instruction(*root).IgnoreError();
  return computation;
}

}  // namespace hilo
