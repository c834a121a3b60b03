#include "backends/cpu/kernels/sort_key.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// Returns true if `a`, an expression of the first element of one array, equals `b`, of the second one. Sets `array`,
// unless it is known, in which case no other one may occur.
bool SameExpression(const HloInstruction* a, const HloInstruction* b, std::optional<int64_t>* array, int depth = 0) {
  if (depth > 16 || a->opcode() != b->opcode() || !ShapeUtil::Compatible(a->shape(), b->shape())) return false;
  if (a->IsParameter()) {
    const int64_t number = a->parameter_number();
    if (number % 2 != 0 || b->parameter_number() != number + 1 || array->value_or(number / 2) != number / 2)
      return false;
    *array = number / 2;
    return true;
  }
  if (a->IsConstant()) return a->literal() == b->literal();
  if (!IsElementwise(a->opcode()) || a->opcode() == HloOpcode::kMap || a->operand_count() != b->operand_count())
    return false;
  if (a->attributes() != nullptr && !a->attributes()->Equals(*b->attributes())) return false;
  for (int64_t i = 0; i < a->operand_count(); ++i) {
    if (!SameExpression(a->operand(i), b->operand(i), array, depth + 1)) return false;
  }
  return true;
}

// Returns the key by which a comparison orders alone.
std::optional<SortKey> KeyOf(const HloInstruction* compare) {
  if (compare->opcode() != HloOpcode::kCompare) return std::nullopt;
  const CompareAttrs& attrs = compare->attrs<CompareAttrs>();
  const bool less = attrs.direction == ComparisonDirection::kLt;
  if (!less && attrs.direction != ComparisonDirection::kGt) return std::nullopt;
  SortKey key{.expression = compare->operand(0),
              .array = 0,
              .type = compare->operand(0)->shape().element_type(),
              .descending = !less};
  const bool is_float = IsFloatingPointType(key.type);
  if (is_float && attrs.type != ComparisonType::kTotalOrder) return std::nullopt;
  if (!is_float && !IsIntegralType(key.type) && key.type != PRED) return std::nullopt;
  if (IsSubByteType(key.type)) return std::nullopt;
  std::optional<int64_t> array;
  if (!SameExpression(compare->operand(0), compare->operand(1), &array)) {
    // compare(y, x, LT) sorts in descending order.
    array = std::nullopt;
    if (!SameExpression(compare->operand(1), compare->operand(0), &array)) return std::nullopt;
    key.expression = compare->operand(1);
    key.descending = less;
  }
  if (!array.has_value()) return std::nullopt;
  key.array = *array;
  return key;
}

// Returns true if `equal` is true where `compare` finds neither element before the other one.
bool IsEqualityOf(const HloInstruction* equal, const HloInstruction* compare) {
  if (equal->opcode() != HloOpcode::kCompare) return false;
  const CompareAttrs &attrs = equal->attrs<CompareAttrs>(), &order = compare->attrs<CompareAttrs>();
  if (attrs.direction != ComparisonDirection::kEq) return false;
  if (IsFloatingPointType(equal->operand(0)->shape().element_type()) && attrs.type != order.type) return false;
  const HloInstruction *x = compare->operand(0), *y = compare->operand(1);
  return (equal->operand(0) == x && equal->operand(1) == y) || (equal->operand(0) == y && equal->operand(1) == x);
}

}  // namespace

int64_t SortKey::bits() const {
  const int64_t width = PrimitiveTypeBitWidth(type);
  return IsFloatingPointType(type) ? std::max<int64_t>(width, 32) : width;
}

std::vector<SortKey> SortKeysOf(const HloComputation& comparison) {
  std::vector<SortKey> keys;
  const HloInstruction* rest = comparison.root_instruction();
  while (rest->opcode() == HloOpcode::kOr) {
    const HloInstruction *first = rest->operand(0), *both = rest->operand(1);
    if (first->opcode() != HloOpcode::kCompare) std::swap(first, both);
    const std::optional<SortKey> key = KeyOf(first);
    if (!key.has_value() || both->opcode() != HloOpcode::kAnd) return {};
    const bool in_order = IsEqualityOf(both->operand(0), first);
    if (!in_order && !IsEqualityOf(both->operand(1), first)) return {};
    keys.push_back(*key);
    rest = both->operand(in_order ? 1 : 0);
  }
  const std::optional<SortKey> last = KeyOf(rest);
  if (!last.has_value()) return {};
  keys.push_back(*last);
  return keys;
}

std::vector<SortKeyRange> WordsOf(const std::vector<SortKey>& keys) {
  std::vector<SortKeyRange> words;
  for (size_t i = 0; i < keys.size(); ++i) {
    const int64_t bits = keys[i].bits();
    if (words.empty() || words.back().bits + bits > 64) words.push_back({.begin = i, .end = i, .bits = 0});
    words.back().end = i + 1;
    words.back().bits += bits;
  }
  return words;
}

}  // namespace hilo::cpu
