// Prefix scans along a dimension that is cut: cumulative sums, products, maxima.
//
//   x = f32[32] in 4 tiles: each partition scans its 8 elements, gets the last result of each of the others, f32[4],
//   and combines those of the tiles before its own with its results.
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {

absl::StatusOr<bool> TileWalk::VisitScan(HloInstruction* op, const OpFactors& factors, double limit) {
  if (op->opcode() != HloOpcode::kReduceWindow || op->operand_count() != 2) return false;
  const std::optional<ScanWindow> scan = ScanWindowOf(*op);
  const std::optional<HloOpcode> combiner = CombinerOf(*op->called_computation(), *op->operand(1));
  if (!scan.has_value() || !combiner.has_value()) return false;
  const int64_t d = scan->dimension, size = op->shape().dimensions(d);
  const TileAssignment wanted = Wanted(*op);
  const bool is_padded = IsPadded(*op->operand(0));
  TileCut cut = is_padded ? TileCut() : CutOfDimension(wanted, d);
  if (cut.count == 1) cut = CutOfDimension(TilesNow(*op->operand(0)), d);
  const int64_t count = cut.count, tile_size = CeilDiv(size, count);
  if (count == 1) return false;
  const std::vector<int64_t> tile_of = cut.tile_of;
  OpFactors own = factors;
  Cuts cuts(own.count);
  own.operands[0][d] = own.result[d] = own.count++;
  cuts.push_back(std::move(cut));
  if (is_padded) TakeTiles(*op, factors, 0, &cuts);
  Take(*op, factors, factors.result, wanted, &cuts);
  if (!AreIndependent(cuts, partitions_)) return false;
  const TileAssignment tiles = TilesOf(cuts, own.result);
  const double last_bytes = TileBytes(op->shape(), tiles) / static_cast<double>(tile_size);
  if (CostOfPaddedCuts(*op, own, cuts) + last_bytes * static_cast<double>(count - 1) >= limit) return false;

  // What the last tiles have beyond the array comes after all results, but in a scan from the back.
  HILO_ASSIGN_OR_RETURN(HloInstruction * init, Whole(op->operand(1)));
  OpFactors filled = own;
  if (scan->from_back) filled.combined = {own.count - 1};
  HILO_ASSIGN_OR_RETURN(HloInstruction * operand, FilledTile(*op, filled, cuts, 0, init));
  const Shape shape = PaddedTileShape(op->shape(), tiles);
  HloInstruction* part = computation_->AddInstruction(op->CloneWithNewOperands(shape, {operand, init}), op->name());
  Window::Dimension& along = part->mutable_attrs<ReduceWindowAttrs>().window.dimensions[d];
  along.size = tile_size;
  (scan->from_back ? along.padding_high : along.padding_low) = along.size - 1;

  // The last results of all tiles, in their order.
  std::vector<SliceRange> last;
  std::vector<int64_t> others, other_sizes;  // dimensions
  for (int64_t i = 0; i < shape.rank(); ++i) {
    last.push_back({0, shape.dimensions(i), 1});
    if (i == d) continue;
    others.push_back(i);
    other_sizes.push_back(shape.dimensions(i));
  }
  const int64_t end = scan->from_back ? 0 : along.size - 1;
  last[d] = {end, end + 1, 1};
  HILO_ASSIGN_OR_RETURN(HloInstruction * results, MakeSlice(part, std::move(last)));
  HILO_ASSIGN_OR_RETURN(results, MakeReshape(results, ShapeUtil::MakeShape(shape.element_type(), other_sizes)));
  own.combined = {own.count - 1};
  HILO_ASSIGN_OR_RETURN(results, emitter_.Gather(results, GroupsToCombine(cuts, own)));

  // Those of the tiles before this partition's.
  const Shape numbers = ShapeUtil::MakeShape(S64, results->shape().dimensions()),
              mask = ShapeUtil::MakeShape(PRED, results->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(HloInstruction * number,
                        computation_->AddOp(HloOpcode::kIota, {}, std::make_unique<IotaAttrs>(), {}, &numbers));
  HILO_ASSIGN_OR_RETURN(HloInstruction * mine, emitter_.ElementOfPartition(LiteralUtil::CreateR1<int64_t>(tile_of)));
  HILO_ASSIGN_OR_RETURN(mine, MakeBroadcast(mine, numbers, {}));
  auto compare = std::make_unique<CompareAttrs>();
  compare->direction = scan->from_back ? ComparisonDirection::kGt : ComparisonDirection::kLt;
  HILO_ASSIGN_OR_RETURN(HloInstruction * is_before,
                        computation_->AddOp(HloOpcode::kCompare, {number, mine}, std::move(compare), {}, &mask));
  HILO_ASSIGN_OR_RETURN(HloInstruction * nothing, MakeBroadcast(init, results->shape(), {}));
  HILO_ASSIGN_OR_RETURN(results, computation_->AddOp(HloOpcode::kSelect, {is_before, results, nothing}));
  HILO_ASSIGN_OR_RETURN(HloInstruction * before, MakeReduce(results, init, {0}, op->called_computation()));
  HILO_ASSIGN_OR_RETURN(before, MakeBroadcast(before, shape, others));
  HILO_ASSIGN_OR_RETURN(part, MakeBinary(*combiner, before, part));
  HILO_RETURN_IF_ERROR(SetPadded(op, part, {tiles}));
  return true;
}

}  // namespace hilo
