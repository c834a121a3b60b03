#include "hlo/analysis/sort_keys.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Fewer elements are sorted by all keys at once in few steps.
constexpr int64_t kMinByEachKey = int64_t{1} << 16;
// Instructions that one comparison is computed from.
constexpr size_t kMaxComparatorInstructions = 64;

// Returns the number of the array whose elements are all that `x` is computed from; nullopt: there is no such array.
std::optional<int64_t> ArrayOf(const HloInstruction& x) {
  absl::flat_hash_set<const HloInstruction*> seen = {&x};
  std::vector<const HloInstruction*> work = {&x};
  std::optional<int64_t> array;
  while (!work.empty()) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    if (seen.size() > kMaxComparatorInstructions || !instruction->called_computations().empty()) return std::nullopt;
    if (instruction->IsParameter()) {
      const int64_t number = instruction->parameter_number() / 2;
      if (array.value_or(number) != number) return std::nullopt;
      array = number;
    }
    for (const HloInstruction* operand : instruction->operands()) {
      if (seen.insert(operand).second) work.push_back(operand);
    }
  }
  return array;
}

bool IsComparison(const HloInstruction& x) {
  if (x.opcode() != HloOpcode::kCompare) return false;
  return !IsFloatingPointType(x.operand(0)->shape().element_type()) ||
         x.attrs<CompareAttrs>().type == ComparisonType::kTotalOrder;
}

bool IsLess(const HloInstruction& x) {
  if (!IsComparison(x)) return false;
  const ComparisonDirection direction = x.attrs<CompareAttrs>().direction;
  return direction == ComparisonDirection::kLt || direction == ComparisonDirection::kGt;
}

// Returns true if `equal` is true just where neither side of `less` comes before the other.
bool IsEqualityOf(const HloInstruction& equal, const HloInstruction& less) {
  if (!IsComparison(equal) || equal.attrs<CompareAttrs>().direction != ComparisonDirection::kEq) return false;
  return (equal.operand(0) == less.operand(0) && equal.operand(1) == less.operand(1)) ||
         (equal.operand(0) == less.operand(1) && equal.operand(1) == less.operand(0));
}

// less or (equal and rest); also as a selection.
struct KeyAndRest {
  const HloInstruction *less, *rest;
};
std::optional<KeyAndRest> SplitKey(const HloInstruction& x) {
  if (x.opcode() == HloOpcode::kSelect && IsLess(*x.operand(2)) && IsEqualityOf(*x.operand(0), *x.operand(2)))
    return KeyAndRest{x.operand(2), x.operand(1)};
  if (x.opcode() != HloOpcode::kOr) return std::nullopt;
  for (int64_t i = 0; i < 2; ++i) {
    const HloInstruction &less = *x.operand(i), &both = *x.operand(1 - i);
    if (!IsLess(less) || both.opcode() != HloOpcode::kAnd) continue;
    for (int64_t j = 0; j < 2; ++j) {
      if (IsEqualityOf(*both.operand(j), less)) return KeyAndRest{&less, both.operand(1 - j)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<SortKey> SortKeysOf(const HloComputation& comparator) {
  std::vector<SortKey> keys;
  const HloInstruction* rest = comparator.root_instruction();
  while (rest != nullptr) {
    const std::optional<KeyAndRest> split = SplitKey(*rest);
    const HloInstruction* less = split.has_value() ? split->less : rest;
    if (!IsLess(*less)) return {};
    const std::optional<int64_t> array = ArrayOf(*less);
    if (!array.has_value()) return {};
    keys.push_back({less, *array});
    rest = split.has_value() ? split->rest : nullptr;
  }
  return keys;
}

bool AreTwins(const HloInstruction* a, const HloInstruction* b, int64_t* array) {
  std::vector<std::pair<const HloInstruction*, const HloInstruction*>> work = {{a, b}};
  *array = -1;
  for (size_t i = 0; i < work.size(); ++i) {
    if (i > kMaxComparatorInstructions) return false;
    const auto [x, y] = work[i];
    if (x->opcode() != y->opcode() || !(x->shape() == y->shape()) || x->operand_count() != y->operand_count())
      return false;
    if (x->IsParameter()) {
      if (x->parameter_number() % 2 != 0 || y->parameter_number() != x->parameter_number() + 1 ||
          (*array >= 0 && *array != x->parameter_number() / 2))
        return false;
      *array = x->parameter_number() / 2;
    } else if (x->IsConstant()) {
      if (x->shape().rank() != 0 || x->literal().untyped_data() != y->literal().untyped_data()) return false;
    } else {
      if (!IsElementwise(x->opcode()) || !x->called_computations().empty() ||
          (x->attributes() != nullptr && !x->attributes()->Equals(*y->attributes())))
        return false;
      for (int64_t o = 0; o < x->operand_count(); ++o) work.emplace_back(x->operand(o), y->operand(o));
    }
  }
  return *array >= 0;
}

bool IsListByKeys(const HloInstruction& sort) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t length = shape.dimensions(sort.attrs<SortAttrs>().dimensions[0]);
  return length >= kMinByEachKey && length <= std::numeric_limits<int32_t>::max() &&
         length == ShapeUtil::ElementsIn(shape) && SortKeysOf(*sort.called_computation()).size() > 1;
}

}  // namespace hilo
