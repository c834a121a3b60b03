// Ops that move elements along dimensions that stay cut: shifts (tile_shift.h).
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_shift.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// Ops that are traced, one after the other, and all of them.
constexpr int kMaxTraced = 16;
constexpr size_t kMaxWaiting = 256;
// Iterations after which a strided slice meets the elements between which a pad puts others.
constexpr int64_t kLongestPeriod = 1024;

constexpr OpcodeSet kMoves = {HloOpcode::kConcatenate, HloOpcode::kDynamicSlice, HloOpcode::kPad, HloOpcode::kReverse,
                              HloOpcode::kSlice};

// The constant range of a slice or dynamic-slice. nullopt if it depends on values.
std::optional<SliceRange> RangeOf(const HloInstruction& slice, int64_t d) {
  if (slice.opcode() == HloOpcode::kSlice) return slice.attrs<SliceAttrs>().slice[d];
  const int64_t size = slice.operand(0)->shape().dimensions(d), length = slice.shape().dimensions(d);
  if (size == length) return SliceRange{0, size, 1};
  const HloInstruction& start = *slice.operand(d + 1);
  if (!start.IsConstant() || (start.shape().element_type() != S32 && start.shape().element_type() != S64))
    return std::nullopt;
  const int64_t first = std::clamp<int64_t>(start.literal().GetAsInt64(0), 0, size - length);
  return SliceRange{first, first + length, 1};
}

// Whether the op, one of kMoves, does something along the dimension.
bool MovesAlong(const HloInstruction& op, int64_t d) {
  if (op.opcode() == HloOpcode::kConcatenate) return op.attrs<ConcatenateAttrs>().dimensions[0] == d;
  if (op.opcode() == HloOpcode::kReverse) return absl::c_linear_search(op.attrs<ReverseAttrs>().dimensions, d);
  if (op.opcode() == HloOpcode::kPad) return op.attrs<PadAttrs>().padding.dimensions[d] != PaddingConfig::Dimension();
  return RangeOf(op, d) != SliceRange{0, op.operand(0)->shape().dimensions(d), 1};
}

// The dimensions that the op, or those that wait for it, move along; none if these are too many to tell.
std::vector<int64_t> MovedDimensions(const HloInstruction& op, absl::FunctionRef<bool(const HloInstruction*)> waits) {
  std::vector<int64_t> dimensions;
  std::vector<const HloInstruction*> left = {&op};
  for (size_t i = 0; i < left.size(); ++i) {
    if (i >= kMaxWaiting) return {};
    for (int64_t d = 0; d < op.shape().rank(); ++d) {
      if (MovesAlong(*left[i], d) && !absl::c_linear_search(dimensions, d)) dimensions.push_back(d);
    }
    for (const HloInstruction* operand : left[i]->operands()) {
      if (waits(operand) && !absl::c_linear_search(left, operand)) left.push_back(operand);
    }
  }
  absl::c_sort(dimensions);
  return dimensions;
}

bool IsSameScalar(const HloInstruction* a, const HloInstruction* b) {
  return a == b || (a->IsConstant() && b->IsConstant() && a->literal() == b->literal());
}

// Where the elements of a result come from along one dimension, through all ops that wait.
class Origin {
 public:
  Origin(int64_t dimension, absl::FunctionRef<bool(const HloInstruction*)> waits) : waits_(waits) {
    shift_.dimension = dimension;
  }

  // False if that is not a shift.
  bool Trace(const HloInstruction& op) {
    shift_.result_size = op.shape().dimensions(shift_.dimension);
    return Through(op, {0, 1, 0, shift_.result_size}, 0);
  }

  const TileShift& shift() const { return shift_; }
  const std::vector<const HloInstruction*>& arrays() const { return arrays_; }  // by ShiftSource::operand
  const HloInstruction* fill() const { return fill_; }                          // null if nothing is filled
  bool has_traced() const { return has_traced_; }                               // an op that waits

 private:
  // Indices begin, begin + spacing, ... of the result, `count` of them, are the elements from `first`, `stride` apart,
  // of some value.
  struct Run {
    int64_t first, stride, begin, count, spacing = 1;

