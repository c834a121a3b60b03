#include "hlo/passes/make_instruction.h"

#include <memory>
#include <utility>

#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
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

absl::StatusOr<HloInstruction*> MergeReductions(absl::Span<HloInstruction* const> reduces) {
  HloComputation* const computation = reduces[0]->parent();
  const auto count = static_cast<int64_t>(reduces.size());
  HloComputation* combine = computation->parent()->AddComputation("combine");
  std::vector<HloInstruction*> parameters, results, operands;
  for (int64_t i = 0; i < 2 * count; ++i) {
    const Shape scalar = ShapeUtil::MakeScalarShape(reduces[i % count]->operand(0)->shape().element_type());
    parameters.push_back(combine->AddInstruction(HloInstruction::CreateParameter(i, scalar, "x")));
  }
  for (int64_t i = 0; i < count; ++i) {
    const HloOpcode op = *ReductionOp(*reduces[i]->called_computation());
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), MakeBinary(op, parameters[i], parameters[count + i]));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction* const root, combine->AddOp(HloOpcode::kTuple, results));
  HILO_RETURN_IF_ERROR(combine->set_root_instruction(root));
  for (const int64_t number : {0, 1}) {
    for (HloInstruction* reduce : reduces) operands.push_back(reduce->operand(number));
  }
  auto attributes = std::make_unique<ReduceAttrs>();
  attributes->dimensions = reduces[0]->attrs<ReduceAttrs>().dimensions;
  HILO_ASSIGN_OR_RETURN(HloInstruction* const merged,
                        computation->AddOp(HloOpcode::kReduce, operands, std::move(attributes), {&combine, 1}));
  for (int64_t i = 0; i < count; ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction* const result, MakeTupleElement(merged, i));
    HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(reduces[i], result));
  }
  return merged;
}

absl::StatusOr<HloInstruction*> MakeTupleElement(HloInstruction* tuple, int64_t index) {
  auto attributes = std::make_unique<GetTupleElementAttrs>();
  attributes->index = index;
  return tuple->parent()->AddOp(HloOpcode::kGetTupleElement, {tuple}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> MakeConvert(HloInstruction* x, PrimitiveType type) {
  if (x->shape().element_type() == type) return x;
  Shape shape = x->shape();
  shape.set_element_type(type);
  return x->parent()->AddOp(HloOpcode::kConvert, {x}, nullptr, {}, &shape);
}

HloInstruction* MakeIotaNumber(HloComputation* computation, PrimitiveType type, int64_t k) {
  if (const int bits = PrimitiveTypeBitWidth(type); IsIntegralType(type) && bits < 64) {
    k &= (int64_t{1} << bits) - 1;
    if (IsSignedIntegralType(type) && (k >> (bits - 1)) != 0) k -= int64_t{1} << bits;
  }
  return computation->AddConstant(LiteralUtil::FromDouble(type, static_cast<double>(k)));
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
