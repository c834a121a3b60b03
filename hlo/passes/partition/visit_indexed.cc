// Ops that index dimensions that are cut: gathers, scatters, slices of one tile, and searches for a position.
//
//   table = f32[1000,64] in 4 tiles of rows, indices = s32[8]:
//   each partition gathers the rows that it has, and zeros for the others; f32[8,64] all-reduce
//
// A gather of few rows of a long table exchanges much less that way than the table.
//
// Tiles may reach beyond the array (visit_padded.cc): no index means a row there, and updates there are the identity of
// the op that combines them.
#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// Whether indices of this type reach all elements of `indexed`, and may be compared with its sizes.
bool ReachesAll(const HloInstruction& indices, const HloInstruction& indexed) {
  const PrimitiveType type = indices.shape().element_type();
  return type == S64 ||
         (type == S32 && absl::c_all_of(indexed.shape().dimensions(), [](int64_t size) { return size <= INT32_MAX; }));
}

// The dimension of the indices of each dimension of the updates; -1 for those of windows.
std::vector<int64_t> IndexDimensions(const HloInstruction& scatter) {
  const ScatterAttrs& attrs = scatter.attrs<ScatterAttrs>();
  std::vector<int64_t> dimensions;
  int64_t next = 0;
  for (int64_t d = 0; d < scatter.operand(2)->shape().rank(); ++d) {
    if (absl::c_linear_search(attrs.update_window_dims, d)) {
      dimensions.push_back(-1);
      continue;
    }
    if (next == attrs.index_vector_dim) ++next;
    dimensions.push_back(next++);
  }
  return dimensions;
}

// The identity of the op that combines the updates of a scatter, if there is one.
std::optional<Literal> IdentityOfUpdates(const HloInstruction& scatter) {
  const std::optional<HloOpcode> combiner = ReductionOp(*scatter.called_computation());
  if (!combiner.has_value() || *combiner == HloOpcode::kXor) return std::nullopt;
  return IdentityOf(*combiner, scatter.operand(0)->shape().element_type());
}

HloOpcode CombinerOfGathered(PrimitiveType type) { return type == PRED ? HloOpcode::kOr : HloOpcode::kAdd; }

// Whether a gather or scatter indexes single rows along dimension `d` of its first operand.
bool IndexesRows(const HloInstruction& op, int64_t d) {
  if (op.opcode() == HloOpcode::kGather) {
    const GatherAttrs& attrs = op.attrs<GatherAttrs>();
    return absl::c_linear_search(attrs.start_index_map, d) && attrs.slice_sizes[d] == 1;
  }
  const ScatterAttrs& attrs = op.attrs<ScatterAttrs>();
  return absl::c_linear_search(attrs.inserted_window_dims, d) &&
         absl::c_linear_search(attrs.scatter_dims_to_operand_dims, d);
}

// Whether every element is `value`, as far as can be seen.
bool IsUniform(const HloInstruction& instruction, const Literal& value) {
  const HloInstruction* at = &instruction;
  while (at->opcode() == HloOpcode::kBroadcast) at = at->operand(0);
  return at->IsConstant() && at->shape().IsScalar() && at->literal() == value;
}

absl::StatusOr<HloInstruction*> Compare(HloInstruction* lhs, ComparisonDirection direction, HloInstruction* rhs) {
  auto attributes = std::make_unique<CompareAttrs>();
  attributes->direction = direction;
  const Shape shape = ShapeUtil::MakeShape(PRED, lhs->shape().dimensions());
  return lhs->parent()->AddOp(HloOpcode::kCompare, {lhs, rhs}, std::move(attributes), {}, &shape);
}

