// Ops that slide windows along dimensions that are cut: convolutions, reduce-windows and select-and-scatters.
//
//   x = f32[32,8] in 4 tiles of rows, windows of 3 rows, padding 1_1:
//   each partition gets one row of each neighbor, and slides over its 8 rows and these: [10,8] -> [8,8]
//
// Tiles that do not divide the operand or the result may reach beyond them, as without padding, [32,8] -> [30,8]: the
// last partition's two last rows mean nothing.
//
// A convolution may also be cut along the dimension of its windows, as the gradient of a kernel is: each partition adds
// up its part of every window, which takes the same rows of its neighbors, and the partitions add up the parts. Of
// windows of 14 elements in tiles of 4, the last partition has 2: it adds up these, and the others all 4. Windows
// filled up with zeros would not do, as zero times an infinity is NaN.
#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_shift.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// A dimension that windows slide along, in the operand, the result and, of a convolution, the kernel.
struct WindowDimension {
  int64_t index, operand, result, kernel = -1;
};

const Window* WindowOf(const HloInstruction& op) {
  if (op.opcode() == HloOpcode::kConvolution) return &op.attrs<ConvolutionAttrs>().window;
  if (op.opcode() == HloOpcode::kReduceWindow) return &op.attrs<ReduceWindowAttrs>().window;
  if (op.opcode() == HloOpcode::kSelectAndScatter) return &op.attrs<SelectAndScatterAttrs>().window;
  return nullptr;
}

std::vector<WindowDimension> WindowDimensionsOf(const HloInstruction& op) {
  std::vector<WindowDimension> dimensions;
  const auto count = static_cast<int64_t>(WindowOf(op)->dimensions.size());
  for (int64_t i = 0; i < count; ++i) {
    if (op.opcode() == HloOpcode::kConvolution) {
      const ConvolutionDimensionNumbers& labels = op.attrs<ConvolutionAttrs>().dim_labels;
      dimensions.push_back({i, labels.input_spatial_dimensions(i), labels.output_spatial_dimensions(i),
                            labels.kernel_spatial_dimensions(i)});
    } else {
      dimensions.push_back({i, i, i});
    }
  }
  return dimensions;
}

// How windows slide along a dimension on each partition.
struct Slide {
  TileShift shift;  // to tiles that overlap, one after the other
  Window::Dimension window;
  // By tile: how many results come before the tile's. Empty if there are none in any tile.
  std::vector<int64_t> before = {};
};

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// What each of `count` partitions needs of the operand, and its window along the dimension. The results are cut, or if
// `over_windows` the windows, of which the last partitions may have fewer. nullopt if the partitions would need
// different windows.
//
// Where tiles of results begin between two elements of an operand with base dilation, each partition begins at the
// element before: 21 results in 3 tiles, of every second element, begin at 0, 7 - 1 and 14, and have one more each.
std::optional<Slide> SlideOf(const Window::Dimension& window, int64_t operand_size, int64_t results, int64_t count,
                             bool over_windows) {
  const int64_t own_results = over_windows ? results : CeilDiv(results, count);
  const int64_t own_window = over_windows ? CeilDiv(window.size, count) : window.size;
  const int64_t step = over_windows ? own_window * window.window_dilation : own_results * window.stride;
  const int64_t span = (own_results - 1) * window.stride + (own_window - 1) * window.window_dilation + 1;
  const bool begins_between = step % window.base_dilation != 0;
  if (own_results == 0 || own_window == 0 || (begins_between && (over_windows || window.stride != 1)))
    return std::nullopt;
  Slide slide{.shift = {}, .window = window};
  slide.window.size = own_window;
  const auto begin_of = [&](int64_t tile) {
    return (over_windows && window.window_reversal ? count - 1 - tile : tile) * step - window.padding_low;
  };
  for (int64_t tile = 0; begins_between && tile < count; ++tile)
    slide.before.push_back(begin_of(tile) - FloorDiv(begin_of(tile), window.base_dilation) * window.base_dilation);
  const int64_t more = begins_between ? *absl::c_max_element(slide.before) : 0;
  for (int64_t tile = 0; tile < count; ++tile) {
    // Of the operand with its base dilation; then without.
    const int64_t start = begin_of(tile) - (begins_between ? slide.before[tile] : 0), last = start + span + more - 1;
    const int64_t from = -FloorDiv(-start, window.base_dilation), to = FloorDiv(last, window.base_dilation) + 1;
    const int64_t length = to - from;
    if (length <= 0) return std::nullopt;
    slide.window.padding_low = from * window.base_dilation - start;
    slide.window.padding_high = last - (to - 1) * window.base_dilation;
    slide.shift.result_size = length * count;
    const int64_t begin = std::max<int64_t>(from, 0), end = std::min(to, operand_size);
    if (begin < end)
      slide.shift.sources.push_back({operand_size, tile * length + begin - from, tile * length + end - from, begin, 1});
  }
  return slide;
}

