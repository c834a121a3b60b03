// Ops that move elements along dimensions that stay cut: shifts (tile_shift.h) and scatters.
#include "absl/algorithm/container.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_shift.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// What the op does along a dimension; nullopt if that cannot be told, or it does nothing.
std::optional<TileShift> ShiftOf(const HloInstruction& op, int64_t d) {
  const Shape& operand = op.operand(0)->shape();
  const int64_t size = operand.dimensions(d), result = op.shape().dimensions(d);
  TileShift shift{.dimension = d, .result_size = result};
  if (op.opcode() == HloOpcode::kSlice) {
    const SliceRange& range = op.attrs<SliceAttrs>().slice[d];
    if (range == SliceRange{0, size, 1}) return std::nullopt;
    shift.sources.push_back({size, 0, result, range.start, range.stride});
  } else if (op.opcode() == HloOpcode::kReverse) {
    if (!absl::c_linear_search(op.attrs<ReverseAttrs>().dimensions, d)) return std::nullopt;
    shift.sources.push_back({size, 0, result, size - 1, -1});
  } else if (op.opcode() == HloOpcode::kPad) {
    const PaddingConfig::Dimension& padding = op.attrs<PadAttrs>().padding.dimensions[d];
    const int64_t low = padding.edge_padding_low;
    if ((low == 0 && padding.edge_padding_high == 0) || padding.interior_padding != 0) return std::nullopt;
    const int64_t begin = std::max<int64_t>(low, 0), end = std::min(low + size, result);
    if (begin < end) shift.sources.push_back({size, begin, end, begin - low, 1});
  } else if (op.opcode() == HloOpcode::kConcatenate) {
    if (op.attrs<ConcatenateAttrs>().dimensions[0] != d) return std::nullopt;
    int64_t begin = 0;
    for (size_t i = 0; i < static_cast<size_t>(op.operand_count()); ++i) {
      const int64_t length = op.operand(static_cast<int64_t>(i))->shape().dimensions(d);
      shift.sources.push_back({length, begin, begin + length, 0, 1, i});
      begin += length;
    }
  } else {
    return std::nullopt;
  }
  return shift;
}

}  // namespace

absl::StatusOr<bool> TileWalk::VisitShift(HloInstruction* op, const OpFactors&, double limit) {
  if (!op->shape().IsArray()) return false;
  const TileAssignment wanted = Wanted(*op);
  if (wanted.IsWhole()) return false;
  const size_t count = op->opcode() == HloOpcode::kPad ? 1 : op->operand_count();
  double cost = 0;
  for (size_t i = 0; i < count; ++i) {
    const HloInstruction& operand = *op->operand(static_cast<int64_t>(i));
    if (!TileShape(operand.shape(), wanted).ok()) return false;
    cost += CostOf(operand, wanted);
  }
  std::vector<TileShift> shifts;
  std::vector<std::vector<ShiftRound>> rounds;
  double bytes = TileBytes(op->operand(0)->shape(), wanted);  // of the tile as it is shifted along one after the other
  for (int64_t d = 0; d < op->shape().rank(); ++d) {
    if (wanted.counts[d] == 1) continue;
    std::optional<TileShift> shift = ShiftOf(*op, d);
    if (!shift.has_value()) {
      if (op->shape().dimensions(d) != op->operand(0)->shape().dimensions(d)) return false;
      continue;
    }
    for (const ShiftSource& source : shift->sources) {
      if (source.operand_size == 0 || source.operand_size % wanted.counts[d] != 0) return false;
    }
    rounds.push_back(PlanShift(*shift, wanted));
    if (rounds.back().size() > kMostShiftRounds) return false;
    const auto operand_tile = static_cast<double>(op->operand(0)->shape().dimensions(d) / wanted.counts[d]);
    cost += ReceivedElements(rounds.back(), partitions_) * bytes / operand_tile;
    bytes *= static_cast<double>(op->shape().dimensions(d) / wanted.counts[d]) / operand_tile;
    shifts.push_back(*std::move(shift));
  }
  if (shifts.empty() || cost >= limit) return false;
  std::vector<HloInstruction*> tiles;
  for (size_t i = 0; i < count; ++i) {
    HILO_ASSIGN_OR_RETURN(tiles.emplace_back(), Tile(op->operand(static_cast<int64_t>(i)), wanted));
  }
  HloInstruction* fill = computation_->AddConstant(LiteralUtil::Zero(op->shape().element_type()));
  if (op->opcode() == HloOpcode::kPad) {
    HILO_ASSIGN_OR_RETURN(fill, Whole(op->operand(1)));
  }
  for (size_t i = 0; i < shifts.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * shifted,
                          emitter_.Shift(tiles, fill, shifts[i], rounds[i], wanted.counts[shifts[i].dimension]));
    tiles = {shifted};
  }
  // What the op does along the other dimensions.
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(op->shape(), wanted));
  if (tiles[0]->shape().dimensions() != shape.dimensions() || op->opcode() == HloOpcode::kReverse) {
    std::vector<HloInstruction*> operands = tiles;
    if (op->opcode() == HloOpcode::kPad) operands.push_back(fill);
    HloInstruction* rest = computation_->AddInstruction(op->CloneWithNewOperands(shape, operands), op->name());
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const int64_t size = tiles[0]->shape().dimensions(d);
      if (wanted.counts[d] == 1) continue;
      if (op->opcode() == HloOpcode::kSlice) rest->mutable_attrs<SliceAttrs>().slice[d] = {0, size, 1};
      if (op->opcode() == HloOpcode::kPad) rest->mutable_attrs<PadAttrs>().padding.dimensions[d] = {};
      if (op->opcode() == HloOpcode::kReverse) std::erase(rest->mutable_attrs<ReverseAttrs>().dimensions, d);
    }
    tiles = {rest};
  }
  HILO_RETURN_IF_ERROR(SetDivided(op, tiles[0], {wanted}));
  return true;
}