// Indices, component i of which along `vector_dimension` is limited to [0, last[i]].
absl::StatusOr<HloInstruction*> Clamped(HloInstruction* indices, int64_t vector_dimension,
                                        const std::vector<int64_t>& last) {
  HloComputation* computation = indices->parent();
  const PrimitiveType type = indices->shape().element_type();
  const bool has_vectors = vector_dimension < indices->shape().rank();
  HloInstruction* limit = computation->AddConstant(has_vectors ? LiteralUtil::CreateR1<int64_t>(last)
                                                               : LiteralUtil::CreateR0<int64_t>(last[0]));
  const Shape converted = ShapeUtil::MakeShape(type, limit->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(limit, computation->AddOp(HloOpcode::kConvert, {limit}, nullptr, {}, &converted));
  const Shape shape = ShapeUtil::MakeShape(type, indices->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(
      limit, MakeBroadcast(limit, shape, has_vectors ? std::vector{vector_dimension} : std::vector<int64_t>()));
  HILO_ASSIGN_OR_RETURN(HloInstruction * zero,
                        MakeBroadcast(computation->AddConstant(LiteralUtil::Zero(type)), shape, {}));
  return computation->AddOp(HloOpcode::kClamp, {zero, indices, limit});
}

// Returns, for each index vector, whether its components are within bounds. `sizes`: pairs of a component and the size
// that it must be less than.
absl::StatusOr<HloInstruction*> AreInside(HloInstruction* indices, int64_t vector_dimension,
                                          const std::vector<std::pair<size_t, int64_t>>& sizes) {
  HloComputation* computation = indices->parent();
  const PrimitiveType type = indices->shape().element_type();
  std::vector<int64_t> batch(indices->shape().dimensions().begin(), indices->shape().dimensions().end());
  const bool has_vectors = vector_dimension < indices->shape().rank();
  if (has_vectors) batch.erase(batch.begin() + vector_dimension);
  const Shape shape = ShapeUtil::MakeShape(type, batch);
  HloInstruction* inside = nullptr;
  for (const auto& [component, size] : sizes) {
    HloInstruction* one = indices;
    if (has_vectors) {
      std::vector<SliceRange> ranges;
      for (const int64_t length : indices->shape().dimensions()) ranges.push_back({0, length, 1});
      ranges[vector_dimension] = {static_cast<int64_t>(component), static_cast<int64_t>(component) + 1, 1};
      HILO_ASSIGN_OR_RETURN(one, MakeSlice(indices, std::move(ranges)));
      HILO_ASSIGN_OR_RETURN(one, MakeReshape(one, shape));
    }
    for (const auto& [bound, direction] :
         {std::pair(int64_t{0}, ComparisonDirection::kGe), std::pair(size, ComparisonDirection::kLt)}) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * limit, MakeUniform(one, static_cast<double>(bound)));
      HILO_ASSIGN_OR_RETURN(HloInstruction * within, Compare(one, direction, limit));
      if (inside == nullptr) {
        inside = within;
      } else {
        HILO_ASSIGN_OR_RETURN(inside, computation->AddOp(HloOpcode::kAnd, {inside, within}));
      }
    }
  }
  return inside;
}

}  // namespace

bool TileWalk::IndexesPadded(const HloInstruction& op, int64_t operand, int64_t d) {
  if (!ReachesAll(*op.operand(1), *op.operand(0))) return false;
  if (op.opcode() == HloOpcode::kGather) {
    const PrimitiveType type = op.shape().element_type();
    return operand == 0 && IndexesRows(op, d) && IdentityOf(CombinerOfGathered(type), type).has_value();
  }
  const ScatterAttrs& attrs = op.attrs<ScatterAttrs>();
  if (operand == 0) return IndexesRows(op, d);
  const bool is_batch =
      operand == 1 ? d != attrs.index_vector_dim : !absl::c_linear_search(attrs.update_window_dims, d);
  return is_batch && IdentityOfUpdates(op).has_value();
}