// Whether elements of the padding count as elements would that have the value of the padding: those of a reduction by
// an op that does not begin with its identity are left out of it. Other computations begin with theirs, as HLO asks.
bool MayFillPadding(const HloInstruction& op, const Window::Dimension& along) {
  if ((along.padding_low <= 0 && along.padding_high <= 0) || op.opcode() != HloOpcode::kReduceWindow) return true;
  const std::vector<HloOpcode> ops = OpsOfArrays(op);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!IsPartStart(ops[i], *op.operand(static_cast<int64_t>(ops.size() + i)))) return false;
  }
  return true;
}

// The arrays that windows slide over, all of one shape but for their types.
int64_t ArraysOf(const HloInstruction& op) {
  return op.opcode() == HloOpcode::kReduceWindow ? op.operand_count() / 2 : 1;
}

// That of the result, or of its first array.
const Shape& ResultShape(const HloInstruction& op) {
  return op.shape().IsTuple() ? op.shape().tuple_shapes(0) : op.shape();
}

bool HasTiles(const Shape& shape, const TileAssignment& tiles) { return TileShape(shape, tiles).ok(); }

// Whether the windows of each tile of the results lie in one tile of the operand, whatever the tiles.
bool StaysInTiles(const Window::Dimension& window, int64_t operand_size, int64_t results) {
  return window.padding_low == 0 && window.padding_high == 0 && window.base_dilation == 1 &&
         window.window_dilation == 1 && window.size <= window.stride && operand_size == results * window.stride;
}

}  // namespace

// How the op is divided.
struct TileWalk::WindowDivision {
  OpFactors factors;  // with those of the dimensions of windows, and of a convolution's groups
  Cuts cuts;
  std::vector<Slide> slides;
  int64_t groups = 1;  // the parts that those groups are cut into
  // If tiles do not divide the windows along a dimension: that, its factor, and how many the array has.
  struct Uneven {
    WindowDimension dimension;
    int factor;
    int64_t size;
  };
  std::optional<Uneven> uneven;

  int NewFactor(TileCut cut, int64_t of_operand, int64_t of_other, int64_t of_result, int64_t arrays = 1) {
    const int factor = factors.count++;
    cuts.push_back(std::move(cut));
    for (int64_t i = 0; i < arrays; ++i) factors.operands[i][of_operand] = factor;
    if (of_other >= 0) factors.operands[1][of_other] = factor;
    if (of_result >= 0) factors.result[of_result] = factor;
    return factor;
  }
};

std::optional<TileWalk::WindowDivision> TileWalk::DivideWindows(const HloInstruction& op, const OpFactors& factors,
                                                                bool may_reach_beyond) const {
  const bool is_convolution = op.opcode() == HloOpcode::kConvolution;
  const Shape& operand = op.operand(0)->shape();
  const Shape& result = ResultShape(op);
  const TileAssignment wanted = Wanted(op), propagated = may_reach_beyond ? Propagated(op) : wanted;
  const TileAssignment now = may_reach_beyond ? TilesNow(*op.operand(0)) : values_.at(op.operand(0))->tiles;
  WindowDivision division{.factors = factors, .cuts = Cuts(factors.count), .slides = {}};
  for (const WindowDimension& d : WindowDimensionsOf(op)) {
    const Window::Dimension& along = WindowOf(op)->dimensions[d.index];
    const int64_t size = operand.dimensions(d.operand), results = result.dimensions(d.result);
    TileCut cut = CutOfDimension(propagated, d.result);
    if (results < cut.count) cut = CutOfDimension(wanted, d.result);
    const bool over_windows = cut.count == 1 && is_convolution;
    if (over_windows) cut = CutOfDimension(now, d.operand);
    const int64_t count = cut.count;
    if (count == 1 || factors.operands[0][d.operand] != OpFactors::kNone) continue;
    const bool is_uneven = over_windows && along.size % count != 0;
    if (is_uneven && (!may_reach_beyond || along.window_reversal || division.uneven.has_value())) continue;
    if (size == 0 || (size % count != 0 && !may_reach_beyond)) return std::nullopt;
    if (op.opcode() == HloOpcode::kSelectAndScatter) {
      if (size % count != 0) return std::nullopt;
      const int64_t windows = op.operand(1)->shape().dimensions(d.result);
      if (windows % count != 0 || !StaysInTiles(along, size, windows)) return std::nullopt;
      division.NewFactor(std::move(cut), d.operand, d.result, d.result);
      continue;
    }
    std::optional<Slide> slide = SlideOf(along, size, results, count, over_windows);
    if (!slide.has_value() || !MayFillPadding(op, along)) return std::nullopt;
    if (!slide->before.empty() && op.shape().IsTuple()) return std::nullopt;
    slide->shift.dimension = d.operand;
    division.slides.push_back(*std::move(slide));
    const int factor = division.NewFactor(std::move(cut), d.operand, over_windows ? d.kernel : -1,
                                          over_windows ? -1 : d.result, ArraysOf(op));
    if (!over_windows) continue;
    if (is_uneven) division.uneven = {.dimension = d, .factor = factor, .size = along.size};
    division.factors.combined.push_back(factor);
    division.factors.combiner = HloOpcode::kAdd;
  }
  if (is_convolution) {
    const ConvolutionAttrs& attrs = op.attrs<ConvolutionAttrs>();
    const ConvolutionDimensionNumbers& labels = attrs.dim_labels;
    TileCut cut = CutOfDimension(wanted, labels.output_feature_dimension());
    if (cut.count > 1 && std::max(attrs.feature_group_count, attrs.batch_group_count) % cut.count == 0) {
      division.groups = cut.count;
      division.NewFactor(
          std::move(cut),
          attrs.batch_group_count > 1 ? labels.input_batch_dimension() : labels.input_feature_dimension(),
          labels.kernel_output_feature_dimension(), labels.output_feature_dimension());
    }
  }
  if (division.factors.count == factors.count || !AreIndependent(division.cuts, partitions_)) return std::nullopt;
  // The other dimensions: of the result as wanted, and what is added up as it is.
  Take(op, factors, factors.result, wanted, &division.cuts);
  std::vector<int> added_up = factors.operands[0];
  for (int& factor : added_up) {
    if (!absl::c_linear_search(factors.combined, factor)) factor = OpFactors::kNone;
  }
  Take(op, factors, added_up, now, &division.cuts);
  return division;
}