    // The part of it whose elements of the value are in [low, high), counted from `low`.
    Run Within(int64_t low, int64_t high) const {
      const int64_t step = std::max(stride, -stride);
      const int64_t before = stride > 0 ? low - first : first - (high - 1), after = before + high - low;
      const int64_t from = std::clamp<int64_t>(CeilDiv(std::max<int64_t>(before, 0), step), 0, count);
      const int64_t to = std::clamp<int64_t>(CeilDiv(std::max<int64_t>(after, 0), step), from, count);
      return {first + from * stride - low, stride, begin + from * spacing, to - from, spacing};
    }
    // The part of it whose elements of the value are multiples of `interval`, counted in these. nullopt if that takes
    // too long to tell.
    std::optional<Run> MultiplesOf(int64_t interval) const {
      const int64_t period = interval / std::gcd(interval, stride);
      if (period > kLongestPeriod) return std::nullopt;
      for (int64_t k = 0; k < std::min(period, count); ++k) {
        const int64_t at = first + k * stride;
        if (at % interval == 0)
          return Run{at / interval, stride * period / interval, begin + k * spacing, CeilDiv(count - k, period),
                     spacing * period};
      }
      return Run{0, 1, begin, 0};
    }
  };

  bool From(const HloInstruction* value, const Run& run, int depth) {
    if (run.count == 0) return true;
    if (waits_(value)) {
      has_traced_ = true;
      return depth < kMaxTraced && Through(*value, run, depth + 1);
    }
    auto known = absl::c_find(arrays_, value);
    if (known == arrays_.end()) known = arrays_.insert(known, value);
    shift_.sources.push_back({value->shape().dimensions(shift_.dimension), run.begin,
                              run.begin + (run.count - 1) * run.spacing + 1, run.first, run.stride,
                              static_cast<size_t>(known - arrays_.begin()), run.spacing});
    return true;
  }

  bool Filled(const HloInstruction* scalar) {
    if (fill_ == nullptr) fill_ = scalar;
    return IsSameScalar(fill_, scalar);
  }

  bool Through(const HloInstruction& op, const Run& run, int depth) {
    const int64_t d = shift_.dimension;
    // Dimensions are traced one by one, so that all of them must come from one array.
    if (!MovesAlong(op, d)) return op.opcode() != HloOpcode::kConcatenate && From(op.operand(0), run, depth);
    if (op.opcode() == HloOpcode::kPad) return ThroughPad(op, run, depth);
    if (op.opcode() == HloOpcode::kConcatenate) return ThroughConcatenate(op, run, depth);
    Run of_operand = run;
    if (op.opcode() == HloOpcode::kReverse) {
      of_operand.first = op.shape().dimensions(d) - 1 - run.first;
      of_operand.stride = -run.stride;
    } else {
      const std::optional<SliceRange> range = RangeOf(op, d);
      if (!range.has_value()) return false;
      of_operand.first = range->start + range->stride * run.first;
      of_operand.stride = run.count == 1 ? 1 : range->stride * run.stride;  // a stride for one element may be any
    }
    return From(op.operand(0), of_operand, depth);
  }

  bool ThroughPad(const HloInstruction& pad, const Run& run, int depth) {
    const PaddingConfig::Dimension& padding = pad.attrs<PadAttrs>().padding.dimensions[shift_.dimension];
    const int64_t interval = padding.interior_padding + 1, low = padding.edge_padding_low;
    const int64_t size = pad.operand(0)->shape().dimensions(shift_.dimension);
    if (size == 0) return Filled(pad.operand(1));
    const std::optional<Run> of_operand = run.Within(low, low + (size - 1) * interval + 1).MultiplesOf(interval);
    if (!of_operand.has_value()) return false;
    return (of_operand->count == run.count || Filled(pad.operand(1))) && From(pad.operand(0), *of_operand, depth);
  }

  bool ThroughConcatenate(const HloInstruction& concatenate, const Run& run, int depth) {
    int64_t offset = 0;
    for (const HloInstruction* operand : concatenate.operands()) {
      const int64_t end = offset + operand->shape().dimensions(shift_.dimension);
      const Run of_operand = run.Within(offset, end);
      const bool is_uniform = operand->opcode() == HloOpcode::kBroadcast && operand->operand(0)->IsConstant() &&
                              operand->operand(0)->shape().IsScalar();
      if (of_operand.count > 0 && !(is_uniform ? Filled(operand->operand(0)) : From(operand, of_operand, depth)))
        return false;
      offset = end;
    }
    return true;
  }

  const absl::FunctionRef<bool(const HloInstruction*)> waits_;
  TileShift shift_;
  std::vector<const HloInstruction*> arrays_;
  const HloInstruction* fill_ = nullptr;
  bool has_traced_ = false;
};

}  // namespace