double TileWalk::CostOfIndexed(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const {
  const TileAssignment tiles = TilesOf(cuts, factors.result);
  if (!TileShape(op.shape(), tiles).ok()) return CostOfPaddedCuts(op, factors, cuts);
  double cost = CostOfResults(op, factors, cuts);
  for (int64_t i = 0; i < op.operand_count(); ++i)
    cost += CostOfPadded(*op.operand(i), TilesOf(cuts, factors.operands[i]));
  return cost;
}

absl::StatusOr<bool> TileWalk::VisitGather(HloInstruction* gather, const OpFactors& factors, double limit) {
  if (gather->opcode() != HloOpcode::kGather || !ReachesAll(*gather->operand(1), *gather->operand(0))) return false;
  const GatherAttrs& attrs = gather->attrs<GatherAttrs>();
  const HloInstruction &operand = *gather->operand(0), &indices = *gather->operand(1);
  const PrimitiveType type = gather->shape().element_type();
  const HloOpcode combiner = CombinerOfGathered(type);
  const std::optional<Literal> identity = IdentityOf(combiner, type);
  const TileAssignment now = TilesNow(operand);
  if (!identity.has_value() || now.IsWhole()) return false;
  OpFactors own = factors;
  own.combiner = combiner;
  Cuts cuts(own.count);
  std::vector<std::pair<size_t, int64_t>> sizes;  // of tiles, by component of an index
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    TileCut cut = CutOfDimension(now, d);
    const auto component = absl::c_find(attrs.start_index_map, d);
    if (cut.count == 1 || factors.operands[0][d] != OpFactors::kNone) continue;
    if (!IndexesRows(*gather, d)) return false;
    sizes.emplace_back(component - attrs.start_index_map.begin(), CeilDiv(operand.shape().dimensions(d), cut.count));
    own.operands[0][d] = own.count;
    own.combined.push_back(own.count++);
    cuts.push_back(std::move(cut));
  }
  if (sizes.empty()) return false;
  TakeTiles(*gather, factors, 0, &cuts);
  Take(*gather, factors, factors.result, Wanted(*gather), &cuts);
  if (!AreIndependent(cuts, partitions_) || CostOfIndexed(*gather, own, cuts) >= limit) return false;

  const TileAssignment tiles = TilesOf(cuts, own.operands[0]);
  std::vector<int64_t> last;
  for (const int64_t d : attrs.start_index_map) last.push_back(operand.shape().dimensions(d) - attrs.slice_sizes[d]);
  std::vector<HloInstruction*> operands(2);
  HILO_ASSIGN_OR_RETURN(operands[0], TileOfPadded(operand, tiles));
  HILO_ASSIGN_OR_RETURN(operands[1], TileOfPadded(indices, TilesOf(cuts, own.operands[1])));
  HILO_ASSIGN_OR_RETURN(operands[1], Clamped(operands[1], attrs.index_vector_dim, last));
  HILO_ASSIGN_OR_RETURN(operands[1], emitter_.IndicesWithin(operands[1], operand.shape(), tiles, attrs.index_vector_dim,
                                                            attrs.start_index_map));
  const Shape shape = PaddedShape(*gather, own, cuts);
  HloInstruction* tile = computation_->AddInstruction(gather->CloneWithNewOperands(shape, operands), gather->name());
  SetTileSizes(factors, tile);
  if (!TileShape(indices.shape(), TilesOf(cuts, own.operands[1])).ok()) ForgetOrderOfIndices(tile);
  HILO_ASSIGN_OR_RETURN(HloInstruction * inside, AreInside(operands[1], attrs.index_vector_dim, sizes));
  std::vector<int64_t> batch;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!absl::c_linear_search(attrs.offset_dims, d)) batch.push_back(d);
  }
  HILO_ASSIGN_OR_RETURN(inside, MakeBroadcast(inside, ShapeUtil::MakeShape(PRED, shape.dimensions()), batch));
  HILO_ASSIGN_OR_RETURN(HloInstruction * others, MakeBroadcast(computation_->AddConstant(identity->Clone()),
                                                               ShapeUtil::MakeShape(type, shape.dimensions()), {}));
  HILO_ASSIGN_OR_RETURN(tile, computation_->AddOp(HloOpcode::kSelect, {inside, tile, others}));
  HILO_RETURN_IF_ERROR(SetPaddedResult(gather, tile, own, cuts));
  return true;
}