double TileWalk::CostOfWindows(const HloInstruction& op, const WindowDivision& division,
                               std::vector<std::vector<ShiftRound>>* rounds) const {
  const auto& [own, cuts, slides, groups, uneven] = division;
  const Shape& operand = op.operand(0)->shape();
  const TileAssignment tiles = TilesOf(cuts, own.operands[0]), of_result = TilesOf(cuts, own.result);
  double cost = 0, bytes = 0;
  for (int64_t i = 0; i < ArraysOf(op); ++i) bytes += TileBytes(op.operand(i)->shape(), tiles);
  for (int64_t i = 0; i < op.operand_count(); ++i) cost += CostOfPadded(*op.operand(i), TilesOf(cuts, own.operands[i]));
  if (HasTiles(ResultShape(op), of_result)) {
    cost += CostOfResults(op, own, cuts);
  } else {
    double parts = 1;
    for (const int factor : own.combined) parts *= static_cast<double>(cuts[factor].count);
    cost += 2 * TileBytes(op.shape(), of_result) * (parts - 1) / parts + CostOfStayingPadded(op, of_result);
  }
  for (const Slide& slide : slides) {
    rounds->push_back(PlanShift(slide.shift, tiles));
    if (rounds->back().size() > kMaxShiftRounds) return std::numeric_limits<double>::infinity();
    const int64_t d = slide.shift.dimension;
    const auto tile_size = static_cast<double>(CeilDiv(operand.dimensions(d), tiles.counts[d]));
    cost += ReceivedElements(rounds->back(), partitions_) * bytes / tile_size;
    bytes *= static_cast<double>(slide.shift.result_size / tiles.counts[d]) / tile_size;
  }
  return cost;
}

absl::StatusOr<HloInstruction*> TileWalk::OfOwnWindows(const WindowDivision& division, HloInstruction* tile) {
  const auto& [dimension, factor, size] = *division.uneven;
  const TileCut& cut = division.cuts[factor];
  const int64_t own = CeilDiv(size, cut.count), full = size / own, rest = size % own;
  const auto of_tile = [&](int64_t number, HloInstruction* then, HloInstruction* otherwise,
                           bool or_before) -> absl::StatusOr<HloInstruction*> {
    absl::InlinedVector<bool, 8> values;
    for (const int64_t one : cut.tile_of) values.push_back(or_before ? one <= number : one == number);
    HILO_ASSIGN_OR_RETURN(HloInstruction * is, emitter_.ElementOfPartition(LiteralUtil::CreateR1<bool>(values)));
    HILO_ASSIGN_OR_RETURN(is, MakeBroadcast(is, ShapeUtil::MakeShape(PRED, tile->shape().dimensions()), {}));
    return computation_->AddOp(HloOpcode::kSelect, {is, then, otherwise});
  };
  HloInstruction* const zero = computation_->AddConstant(LiteralUtil::Zero(tile->shape().element_type()));
  HILO_ASSIGN_OR_RETURN(HloInstruction * others, MakeBroadcast(zero, tile->shape(), {}));
  if (rest > 0) {
    std::vector<SliceRange> ranges;
    for (const int64_t length : tile->operand(1)->shape().dimensions()) ranges.push_back({0, length, 1});
    ranges[dimension.kernel].limit = rest;
    HILO_ASSIGN_OR_RETURN(HloInstruction * kernel, MakeSlice(tile->mutable_operand(1), std::move(ranges)));
    HloInstruction* const of_rest = computation_->AddInstruction(
        tile->CloneWithNewOperands(tile->shape(), {tile->mutable_operand(0), kernel}), tile->name());
    Window::Dimension& along = of_rest->mutable_attrs<ConvolutionAttrs>().window.dimensions[dimension.index];
    along.size = rest;
    along.padding_high -= (own - rest) * along.window_dilation;
    HILO_ASSIGN_OR_RETURN(others, of_tile(full, of_rest, others, false));
  }
  return of_tile(full - 1, tile, others, true);
}

