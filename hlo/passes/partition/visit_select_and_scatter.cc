// Select-and-scatters, the gradients of max-pools, along dimensions that are cut, whose windows may overlap:
//
//   x = f32[16] in 4 tiles, windows of 3 elements, 2 apart, padding 0_1, from s = f32[8]:
//   the windows of the partition's 4 elements are those of its own 2 elements of s and the one before: it gets these 3
//   elements of s and the 7 of x that they reach, scatters into 7, and keeps its 4
//
// What a partition has for a window that does not exist is the value that the result begins with, the identity of the
// scatter. The padding is never selected: here it has the value of the edge's element, so that of the two either may be
// selected, and what is scattered into it is added to that element.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/tile_shift.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// Elements of the padding, each of which takes a round of its own.
constexpr int64_t kMaxRepeated = kMaxShiftRounds;

// How the windows of a partition lie along a dimension. Indices are those of its elements that the windows reach.
struct Overlap {
  TileShift extended, of_source;  // to tiles that overlap, one after the other
  int64_t dimension = 0;
  std::vector<int64_t> own;            // by tile: the first element that is kept
  int64_t size = 0;                    // elements that are kept
  int64_t low = 0, high = 0;           // elements of the padding before the array and after it
  int64_t last_tile = 0, last_at = 0;  // the tile with the array's last element, and its index there
};

// Whether the computation keeps the first of two elements if it compares as at least, or at most, the second: then an
// element may be repeated.
bool SelectsExtreme(const HloComputation& select) {
  const HloInstruction& root = *select.root_instruction();
  if (root.opcode() != HloOpcode::kCompare || root.operand(0) != select.parameter_instruction(0) ||
      root.operand(1) != select.parameter_instruction(1))
    return false;
  const ComparisonDirection direction = root.attrs<CompareAttrs>().direction;
  return direction == ComparisonDirection::kGe || direction == ComparisonDirection::kLe;
}

// nullopt if elements are in no window, a window is all padding, or too much is.
std::optional<Overlap> OverlapOf(const Window::Dimension& window, int64_t dimension, int64_t size, int64_t windows,
                                 int64_t count, bool may_repeat) {
  const int64_t tile = CeilDiv(size, count), stride = window.stride;
  const int64_t end = (windows - 1) * stride - window.padding_low + window.size;  // of the last window
  const int64_t low = std::max<int64_t>(window.padding_low, 0), high = std::max<int64_t>(end - size, 0);
  if (window.base_dilation != 1 || window.window_dilation != 1 || window.window_reversal || size == 0 || windows == 0 ||
      low >= window.size || high >= window.size || (low + high > 0 && !may_repeat) || low > kMaxRepeated ||
      high > kMaxRepeated)
    return std::nullopt;
  const auto floor_div = [&](int64_t a) { return a / stride - (a % stride < 0 ? 1 : 0); };
  std::vector<int64_t> first, reached_by;  // by tile: the first window that reaches its elements, and how many do
  int64_t own_windows = 0;                 // at most
  for (int64_t t = 0; t < count; ++t) {
    first.push_back(std::max<int64_t>(floor_div(t * tile + window.padding_low - window.size) + 1, 0));
    const int64_t end_window = floor_div((t + 1) * tile - 1 + window.padding_low) + 1;
    own_windows = std::max(own_windows, end_window - first[t]);
    reached_by.push_back(std::max<int64_t>(std::min(end_window, windows) - first[t], 0));
  }
  if (own_windows <= 0) return std::nullopt;
  const int64_t length = (own_windows - 1) * stride + window.size;
  Overlap overlap{.dimension = dimension, .size = tile, .low = low, .high = high};
  overlap.extended = {.dimension = dimension, .result_size = length * count, .sources = {}};
  overlap.of_source = {.dimension = dimension, .result_size = own_windows * count, .sources = {}};
  for (int64_t t = 0; t < count; ++t) {
    // Elements and windows that exist, and those of the padding that they reach.
    const int64_t window_at = first[t], at = window_at * stride - window.padding_low;
    overlap.own.push_back(t * tile - at);
    if (overlap.own[t] < 0 || overlap.own[t] + tile > length) return std::nullopt;
    if (reached_by[t] == 0) continue;
    const int64_t end_at = at + (reached_by[t] - 1) * stride + window.size;
    for (int64_t i = std::max(at, -low); i < std::min<int64_t>(end_at, 0); ++i)
      overlap.extended.sources.push_back({size, t * length + i - at, t * length + i - at + 1, 0, 1});
    const int64_t from = std::max<int64_t>(at, 0), to = std::min(end_at, size);
    if (from < to) overlap.extended.sources.push_back({size, t * length + from - at, t * length + to - at, from, 1});
    for (int64_t i = std::max(at, size); i < std::min(end_at, size + high); ++i)
      overlap.extended.sources.push_back({size, t * length + i - at, t * length + i - at + 1, size - 1, 1});
    overlap.of_source.sources.push_back({windows, t * own_windows, t * own_windows + reached_by[t], window_at, 1});
  }
  overlap.last_tile = (size - 1) / tile;
  overlap.last_at = overlap.own[overlap.last_tile] + (size - 1) % tile;
  return overlap;
}