// Indices outside of the tile have no effect, as those outside of the array.
absl::StatusOr<bool> TileWalk::VisitScatter(HloInstruction* scatter, const OpFactors& factors, double limit) {
  if (scatter->opcode() != HloOpcode::kScatter || !ReachesAll(*scatter->operand(1), *scatter->operand(0))) return false;
  const ScatterAttrs& attrs = scatter->attrs<ScatterAttrs>();
  const HloInstruction &operand = *scatter->operand(0), &indices = *scatter->operand(1),
                       &updates = *scatter->operand(2);
  const TileAssignment wanted = Wanted(*scatter);
  const PrimitiveType type = operand.shape().element_type();
  const std::optional<HloOpcode> combiner = ReductionOp(*scatter->called_computation());
  const std::optional<Literal> identity = IdentityOfUpdates(*scatter);

  // By rows, by updates or by both.
  OpFactors best;
  Cuts best_cuts;
  for (const auto& [by_rows, by_updates] : {std::pair(true, true), std::pair(false, true), std::pair(true, false)}) {
    OpFactors own = factors;
    own.combiner = combiner;
    Cuts cuts(own.count);
    bool has_rows = false, has_updates = false;
    for (int64_t d = 0; d < operand.shape().rank() && by_rows; ++d) {
      TileCut cut = CutOfDimension(wanted, d);
      if (cut.count == 1 && IsPadded(operand)) cut = CutOfDimension(TilesNow(operand), d);
      if (cut.count == 1 || !IndexesRows(*scatter, d)) continue;
      own.operands[0][d] = own.result[d] = own.count++;
      cuts.push_back(std::move(cut));
      has_rows = true;
    }
    const std::vector<int64_t> index_dimensions = IndexDimensions(*scatter);
    for (int64_t d = 0; d < updates.shape().rank() && by_updates && identity.has_value(); ++d) {
      const int64_t index = index_dimensions[d];
      if (index < 0 || factors.operands[2][d] != OpFactors::kNone) continue;
      TileCut cut = CutOfDimension(TilesNow(updates), d);
      if (cut.count == 1) cut = CutOfDimension(TilesNow(indices), index);
      if (cut.count == 1) continue;
      own.operands[1][index] = own.operands[2][d] = own.count;
      own.combined.push_back(own.count++);
      cuts.push_back(std::move(cut));
      has_updates = true;
    }
    if (by_rows != has_rows || by_updates != has_updates || !AreIndependent(cuts, partitions_)) continue;
    Take(*scatter, factors, factors.result, wanted, &cuts);
    Cuts of_updates = cuts;  // also along windows that their tiles reach beyond
    TakeTiles(*scatter, factors, 2, &of_updates);
    for (Cuts& some : std::array<Cuts, 2>{std::move(cuts), std::move(of_updates)}) {
      const double cost = CostOfIndexed(*scatter, own, some);
      if (cost >= limit) continue;
      limit = cost;
      best = own;
      best_cuts = std::move(some);
    }
  }
  if (best_cuts.empty()) return false;

  const TileAssignment tiles = TilesOf(best_cuts, best.result);
  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < scatter->operand_count(); ++i) {
    if (i < 2 || best.combined.empty()) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(),
                            TileOfPadded(*scatter->operand(i), TilesOf(best_cuts, best.operands[i])));
      continue;
    }
    HloInstruction* const fill = computation_->AddConstant(identity->Clone());
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), FilledTile(*scatter, best, best_cuts, i, fill));
  }
  if (!tiles.IsWhole()) {
    // A window along a whole dimension is at 0 in each tile of it, too.
    TileAssignment of_rows = tiles;
    for (int64_t d = 0; d < operand.shape().rank(); ++d) {
      if (absl::c_linear_search(attrs.inserted_window_dims, d)) continue;
      for (std::vector<int64_t>& tile : of_rows.tile_of) tile[d] = 0;
    }
    HILO_ASSIGN_OR_RETURN(operands[1],
                          emitter_.IndicesWithin(operands[1], operand.shape(), of_rows, attrs.index_vector_dim,
                                                 attrs.scatter_dims_to_operand_dims));
  }
  // What the updates are combined with counts once.
  if (!best.combined.empty() && combiner != HloOpcode::kMaximum && combiner != HloOpcode::kMinimum &&
      !IsUniform(operand, *identity) && !(combiner == HloOpcode::kAdd && IsUniform(operand, LiteralUtil::Zero(type)))) {
    HILO_ASSIGN_OR_RETURN(operands[0], emitter_.OnFirst(operands[0], computation_->AddConstant(identity->Clone()),
                                                        GroupsToCombine(best_cuts, best)));
  }
  const Shape shape = PaddedShape(*scatter, best, best_cuts);
  HloInstruction* tile = computation_->AddInstruction(scatter->CloneWithNewOperands(shape, operands), scatter->name());
  if (!TileShape(updates.shape(), TilesOf(best_cuts, best.operands[2])).ok()) ForgetOrderOfIndices(tile);
  HILO_RETURN_IF_ERROR(SetPaddedResult(scatter, tile, best, best_cuts));
  return true;
}