absl::StatusOr<bool> TileWalk::VisitWindows(HloInstruction* op, const OpFactors& factors, double limit) {
  if (WindowOf(*op) == nullptr) return false;
  std::optional<WindowDivision> division;
  std::vector<std::vector<ShiftRound>> rounds;
  for (const bool may_reach_beyond : {false, true}) {
    if (may_reach_beyond && op->shape().IsTuple()) break;
    std::optional<WindowDivision> other = DivideWindows(*op, factors, may_reach_beyond);
    if (!other.has_value()) continue;
    std::vector<std::vector<ShiftRound>> of_other;
    const double cost = CostOfWindows(*op, *other, &of_other);
    if (cost >= limit) continue;
    limit = cost;
    division = std::move(other);
    rounds = std::move(of_other);
  }
  if (!division.has_value()) return false;
  const auto& [own, cuts, slides, groups, uneven] = *division;
  const Shape& operand = op->operand(0)->shape();
  const TileAssignment tiles = TilesOf(cuts, own.operands[0]), of_result = TilesOf(cuts, own.result);

  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), TileOfPadded(*op->operand(i), TilesOf(cuts, own.operands[i])));
  }
  Shape shape = op->shape();
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(op->shape()))
    *ShapeUtil::GetMutableSubshape(&shape, leaf.index) = PaddedTileShape(*leaf.shape, of_result);
  const int64_t arrays = ArraysOf(*op);
  Window local = *WindowOf(*op);
  std::vector<std::pair<int64_t, std::vector<int64_t>>> befores;  // by dimension of the result
  for (size_t k = 0; k < slides.size(); ++k) {
    const int64_t d = slides[k].shift.dimension;
    for (int64_t i = 0; i < arrays; ++i) {
      // Padding has the value that a reduction begins with.
      HloInstruction* fill = op->opcode() == HloOpcode::kConvolution
                                 ? computation_->AddConstant(LiteralUtil::Zero(operand.element_type()))
                                 : operands[op->operand_count() - arrays + i];
      HILO_ASSIGN_OR_RETURN(operands[i],
                            emitter_.Shift({operands[i]}, fill, slides[k].shift, rounds[k], tiles.counts[d]));
    }
    for (const WindowDimension& dimension : WindowDimensionsOf(*op)) {
      if (dimension.operand != d) continue;
      local.dimensions[dimension.index] = slides[k].window;
      if (!slides[k].before.empty()) befores.emplace_back(dimension.result, slides[k].before);
    }
  }
  Shape computed = shape;
  for (const auto& [along, before] : befores)
    computed.set_dimensions(along, shape.dimensions(along) + *absl::c_max_element(before));
  HloInstruction* tile = computation_->AddInstruction(op->CloneWithNewOperands(computed, operands), op->name());
  if (op->opcode() == HloOpcode::kConvolution) {
    ConvolutionAttrs& attrs = tile->mutable_attrs<ConvolutionAttrs>();
    attrs.window = local;
    (attrs.batch_group_count > 1 ? attrs.batch_group_count : attrs.feature_group_count) /= groups;
    if (uneven.has_value()) {
      HILO_ASSIGN_OR_RETURN(tile, OfOwnWindows(*division, tile));
    }
  } else if (op->opcode() == HloOpcode::kReduceWindow) {
    tile->mutable_attrs<ReduceWindowAttrs>().window = local;
  }
  for (const auto& [along, before] : befores) {
    std::vector<int64_t> starts;
    for (const int64_t number : CutOfDimension(of_result, along).tile_of) starts.push_back(before[number]);
    HILO_ASSIGN_OR_RETURN(tile, emitter_.SliceAlong(tile, along, shape.dimensions(along), starts));
  }
  HILO_RETURN_IF_ERROR(shape.IsTuple() ? SetComputed(op, tile, own, cuts) : SetPaddedResult(op, tile, own, cuts));
  return true;
}

}  // namespace hilo
