#include "hlo/analysis/attention_mask.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hilo/literal.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

constexpr int kMaxMaskSteps = 64;

// The dimension of the logits that each dimension of an array is; -1: none, as its size is 1.
using Dimensions = std::vector<int64_t>;

// The integer that an array has at an index of the logits: their index in one dimension, or a scalar, less that in
// another, plus a constant.
struct IndexPlus {
  int64_t dimension = -1, less = -1;  // -1: 0
  int64_t constant = 0;
  const HloInstruction* scalar = nullptr;  // null: 0

  IndexPlus Negated() const { return {.dimension = less, .less = dimension, .constant = -constant}; }
};

// Numbers below this are far from the limits of s32, as are indices of logits, which are in memory: sums are exact.
constexpr int64_t kFar = int64_t{1} << 29;

// nullopt: there are two indices to add or to subtract, or the constant is large.
std::optional<IndexPlus> Sum(const IndexPlus& x, const IndexPlus& y) {
  if ((x.dimension >= 0 && y.dimension >= 0) || (x.less >= 0 && y.less >= 0)) return std::nullopt;
  if (std::abs(x.constant + y.constant) >= kFar) return std::nullopt;
  return IndexPlus{.dimension = std::max(x.dimension, y.dimension),
                   .less = std::max(x.less, y.less),
                   .constant = x.constant + y.constant};
}

// A mask of either kind.
struct FoundMask {
  int64_t row_dimension = -1;
  const HloInstruction* position = nullptr;
  std::optional<int64_t> offset, first;
  double masked_value = 0;
};

// Returns the conjunction of both masks, or one of them if they cannot be combined.
FoundMask Both(const FoundMask& x, const FoundMask& y) {
  if (x.position != nullptr || y.position != nullptr || x.row_dimension != y.row_dimension)
    return x.offset.has_value() ? x : y;
  FoundMask both = x;
  if (y.offset.has_value()) both.offset = std::min(x.offset.value_or(*y.offset), *y.offset);
  if (y.first.has_value()) both.first = std::max(x.first.value_or(*y.first), *y.first);
  return both;
}

class MaskMatcher {
 public:
  explicit MaskMatcher(const Attention& attention) : keys_(attention.key_dimension), logits_(*attention.logits) {}

  std::optional<FoundMask> Match() {
    Dimensions all(logits_.shape().rank());
    for (size_t d = 0; d < all.size(); ++d) all[d] = static_cast<int64_t>(d);
    const HloInstruction* logits = &logits_;
    std::optional<double> masked;
    std::optional<FoundMask> found;
    std::vector<PrimitiveType> passed;  // of converts, which round constants of selections within them
    // The selections may be nested.
    while (IsStep()) {
      if (logits->opcode() == HloOpcode::kConvert) {
        passed.push_back(logits->shape().element_type());
        logits = logits->operand(0);
        continue;
      }
      if (logits->opcode() != HloOpcode::kSelect) break;
      std::optional<double> value = ConstantOf(*logits->operand(2));
      if (!value.has_value()) break;
      for (auto type = passed.rbegin(); type != passed.rend(); ++type)
        value = LiteralUtil::FromDouble(*type, *value).GetAsDouble(0);
      if (std::isnan(*value)) break;
      masked = std::max(masked.value_or(*value), *value);
      if (const std::optional<FoundMask> mask = Implied(*logits->operand(0), all)) {
        found = found.has_value() ? Both(*found, *mask) : *mask;
        found->masked_value = *masked;
        if (found->position != nullptr || (found->offset.has_value() && found->first.has_value())) break;
      }
      logits = logits->operand(1);
    }
    if (found.has_value() && !found->offset.has_value()) found->offset = logits_.shape().dimensions(keys_);
    return found;
  }

 private:
  bool IsStep() { return ++steps_ <= kMaxMaskSteps; }

  static std::optional<double> ConstantOf(const HloInstruction& instruction) {
    const HloInstruction& value = instruction.opcode() == HloOpcode::kBroadcast ? *instruction.operand(0) : instruction;
    if (!value.IsConstant() || !value.shape().IsScalar() || IsComplexType(value.shape().element_type()))
      return std::nullopt;
    return value.literal().GetAsDouble(0);
  }

