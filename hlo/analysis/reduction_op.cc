#include "hlo/analysis/reduction_op.h"

#include "hlo/ir/hlo_computation.h"

namespace hilo {

std::optional<HloOpcode> ReductionOp(const HloComputation& computation) {
  const HloInstruction* root = computation.root_instruction();
  if (computation.num_parameters() != 2 || root->operand_count() != 2) return std::nullopt;
  const HloInstruction* lhs = root->operand(0);
  const HloInstruction* rhs = root->operand(1);
  if (!lhs->IsParameter() || !rhs->IsParameter() || lhs == rhs) return std::nullopt;
  if (!HasTrait(root->opcode(), kAssociative) || !HasTrait(root->opcode(), kCommutative)) return std::nullopt;
  return root->opcode();
}

std::optional<Literal> IdentityOf(HloOpcode op, PrimitiveType type) {
  switch (op) {
    case HloOpcode::kAdd:
      return IsFloatingPointType(type) ? LiteralUtil::FromDouble(type, -0.0) : LiteralUtil::Zero(type);
    case HloOpcode::kOr:
    case HloOpcode::kXor: return LiteralUtil::Zero(type);
    case HloOpcode::kMultiply: return LiteralUtil::One(type);
    case HloOpcode::kMaximum: return IsComplexType(type) ? std::nullopt : std::optional(LiteralUtil::MinValue(type));
    case HloOpcode::kMinimum: return IsComplexType(type) ? std::nullopt : std::optional(LiteralUtil::MaxValue(type));
    case HloOpcode::kAnd:
      return IsSignedIntegralType(type) ? LiteralUtil::FromDouble(type, -1) : LiteralUtil::MaxValue(type);  // all bits
    default: return std::nullopt;
  }
}

bool MayReorder(const HloInstruction& reduce, bool strict) {
  const PrimitiveType type = reduce.operand(0)->shape().element_type();
  if (strict && !IsIntegralType(type) && type != PRED) return false;
  return ReductionOp(*reduce.called_computation()).has_value();
}

}  // namespace hilo