// An op that moves elements along a cut dimension, to sizes that are not cut like it, does so together with what moves
// its result on: a roll is a concatenation of slices, each of which would be gathered.
bool TileWalk::MayWait(const HloInstruction& op) const {
  if (!kMoves.contains(op.opcode()) || &op == computation_->root_instruction() || op.users().empty() ||
      !FactorsOf(op).has_value())
    return false;
  for (const HloInstruction* user : op.users()) {
    if (!kMoves.contains(user->opcode())) return false;
    // A concatenation is traced through along its own dimension alone.
    if (op.opcode() == HloOpcode::kConcatenate && op.operand_count() > 1) {
      for (int64_t d = 0; d < op.shape().rank(); ++d) {
        if (!MovesAlong(op, d) && MovesAlong(*user, d)) return false;
      }
    }
    // Along other dimensions than its own, a concatenation is traced through to no single array.
    if (user->opcode() != HloOpcode::kConcatenate || user->operand_count() == 1) continue;
    for (int64_t d = 0; d < op.shape().rank(); ++d) {
      if (!MovesAlong(*user, d) && CutOfDimension(Propagated(op), d).count > 1 && MovesAlong(op, d)) return false;
    }
  }
  const auto waits = [&](const HloInstruction* value) { return values_.at(value)->waiting != nullptr; };
  const TileAssignment wanted = Wanted(op), propagated = Propagated(op);
  for (int64_t d = 0; d < op.shape().rank(); ++d) {
    if (!MovesAlong(op, d)) continue;
    const int64_t count = CutOfDimension(wanted, d).count;
    const bool is_joined_again = op.opcode() == HloOpcode::kSlice && absl::c_all_of(op.users(), [&](const auto* user) {
                                   return user->opcode() == HloOpcode::kConcatenate && MovesAlong(*user, d) &&
                                          CutOfDimension(Wanted(*user), d).count == CutOfDimension(propagated, d).count;
                                 });
    if (count > 1 && count == CutOfDimension(propagated, d).count && !is_joined_again) continue;
    for (const HloInstruction* operand : op.operands()) {
      const DividedValue& value = *values_.at(operand);
      if (waits(operand) || CutOfDimension(value.padded.has_value() ? value.padded->tiles : value.tiles, d).count > 1)
        return true;
    }
  }
  return false;
}

// How an op, together with those that have waited for it, gives the tiles `tiles` of its result.
struct TileWalk::ShiftPlan {
  TileAssignment tiles;
  double cost = 0;                            // bytes that a device receives
  std::vector<const HloInstruction*> arrays;  // by ShiftSource::operand
  const HloInstruction* fill = nullptr;       // a scalar; null if nothing is filled
  bool has_traced = false;                    // ops that have waited
  std::vector<TileShift> shifts;              // one after the other
  std::vector<std::vector<ShiftRound>> rounds;
};

absl::StatusOr<bool> TileWalk::VisitShift(HloInstruction* op, const OpFactors&, double limit) {
  if (!kMoves.contains(op->opcode())) return false;
  const TileAssignment wanted = Wanted(*op), propagated = Propagated(*op);
  std::optional<ShiftPlan> best = PlanShiftTo(*op, wanted);
  if (best.has_value() && best->cost < limit) {
    limit = best->cost;
  } else {
    best.reset();
  }
  // Sizes that are not divided equally may stay in tiles, of which the last ones reach beyond the array.
  for (int64_t d = 0; d < op->shape().rank(); ++d) {
    const int64_t count = CutOfDimension(propagated, d).count, divided = CutOfDimension(wanted, d).count;
    const int64_t size = op->shape().dimensions(d);
    // Of an array that is shorter than there are tiles, most would be empty: rather fewer tiles that divide it.
    if (size == 0 || divided == count || (size < count && divided > 1)) continue;
    // If there are none, it must cost less than each partition's having all of the array.
    if (size < count) limit = std::min(limit, TileBytes(op->shape(), wanted));
    std::optional<ShiftPlan> padded = PlanShiftTo(*op, propagated);
    if (padded.has_value() && padded->cost + CostOfStayingPadded(*op, propagated) < limit) best = std::move(padded);
    break;
  }
  if (!best.has_value()) return false;
  HILO_RETURN_IF_ERROR(EmitShift(op, *best));
  return true;
}