// Indices outside of the tile have no effect, as those outside of the array.
absl::StatusOr<bool> TileWalk::VisitScatter(HloInstruction* scatter, const OpFactors& factors, double limit) {
  if (scatter->opcode() != HloOpcode::kScatter) return false;
  const TileAssignment wanted = Wanted(*scatter);
  const ScatterAttrs& attrs = scatter->attrs<ScatterAttrs>();
  const HloInstruction &operand = *scatter->operand(0), &indices = *scatter->operand(1),
                       &updates = *scatter->operand(2);
  const PrimitiveType type = indices.shape().element_type();
  if (wanted.IsWhole() || (type != S32 && type != S64)) return false;
  Cuts cuts(factors.count);
  bool any = false;
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    if (wanted.counts[d] == 1) continue;
    if (factors.operands[0][d] != OpFactors::kNone) {
      cuts[factors.operands[0][d]] = CutOfDimension(wanted, d);
    } else if (absl::c_linear_search(attrs.inserted_window_dims, d) &&
               absl::c_linear_search(attrs.scatter_dims_to_operand_dims, d)) {
      any = true;
    } else {
      return false;
    }
  }
  const TileAssignment of_indices = TilesOf(cuts, factors.operands[1]), of_updates = TilesOf(cuts, factors.operands[2]);
  const double cost = CostOf(operand, wanted) + CostOf(indices, of_indices) + CostOf(updates, of_updates);
  if (!any || cost >= limit) return false;
  std::vector<HloInstruction*> operands(3);
  HILO_ASSIGN_OR_RETURN(operands[0], Tile(&operand, wanted));
  HILO_ASSIGN_OR_RETURN(operands[1], Tile(&indices, of_indices));
  HILO_ASSIGN_OR_RETURN(operands[2], Tile(&updates, of_updates));
  HILO_ASSIGN_OR_RETURN(operands[1],
                        emitter_.IndicesWithin(operands[1], operand.shape(), wanted, attrs.index_vector_dim,
                                               attrs.scatter_dims_to_operand_dims));
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(scatter->shape(), wanted));
  HloInstruction* tile = computation_->AddInstruction(scatter->CloneWithNewOperands(shape, operands), scatter->name());
  HILO_RETURN_IF_ERROR(SetDivided(scatter, tile, {wanted}));
  return true;
}

}  // namespace hilo
