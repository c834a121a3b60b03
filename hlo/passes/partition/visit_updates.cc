// Updates of slices, at positions that values tell, of dimensions that are cut: each partition updates what it has of
// the slice, and no data is exchanged but for the update.
//
//   x = f32[8] in 4 tiles, update = f32[3], start = 3:   0 1 | 2 U | U U | 6 7
//
// A window of the tile, as long as the update or as the tile, is at the start, or where the tile ends. What the update
// does not cover of it is written as it was.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// A cut dimension that the update covers a part of.
struct UpdatedDimension {
  int64_t dimension, size, tile_size, update_size, window_size;
  HloInstruction* shift = nullptr;  // of the window against the update
};

absl::StatusOr<HloInstruction*> ConvertToS64(HloInstruction* value) {
  if (value->shape().element_type() == S64) return value;
  const Shape shape = ShapeUtil::MakeShape(S64, value->shape().dimensions());
  return value->parent()->AddOp(HloOpcode::kConvert, {value}, nullptr, {}, &shape);
}

absl::StatusOr<HloInstruction*> Clamped(HloInstruction* value, int64_t last) {
  HloComputation* computation = value->parent();
  HloInstruction* const zero = computation->AddConstant(LiteralUtil::CreateR0<int64_t>(0));
  return computation->AddOp(HloOpcode::kClamp,
                            {zero, value, computation->AddConstant(LiteralUtil::CreateR0<int64_t>(last))});
}

absl::StatusOr<HloInstruction*> DynamicSlice(HloInstruction* value, const std::vector<HloInstruction*>& starts,
                                             const std::vector<int64_t>& sizes) {
  if (absl::c_equal(value->shape().dimensions(), sizes)) return value;
  std::vector<HloInstruction*> operands = {value};
  operands.insert(operands.end(), starts.begin(), starts.end());
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes = sizes;
  return value->parent()->AddOp(HloOpcode::kDynamicSlice, operands, std::move(attributes));
}

// Whether the elements of the window are those of the update, for all dimensions.
absl::StatusOr<HloInstruction*> IsUpdated(const std::vector<UpdatedDimension>& updated,
                                          const std::vector<int64_t>& window) {
  HloComputation* computation = updated[0].shift->parent();
  const Shape indices = ShapeUtil::MakeShape(S64, window), mask = ShapeUtil::MakeShape(PRED, window);
  HloInstruction* all = nullptr;
  for (const UpdatedDimension& one : updated) {
    auto iota = std::make_unique<IotaAttrs>();
    iota->iota_dimension = one.dimension;
    HILO_ASSIGN_OR_RETURN(HloInstruction * index,
                          computation->AddOp(HloOpcode::kIota, {}, std::move(iota), {}, &indices));
    HILO_ASSIGN_OR_RETURN(HloInstruction * shift, MakeBroadcast(one.shift, indices, {}));
    HILO_ASSIGN_OR_RETURN(index, MakeBinary(HloOpcode::kAdd, index, shift));
    for (const auto& [bound, direction] :
         {std::pair(int64_t{0}, ComparisonDirection::kGe), std::pair(one.update_size, ComparisonDirection::kLt)}) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * limit, MakeUniform(index, static_cast<double>(bound)));
      auto compare = std::make_unique<CompareAttrs>();
      compare->direction = direction;
      HILO_ASSIGN_OR_RETURN(HloInstruction * within,
                            computation->AddOp(HloOpcode::kCompare, {index, limit}, std::move(compare), {}, &mask));
      if (all == nullptr) {
        all = within;
      } else {
        HILO_ASSIGN_OR_RETURN(all, MakeBinary(HloOpcode::kAnd, all, within));
      }
    }
  }
  return all;
}

// The update as the window has it: moved by the shifts; what lies beyond it does not matter.
absl::StatusOr<HloInstruction*> Shifted(HloInstruction* update, const std::vector<UpdatedDimension>& updated,
                                        const std::vector<int64_t>& window) {
  HloComputation* computation = update->parent();
  HloInstruction* const zero = computation->AddConstant(LiteralUtil::CreateR0<int64_t>(0));
  std::vector<HloInstruction*> starts(window.size(), zero);
  auto pad = std::make_unique<PadAttrs>();
  pad->padding.dimensions.resize(window.size());
  bool moves = false;
  for (const UpdatedDimension& one : updated) {
    if (one.update_size == 1) continue;  // it is all of the window, or nothing
    moves = true;
    PaddingConfig::Dimension& padding = pad->padding.dimensions[one.dimension];
    padding.edge_padding_low = padding.edge_padding_high = one.window_size;
    HloInstruction* const before = computation->AddConstant(LiteralUtil::CreateR0<int64_t>(one.window_size));
    HILO_ASSIGN_OR_RETURN(starts[one.dimension], MakeBinary(HloOpcode::kAdd, one.shift, before));
  }
  if (!moves) return update;
  HloInstruction* const fill = computation->AddConstant(LiteralUtil::Zero(update->shape().element_type()));
  HILO_ASSIGN_OR_RETURN(update, computation->AddOp(HloOpcode::kPad, {update, fill}, std::move(pad)));
  return DynamicSlice(update, starts, window);
}

}  // namespace