absl::StatusOr<bool> TileWalk::VisitSliceOfTile(HloInstruction* slice, const OpFactors& factors, double limit) {
  const bool is_dynamic = slice->opcode() == HloOpcode::kDynamicSlice;
  if (!is_dynamic && slice->opcode() != HloOpcode::kSlice) return false;
  const HloInstruction& operand = *slice->operand(0);
  const TileAssignment now = TilesNow(operand);
  if (now.IsWhole()) return false;
  OpFactors own = factors;
  Cuts cuts(own.count);
  std::vector<std::array<int64_t, 4>> within;  // dimension, tile, begin and end in it
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    TileCut cut = CutOfDimension(now, d);
    if (cut.count == 1 || factors.operands[0][d] != OpFactors::kNone) continue;
    const int64_t size = operand.shape().dimensions(d), tile_size = CeilDiv(size, cut.count);
    SliceRange range{0, slice->shape().dimensions(d), 1};
    if (is_dynamic) {
      const HloInstruction& start = *slice->operand(d + 1);
      if (!start.IsConstant() || !ReachesAll(start, operand)) return false;
      range.start = std::clamp<int64_t>(start.literal().GetAsInt64(0), 0, size - range.limit);
      range.limit += range.start;
    } else {
      range = slice->attrs<SliceAttrs>().slice[d];
    }
    if (range.limit <= range.start || range.start / tile_size != (range.limit - 1) / tile_size) return false;
    const int64_t tile = range.start / tile_size;
    within.push_back({d, tile, range.start - tile * tile_size, range.limit - tile * tile_size});
    own.operands[0][d] = own.count;
    own.combined.push_back(own.count++);
    cuts.push_back(std::move(cut));
  }
  if (within.empty()) return false;
  Take(*slice, factors, factors.operands[0], now, &cuts);
  const TileAssignment of_operand = TilesOf(cuts, own.operands[0]), tiles = TilesOf(cuts, own.result);
  const double cost = CostOfPadded(operand, of_operand) + TileBytes(slice->shape(), tiles) +
                      ReshardBytes(slice->shape(), tiles, Wanted(*slice), partitions_);
  if (cost >= limit) return false;

  std::vector<HloInstruction*> operands(slice->operands().begin(), slice->operands().end());
  HILO_ASSIGN_OR_RETURN(operands[0], TileOfPadded(operand, of_operand));
  for (size_t i = 1; i < operands.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands[i], Whole(slice->operand(static_cast<int64_t>(i))));
  }
  size_t owner = 0;  // in the groups, which are ordered by tile
  for (const auto& [d, tile, begin, end] : within) {
    owner = owner * cuts[own.operands[0][d]].count + tile;
    if (is_dynamic) {
      const Shape type = ShapeUtil::MakeShape(operands[d + 1]->shape().element_type(), {});
      HILO_ASSIGN_OR_RETURN(
          operands[d + 1],
          computation_->AddOp(HloOpcode::kConvert, {computation_->AddConstant(LiteralUtil::CreateR0<int64_t>(begin))},
                              nullptr, {}, &type));
    }
  }
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(slice->shape(), tiles));
  HloInstruction* tile = computation_->AddInstruction(slice->CloneWithNewOperands(shape, operands), slice->name());
  SetTileSizes(factors, tile);
  for (const auto& [d, of, begin, end] : within) {
    if (is_dynamic) continue;
    SliceRange& range = tile->mutable_attrs<SliceAttrs>().slice[d];
    range = {begin, end, range.stride};
  }
  std::vector<std::vector<int64_t>> groups = GroupsToCombine(cuts, own);
  for (std::vector<int64_t>& group : groups) std::swap(group[0], group[owner]);
  HILO_ASSIGN_OR_RETURN(tile, emitter_.Broadcast(tile, groups));
  HILO_RETURN_IF_ERROR(SetDivided(slice, tile, {tiles}));
  return true;
}

}  // namespace hilo