absl::StatusOr<HloInstruction*> RangeAlong(HloInstruction* value, int64_t dimension, int64_t begin, int64_t end) {
  std::vector<SliceRange> ranges;
  for (const int64_t size : value->shape().dimensions()) ranges.push_back({0, size, 1});
  ranges[dimension] = {begin, end, 1};
  return MakeSlice(value, std::move(ranges));
}

// Combines what has been scattered into the padding, indices [begin, end), with the element `at` in the partitions that
// have the tile `index`.
absl::StatusOr<HloInstruction*> AddPadding(HloInstruction* tile, const Overlap& overlap, const TileAssignment& tiles,
                                           int64_t begin, int64_t end, int64_t at, int64_t index, HloInstruction* start,
                                           HloOpcode combiner, TileEmitter* emitter) {
  if (begin == end) return tile;
  HloComputation* const computation = tile->parent();
  const int64_t d = overlap.dimension;
  HILO_ASSIGN_OR_RETURN(HloInstruction * sum, RangeAlong(tile, d, begin, begin + 1));
  for (int64_t i = begin + 1; i < end; ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * other, RangeAlong(tile, d, i, i + 1));
    HILO_ASSIGN_OR_RETURN(sum, MakeBinary(combiner, sum, other));
  }
  const int64_t size = tile->shape().dimensions(d);
  auto pad = std::make_unique<PadAttrs>();
  pad->padding.dimensions.resize(tile->shape().rank());
  pad->padding.dimensions[d].edge_padding_low = at;
  pad->padding.dimensions[d].edge_padding_high = size - 1 - at;
  HILO_ASSIGN_OR_RETURN(sum, computation->AddOp(HloOpcode::kPad, {sum, start}, std::move(pad)));
  HILO_ASSIGN_OR_RETURN(sum, MakeBinary(combiner, tile, sum));
  std::vector<int64_t> is_there;
  for (const std::vector<int64_t>& of_partition : tiles.tile_of) is_there.push_back(of_partition[d] == index ? 1 : 0);
  HILO_ASSIGN_OR_RETURN(HloInstruction * mask, emitter->ElementOfPartition(LiteralUtil::CreateR1<int64_t>(is_there)));
  const Shape scalar = ShapeUtil::MakeShape(PRED, {}), masks = ShapeUtil::MakeShape(PRED, tile->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(mask, computation->AddOp(HloOpcode::kConvert, {mask}, nullptr, {}, &scalar));
  HILO_ASSIGN_OR_RETURN(mask, MakeBroadcast(mask, masks, {}));
  return computation->AddOp(HloOpcode::kSelect, {mask, sum, tile});
}

}  // namespace