absl::StatusOr<bool> TileWalk::VisitUpdate(HloInstruction* op, const OpFactors& factors, double limit) {
  if (op->opcode() != HloOpcode::kDynamicUpdateSlice) return false;
  for (int64_t i = 2; i < op->operand_count(); ++i) {
    const Shape& start = op->operand(i)->shape();
    if (!start.IsScalar() || (start.element_type() != S32 && start.element_type() != S64)) return false;
  }
  const Shape &whole = op->shape(), &part = op->operand(1)->shape();
  const TileAssignment wanted = Wanted(*op);
  OpFactors own = factors;
  Cuts cuts(own.count);
  std::vector<UpdatedDimension> updated;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    TileCut cut = CutOfDimension(wanted, d);
    if (cut.count == 1 || factors.operands[0][d] != OpFactors::kNone || part.dimensions(d) == 0) continue;
    const int64_t tile_size = whole.dimensions(d) / cut.count;
    updated.push_back({d, whole.dimensions(d), tile_size, part.dimensions(d), std::min(tile_size, part.dimensions(d))});
    own.operands[0][d] = own.result[d] = own.count++;
    cuts.push_back(std::move(cut));
  }
  if (updated.empty() || !AreIndependent(cuts, partitions_)) return false;
  Take(*op, factors, factors.result, wanted, &cuts);
  if (CostOfOperands(*op, own, cuts) + CostOfResults(*op, own, cuts) >= limit) return false;

  const TileAssignment tiles = TilesOf(cuts, own.result);
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, Tile(op->operand(0), tiles));
  HILO_ASSIGN_OR_RETURN(HloInstruction * update, Tile(op->operand(1), TilesOf(cuts, own.operands[1])));
  std::vector<HloInstruction*> starts;
  for (int64_t i = 2; i < op->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * start, Whole(op->operand(i)));
    HILO_ASSIGN_OR_RETURN(starts.emplace_back(), ConvertToS64(start));
  }
  std::vector<int64_t> window(update->shape().dimensions().begin(), update->shape().dimensions().end());
  for (UpdatedDimension& one : updated) {
    const int64_t d = one.dimension;
    window[d] = one.window_size;
    std::vector<int64_t> firsts;
    for (const std::vector<int64_t>& of_partition : tiles.tile_of) firsts.push_back(of_partition[d] * one.tile_size);
    HILO_ASSIGN_OR_RETURN(HloInstruction * first, emitter_.ElementOfPartition(LiteralUtil::CreateR1<int64_t>(firsts)));
    HILO_ASSIGN_OR_RETURN(HloInstruction * start, Clamped(starts[d], one.size - one.update_size));
    HILO_ASSIGN_OR_RETURN(start, MakeBinary(HloOpcode::kSubtract, start, first));
    HILO_ASSIGN_OR_RETURN(starts[d], Clamped(start, one.tile_size - one.window_size));
    HILO_ASSIGN_OR_RETURN(one.shift, MakeBinary(HloOpcode::kSubtract, starts[d], start));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * before, DynamicSlice(tile, starts, window));
  HILO_ASSIGN_OR_RETURN(HloInstruction * is_updated, IsUpdated(updated, window));
  HILO_ASSIGN_OR_RETURN(update, Shifted(update, updated, window));
  HILO_ASSIGN_OR_RETURN(update, computation_->AddOp(HloOpcode::kSelect, {is_updated, update, before}));
  std::vector<HloInstruction*> operands = {tile, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  HILO_ASSIGN_OR_RETURN(tile, computation_->AddOp(HloOpcode::kDynamicUpdateSlice, operands));
  HILO_RETURN_IF_ERROR(SetDivided(op, tile, {tiles}));
  return true;
}

}  // namespace hilo