  // Returns the dimensions of the operand of a view; nullopt for other instructions.
  static std::optional<Dimensions> OperandOf(const HloInstruction& view, const Dimensions& dimensions) {
    if (view.operand_count() != 1) return std::nullopt;
    const Shape& operand = view.operand(0)->shape();
    Dimensions result(operand.rank(), -1);
    if (view.opcode() == HloOpcode::kBroadcast) {
      const auto& to = view.attrs<BroadcastAttrs>().dimensions;
      for (size_t i = 0; i < to.size(); ++i) result[i] = dimensions[to[i]];
      return result;
    }
    if (view.opcode() == HloOpcode::kTranspose) {
      const auto& permutation = view.attrs<TransposeAttrs>().dimensions;
      for (size_t i = 0; i < permutation.size(); ++i) result[permutation[i]] = dimensions[i];
      return result;
    }
    if (view.opcode() == HloOpcode::kCopy || view.opcode() == HloOpcode::kConvert) return dimensions;
    if (view.opcode() != HloOpcode::kReshape) return std::nullopt;
    int64_t next = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (operand.dimensions(d) == 1) continue;
      while (next < view.shape().rank() && view.shape().dimensions(next) == 1) ++next;
      if (next == view.shape().rank() || view.shape().dimensions(next) != operand.dimensions(d)) return std::nullopt;
      result[d] = dimensions[next++];
    }
    return result;
  }

  // Returns the integers that `instruction` has, if they fit into its type.
  std::optional<IndexPlus> IndexOf(const HloInstruction& instruction, const Dimensions& dimensions) {
    const PrimitiveType type = instruction.shape().element_type();
    if (!IsStep() || (type != S32 && type != S64)) return std::nullopt;
    if (const std::optional<double> constant = ConstantOf(instruction)) {
      if (std::abs(*constant) >= kFar) return std::nullopt;
      return IndexPlus{.constant = static_cast<int64_t>(*constant)};
    }
    if (instruction.shape().rank() == 0)
      return type == S32 ? std::optional(IndexPlus{.scalar = &instruction}) : std::nullopt;
    if (instruction.opcode() == HloOpcode::kIota)
      return IndexPlus{.dimension = dimensions[instruction.attrs<IotaAttrs>().iota_dimension]};
    if (instruction.opcode() == HloOpcode::kAdd || instruction.opcode() == HloOpcode::kSubtract) {
      const auto left = IndexOf(*instruction.operand(0), dimensions),
                 right = IndexOf(*instruction.operand(1), dimensions);
      // A scalar may be far from 0.
      if (!left.has_value() || !right.has_value() || left->scalar != nullptr || right->scalar != nullptr)
        return std::nullopt;
      return Sum(*left, instruction.opcode() == HloOpcode::kSubtract ? right->Negated() : *right);
    }
    if (const auto operand = OperandOf(instruction, dimensions)) return IndexOf(*instruction.operand(0), *operand);
    return std::nullopt;
  }

  // Returns a condition that holds wherever `predicate` does.
  std::optional<FoundMask> Implied(const HloInstruction& predicate, const Dimensions& dimensions) {
    if (!IsStep()) return std::nullopt;
    if (predicate.opcode() == HloOpcode::kAnd) {
      return BothImplied(*predicate.operand(0), *predicate.operand(1), dimensions);
    }
    if (predicate.opcode() == HloOpcode::kSelect && ConstantOf(*predicate.operand(2)) == 0) {
      return BothImplied(*predicate.operand(0), *predicate.operand(1), dimensions);
    }
    if (predicate.opcode() == HloOpcode::kCompare) return Compared(predicate, dimensions);
    if (const auto operand = OperandOf(predicate, dimensions);
        operand.has_value() && predicate.shape().element_type() == PRED)
      return Implied(*predicate.operand(0), *operand);
    return std::nullopt;
  }

  std::optional<FoundMask> BothImplied(const HloInstruction& x, const HloInstruction& y, const Dimensions& dimensions) {
    const std::optional<FoundMask> left = Implied(x, dimensions), right = Implied(y, dimensions);
    if (!left.has_value() || !right.has_value()) return left.has_value() ? left : right;
    return Both(*left, *right);
  }

  std::optional<FoundMask> Compared(const HloInstruction& compare, const Dimensions& dimensions) {
    auto high = IndexOf(*compare.operand(0), dimensions), low = IndexOf(*compare.operand(1), dimensions);
    if (!high.has_value() || !low.has_value()) return std::nullopt;
    const ComparisonDirection direction = compare.attrs<CompareAttrs>().direction;
    if (direction == ComparisonDirection::kLe || direction == ComparisonDirection::kLt) {
      std::swap(high, low);
    } else if (direction != ComparisonDirection::kGe && direction != ComparisonDirection::kGt) {
      return std::nullopt;
    }
    if (low->scalar != nullptr) return std::nullopt;
    const std::optional<IndexPlus> difference = Sum(*high, low->Negated());
    if (!difference.has_value() || difference->dimension == difference->less) return std::nullopt;
    // 0 <= row - key + offset, or 0 <= key - row - first
    const bool strictly = direction == ComparisonDirection::kLt || direction == ComparisonDirection::kGt;
    const int64_t least = difference->constant - (strictly ? 1 : 0);
    if (difference->less == keys_) {
      const bool has_row = difference->dimension >= 0;
      if (has_row == (high->scalar != nullptr)) return std::nullopt;
      return FoundMask{.row_dimension = difference->dimension, .position = high->scalar, .offset = least};
    }
    if (difference->dimension != keys_ || difference->less < 0 || high->scalar != nullptr) return std::nullopt;
    return FoundMask{.row_dimension = difference->less, .first = -least};
  }

  const int64_t keys_;
  const HloInstruction& logits_;
  int steps_ = 0;
};

}  // namespace

std::optional<CausalMask> CausalMaskOf(const Attention& attention) {
  const std::optional<FoundMask> mask = MaskMatcher(attention).Match();
  if (!mask.has_value() || mask->position != nullptr) return std::nullopt;
  return CausalMask{.row_dimension = mask->row_dimension,
                    .offset = *mask->offset,
                    .first = mask->first,
                    .masked_value = mask->masked_value};
}

std::optional<PositionMask> PositionMaskOf(const Attention& attention) {
  const std::optional<FoundMask> mask = MaskMatcher(attention).Match();
  if (!mask.has_value() || mask->position == nullptr) return std::nullopt;
  return PositionMask{.position = mask->position, .offset = *mask->offset, .masked_value = mask->masked_value};
}

}  // namespace hilo
