#include "backends/cpu/kernels/sort_key.h"

#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// Returns true if `a`, an expression of parameter 0, equals `b`, of parameter 1, with the parameters exchanged.
bool SameExpression(const HloInstruction* a, const HloInstruction* b, int depth = 0) {
  if (depth > 16 || a->opcode() != b->opcode() || !ShapeUtil::Compatible(a->shape(), b->shape())) return false;
  if (a->IsParameter()) return a->parameter_number() == 0 && b->parameter_number() == 1;
  if (a->IsConstant()) return a->literal() == b->literal();
  if (!IsElementwise(a->opcode()) || a->opcode() == HloOpcode::kMap || a->operand_count() != b->operand_count())
    return false;
  if (a->attributes() != nullptr && !a->attributes()->Equals(*b->attributes())) return false;
  for (int64_t i = 0; i < a->operand_count(); ++i) {
    if (!SameExpression(a->operand(i), b->operand(i), depth + 1)) return false;
  }
  return true;
}

}  // namespace

std::optional<SortKey> SortKeyOf(const HloComputation& comparison) {
  const HloInstruction* root = comparison.root_instruction();
  if (root->opcode() != HloOpcode::kCompare) return std::nullopt;
  const CompareAttrs& attrs = root->attrs<CompareAttrs>();
  const bool less = attrs.direction == ComparisonDirection::kLt;
  if (!less && attrs.direction != ComparisonDirection::kGt) return std::nullopt;
  SortKey key{.expression = root->operand(0), .type = root->operand(0)->shape().element_type(), .descending = !less};
  key.is_float = key.type == F32 || key.type == F64;
  key.is_signed = IsSignedIntegralType(key.type);
  if (key.is_float && attrs.type != ComparisonType::kTotalOrder) return std::nullopt;
  if (!key.is_float && !IsIntegralType(key.type)) return std::nullopt;
  if (IsSubByteType(key.type)) return std::nullopt;
  if (SameExpression(root->operand(0), root->operand(1))) return key;
  // compare(y, x, LT) sorts in descending order.
  if (SameExpression(root->operand(1), root->operand(0))) {
    key.expression = root->operand(1);
    key.descending = less;
    return key;
  }
  return std::nullopt;
}

}  // namespace hilo::cpu