std::optional<TileWalk::ShiftPlan> TileWalk::PlanShiftTo(const HloInstruction& op, const TileAssignment& wanted) const {
  if (wanted.IsWhole()) return std::nullopt;
  const auto waits = [&](const HloInstruction* value) { return values_.at(value)->waiting != nullptr; };
  const std::vector<int64_t> moved = MovedDimensions(op, waits);
  ShiftPlan plan{.tiles = wanted, .has_traced = absl::c_any_of(op.operands(), waits)};
  std::vector<Origin> origins;
  for (const int64_t d : moved) {
    // Along the dimensions that are not cut, the op itself does what is to be done, unless others have waited for it.
    if ((wanted.counts[d] > 1 || plan.has_traced) && !origins.emplace_back(d, waits).Trace(op)) return std::nullopt;
  }
  if (absl::c_none_of(moved, [&](int64_t d) { return wanted.counts[d] > 1; })) return std::nullopt;
  plan.arrays = origins[0].arrays();
  for (const Origin& origin : origins) {
    if (origin.arrays() != plan.arrays) return std::nullopt;
    if (origin.fill() == nullptr) continue;
    if (plan.fill != nullptr && !IsSameScalar(plan.fill, origin.fill())) return std::nullopt;
    plan.fill = origin.fill();
  }
  if (plan.arrays.empty() || (origins.size() > 1 && plan.arrays.size() > 1)) return std::nullopt;
  // Where all of the arrays are gathered, every partition has all of the result, too.
  if (absl::c_all_of(plan.arrays, [&](const HloInstruction* array) { return IsGatheredFor(*array, wanted); }))
    return std::nullopt;
  for (const HloInstruction* array : plan.arrays) plan.cost += CostOfPadded(*array, wanted);
  for (const Origin& origin : origins) {
    for (const ShiftSource& source : origin.shift().sources) {
      if (source.operand_size == 0) return std::nullopt;
    }
    plan.rounds.push_back(PlanShift(origin.shift(), wanted));
    if (plan.rounds.back().size() > kMaxShiftRounds) return std::nullopt;
    plan.shifts.push_back(origin.shift());
  }
  JoinPermutes(partitions_, &plan.rounds);
  const Shape& first = plan.arrays[0]->shape();
  double bytes = TileBytes(first, wanted);  // of the tile as it is shifted along one after the other
  for (size_t i = 0; i < plan.shifts.size(); ++i) {
    const int64_t d = plan.shifts[i].dimension, count = wanted.counts[d];
    const auto operand_tile = static_cast<double>(CeilDiv(first.dimensions(d), count));
    plan.cost += ReceivedElements(plan.rounds[i], partitions_) * bytes / operand_tile;
    bytes *= static_cast<double>(CeilDiv(op.shape().dimensions(d), count)) / operand_tile;
  }
  return plan;
}

absl::Status TileWalk::EmitShift(HloInstruction* op, const ShiftPlan& plan) {
  const auto& [wanted, cost, arrays, fill, has_traced, shifts, rounds] = plan;
  std::vector<HloInstruction*> tiles;
  for (const HloInstruction* array : arrays) {
    HILO_ASSIGN_OR_RETURN(tiles.emplace_back(), TileOfPadded(*array, wanted));
  }
  HloInstruction* filled_with = computation_->AddConstant(LiteralUtil::Zero(op->shape().element_type()));
  if (fill != nullptr) {
    HILO_ASSIGN_OR_RETURN(filled_with, Whole(fill));
  }
  for (size_t i = 0; i < shifts.size(); ++i) {
    const TileShift& shift = shifts[i];
    HILO_ASSIGN_OR_RETURN(HloInstruction * shifted,
                          emitter_.Shift(tiles, filled_with, shift, rounds[i], wanted.counts[shift.dimension]));
    tiles = {shifted};
  }
  // What the op does along the other dimensions.
  const Shape shape = PaddedTileShape(op->shape(), wanted);
  bool moves_more = false;
  for (int64_t d = 0; d < shape.rank() && !has_traced; ++d) moves_more |= wanted.counts[d] == 1 && MovesAlong(*op, d);
  if (moves_more) {
    std::vector<HloInstruction*> operands = tiles;
    for (int64_t i = 1; i < op->operand_count(); ++i) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Whole(op->operand(i)));
    }
    HloInstruction* rest = computation_->AddInstruction(op->CloneWithNewOperands(shape, operands), op->name());
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const int64_t size = shape.dimensions(d);
      if (op->opcode() == HloOpcode::kDynamicSlice)
        rest->mutable_attrs<DynamicSliceAttrs>().dynamic_slice_sizes[d] = size;
      if (wanted.counts[d] == 1) continue;
      if (op->opcode() == HloOpcode::kSlice) rest->mutable_attrs<SliceAttrs>().slice[d] = {0, size, 1};
      if (op->opcode() == HloOpcode::kPad) rest->mutable_attrs<PadAttrs>().padding.dimensions[d] = {};
      if (op->opcode() == HloOpcode::kReverse) std::erase(rest->mutable_attrs<ReverseAttrs>().dimensions, d);
    }
    tiles = {rest};
  }
  return SetPadded(op, tiles[0], {wanted});
}

}  // namespace hilo
