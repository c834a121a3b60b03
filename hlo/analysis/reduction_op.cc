#include "hlo/analysis/reduction_op.h"

#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {

std::optional<HloOpcode> ReductionOp(const HloComputation& computation) {
  return ReductionOp(computation, *computation.root_instruction());
}

std::optional<HloOpcode> ReductionOp(const HloComputation& computation, const HloInstruction& result) {
  if (computation.num_parameters() != 2 || result.operand_count() != 2) return std::nullopt;
  const HloInstruction* lhs = result.operand(0);
  const HloInstruction* rhs = result.operand(1);
  if (!lhs->IsParameter() || !rhs->IsParameter() || lhs == rhs) return std::nullopt;
  if (!HasTrait(result.opcode(), kAssociative) || !HasTrait(result.opcode(), kCommutative)) return std::nullopt;
  return result.opcode();
}

namespace {

Literal Zero(PrimitiveType type) { return LiteralUtil::Zero(type); }

constexpr OpcodeMap<Literal (*)(PrimitiveType type)> kIdentity = {
    {HloOpcode::kAdd,
     [](PrimitiveType type) {
       if (type == C64) return LiteralUtil::CreateR0(complex64(-0.0F, -0.0F));
       if (type == C128) return LiteralUtil::CreateR0(complex128(-0.0, -0.0));
       return IsFloatingPointType(type) ? LiteralUtil::FromDouble(type, -0.0) : LiteralUtil::Zero(type);
     }},
    {HloOpcode::kAnd,
     [](PrimitiveType type) {  // all bits
       return IsSignedIntegralType(type) ? LiteralUtil::FromDouble(type, -1) : LiteralUtil::MaxValue(type);
     }},
    {HloOpcode::kMaximum, [](PrimitiveType type) { return LiteralUtil::MinValue(type); }},
    {HloOpcode::kMinimum, [](PrimitiveType type) { return LiteralUtil::MaxValue(type); }},
    {HloOpcode::kMultiply, [](PrimitiveType type) { return LiteralUtil::One(type); }},
    {HloOpcode::kOr, Zero},
    {HloOpcode::kXor, Zero},
};

}  // namespace

std::optional<Literal> IdentityOf(HloOpcode op, PrimitiveType type) {
  const bool is_ordered = op == HloOpcode::kMaximum || op == HloOpcode::kMinimum;
  const bool has_no_zero = type == F8E8M0FNU && op == HloOpcode::kAdd;
  if (kIdentity[op] == nullptr || (is_ordered && IsComplexType(type)) || has_no_zero) return std::nullopt;
  return kIdentity[op](type);
}

bool MayReorder(const HloInstruction& reduce, bool strict) {
  const PrimitiveType type = reduce.operand(0)->shape().element_type();
  if (strict && !IsIntegralType(type) && type != PRED) return false;
  return ReductionOp(*reduce.called_computation()).has_value();
}

bool MayReorderEach(const HloInstruction& reduce, bool strict) {
  const HloInstruction& root = *reduce.called_computation()->root_instruction();
  const int64_t count = reduce.operand_count() / 2;
  if (root.opcode() != HloOpcode::kTuple) return false;
  for (int64_t i = 0; i < count; ++i) {
    const PrimitiveType type = reduce.operand(i)->shape().element_type();
    if (strict && !IsIntegralType(type) && type != PRED) return false;
    const HloInstruction& result = *root.operand(i);
    if (!HasTrait(result.opcode(), kAssociative) || !HasTrait(result.opcode(), kCommutative)) return false;
    for (const int64_t j : {0, 1}) {
      const HloInstruction &own = *result.operand(j), &other = *result.operand(1 - j);
      if (!own.IsParameter() || own.parameter_number() % count != i || &own == &other) return false;
    }
  }
  return true;
}

}  // namespace hilo
