#include "hlo/analysis/value_range.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Of the walk: what is further away has the range of its type.
constexpr int kMaxRangeDepth = 12, kMaxRangeVisits = 128;
// Elements of a constant.
constexpr int64_t kMaxElements = 4096;

using Range = std::optional<ValueRange>;

// All elements are those of the first operand.
constexpr OpcodeSet kMovements = {HloOpcode::kBroadcast, HloOpcode::kCopy,  HloOpcode::kGather,   HloOpcode::kReshape,
                                  HloOpcode::kReverse,   HloOpcode::kSlice, HloOpcode::kTranspose};

class RangeWalk {
 public:
  // `fusion`: whose computation has the instruction; null: none.
  Range Of(const HloInstruction& x, const HloInstruction* fusion, int depth) {
    if (!x.shape().IsArray()) return std::nullopt;
    const Range all = RangeOfType(x.shape().element_type());
    if (depth == kMaxRangeDepth || ++visits_ > kMaxRangeVisits || !(all.has_value() || x.shape().element_type() == U64))
      return all;
    const Range own = Stated(x, fusion, depth + 1);
    // A number of U64 is not negative; what wraps around in a narrower type may be anything.
    const bool fits =
        own.has_value() && (all.has_value() ? own->first >= all->first && own->last <= all->last : own->first >= 0);
    return fits ? own : all;
  }

 private:
  // Returns the range by the operation, whether the type holds it or not; nullopt: nothing is known.
  Range Stated(const HloInstruction& x, const HloInstruction* fusion, int depth) {
    const HloOpcode opcode = x.opcode();
    const auto operand = [&](int64_t i) { return Of(*x.operand(i), fusion, depth); };
    if (opcode == HloOpcode::kParameter)
      return fusion == nullptr ? std::nullopt : Of(*fusion->operand(x.parameter_number()), nullptr, depth);
    if (opcode == HloOpcode::kFusion) return Of(*x.called_computation()->root_instruction(), &x, depth);
    if (opcode == HloOpcode::kConstant) return OfConstant(x);
    if (opcode == HloOpcode::kIota)
      return ValueRange{0, std::max<int64_t>(x.shape().dimensions(x.attrs<IotaAttrs>().iota_dimension), 1) - 1};
    if (kMovements.contains(opcode)) return operand(0);
    if (opcode == HloOpcode::kConvert) {
      const PrimitiveType from = x.operand(0)->shape().element_type();
      return IsIntegralType(from) || from == PRED ? operand(0) : std::nullopt;
    }
    if (opcode == HloOpcode::kSelect) return Union(operand(1), operand(2));
    if (opcode == HloOpcode::kMaximum) return Maximum(operand(0), operand(1));
    if (opcode == HloOpcode::kMinimum) return Minimum(operand(0), operand(1));
    if (opcode == HloOpcode::kClamp) return Minimum(Maximum(operand(0), operand(1)), operand(2));
    if (opcode == HloOpcode::kRemainder) return Remainder(operand(0), operand(1));
    if (opcode == HloOpcode::kAdd || opcode == HloOpcode::kMultiply)
      return Arithmetic(opcode == HloOpcode::kAdd, operand(0), operand(1));
    return std::nullopt;
  }

  static Range OfConstant(const HloInstruction& x) {
    const int64_t elements = ShapeUtil::ElementsIn(x.shape());
    if (elements == 0 || elements > kMaxElements || x.shape().element_type() == U64) return std::nullopt;
    ValueRange range{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (int64_t i = 0; i < elements; ++i) {
      const int64_t value = x.literal().GetAsInt64(i);
      range = {std::min(range.first, value), std::max(range.last, value)};
    }
    return range;
  }

  static Range Union(const Range& a, const Range& b) {
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    return ValueRange{std::min(a->first, b->first), std::max(a->last, b->last)};
  }
  static Range Maximum(const Range& a, const Range& b) {
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    return ValueRange{std::max(a->first, b->first), std::max(a->last, b->last)};
  }
  static Range Minimum(const Range& a, const Range& b) {
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    return ValueRange{std::min(a->first, b->first), std::min(a->last, b->last)};
  }
  // The sign is that of the dividend. A divisor of 0 leaves the dividend.
  static Range Remainder(const Range& x, const Range& divisor) {
    if (!x.has_value() || !divisor.has_value() || divisor->first <= 0) return std::nullopt;
    const int64_t most = divisor->last - 1;
    return ValueRange{std::clamp<int64_t>(x->first, -most, 0), std::clamp<int64_t>(x->last, 0, most)};
  }
  static Range Arithmetic(bool is_sum, const Range& a, const Range& b) {
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    ValueRange range{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (const int64_t x : {a->first, a->last}) {
      for (const int64_t y : {b->first, b->last}) {
        int64_t value = 0;
        if (is_sum ? __builtin_add_overflow(x, y, &value) : __builtin_mul_overflow(x, y, &value)) return std::nullopt;
        range = {std::min(range.first, value), std::max(range.last, value)};
      }
    }
    return range;
  }

  int visits_ = 0;
};

}  // namespace

std::optional<ValueRange> RangeOfType(PrimitiveType type) {
  if (type == PRED) return ValueRange{0, 1};
  if (!IsIntegralType(type)) return std::nullopt;
  const int bits = PrimitiveTypeBitWidth(type);
  if (IsUnsignedIntegralType(type))
    return bits < 64 ? std::optional(ValueRange{0, static_cast<int64_t>((uint64_t{1} << bits) - 1)}) : std::nullopt;
  const int64_t last = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return ValueRange{-last - 1, last};
}

std::optional<ValueRange> ValueRangeOf(const HloInstruction& instruction) {
  return RangeWalk().Of(instruction, nullptr, 0);
}

int64_t DifferentBits(const ValueRange& range, int64_t type_bits) {
  const auto different = static_cast<uint64_t>(range.first) ^ static_cast<uint64_t>(range.last);
  return std::min<int64_t>(std::bit_width(different), type_bits);
}

}  // namespace hilo