absl::StatusOr<bool> TileWalk::VisitSelectAndScatter(HloInstruction* op, const OpFactors& factors, double limit) {
  if (op->opcode() != HloOpcode::kSelectAndScatter) return false;
  const std::optional<HloOpcode> combiner = CombinerOf(*op->called_computation(1), *op->operand(2));
  if (!combiner.has_value()) return false;
  const Shape &operand = op->operand(0)->shape(), &source = op->operand(1)->shape();
  const std::vector<Window::Dimension>& windows = op->attrs<SelectAndScatterAttrs>().window.dimensions;
  const TileAssignment propagated = Propagated(*op);
  OpFactors own = factors;
  Cuts cuts(factors.count);
  std::vector<Overlap> overlaps;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    TileCut cut = CutOfDimension(propagated, d);
    if (own.result[d] != OpFactors::kNone || cut.count == 1) continue;
    std::optional<Overlap> overlap = OverlapOf(windows[d], d, operand.dimensions(d), source.dimensions(d), cut.count,
                                               SelectsExtreme(*op->called_computation(0)));
    if (!overlap.has_value()) return false;
    overlaps.push_back(*std::move(overlap));
    own.operands[0][d] = own.operands[1][d] = own.result[d] = own.count++;
    cuts.push_back(std::move(cut));
  }
  if (overlaps.empty() || !AreIndependent(cuts, partitions_)) return false;
  Take(*op, factors, factors.result, Wanted(*op), &cuts);
  const TileAssignment tiles = TilesOf(cuts, own.result);

  double cost = 0;
  for (int64_t i = 0; i < 2; ++i) {
    const Shape& shape = op->operand(i)->shape();
    cost += CostOfPadded(*op->operand(i), tiles);
    double bytes = TileBytes(shape, tiles);
    for (const Overlap& overlap : overlaps) {
      const TileShift& shift = i == 0 ? overlap.extended : overlap.of_source;
      const std::vector<ShiftRound> rounds = PlanShift(shift, tiles);
      if (rounds.size() > kMaxShiftRounds) return false;
      const auto tile_size =
          static_cast<double>(CeilDiv(shape.dimensions(overlap.dimension), tiles.counts[overlap.dimension]));
      cost += ReceivedElements(rounds, partitions_) * bytes / tile_size;
      bytes *= static_cast<double>(shift.result_size / tiles.counts[overlap.dimension]) / tile_size;
    }
  }
  cost += TileShape(op->shape(), tiles).ok() ? ReshardBytes(op->shape(), tiles, Wanted(*op), partitions_)
                                             : CostOfStayingPadded(*op, tiles);
  if (cost >= limit) return false;

  HILO_ASSIGN_OR_RETURN(HloInstruction * start, Whole(op->operand(2)));
  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < 2; ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * tile, TileOfPadded(*op->operand(i), tiles));
    for (const Overlap& overlap : overlaps) {
      const TileShift& shift = i == 0 ? overlap.extended : overlap.of_source;
      HILO_ASSIGN_OR_RETURN(
          tile, emitter_.Shift({tile}, start, shift, PlanShift(shift, tiles), tiles.counts[overlap.dimension]));
    }
    operands.push_back(tile);
  }
  operands.push_back(start);
  const Shape shape = ShapeUtil::MakeShape(operand.element_type(), operands[0]->shape().dimensions());
  HloInstruction* tile = computation_->AddInstruction(op->CloneWithNewOperands(shape, operands), op->name());
  for (const Overlap& overlap : overlaps) {
    Window::Dimension& along = tile->mutable_attrs<SelectAndScatterAttrs>().window.dimensions[overlap.dimension];
    along.padding_low = along.padding_high = 0;
  }
  for (const Overlap& overlap : overlaps) {
    const int64_t first = overlap.own[0], last = overlap.last_at;
    HILO_ASSIGN_OR_RETURN(
        tile, AddPadding(tile, overlap, tiles, first - overlap.low, first, first, 0, start, *combiner, &emitter_));
    HILO_ASSIGN_OR_RETURN(tile, AddPadding(tile, overlap, tiles, last + 1, last + 1 + overlap.high, last,
                                           overlap.last_tile, start, *combiner, &emitter_));
    std::vector<int64_t> own;  // by partition
    for (const std::vector<int64_t>& of_partition : tiles.tile_of)
      own.push_back(overlap.own[of_partition[overlap.dimension]]);
    HILO_ASSIGN_OR_RETURN(tile, emitter_.SliceAlong(tile, overlap.dimension, overlap.size, own));
  }
  HILO_RETURN_IF_ERROR(SetPadded(op, tile, {tiles}));
  return true;
}

}  // namespace hilo
