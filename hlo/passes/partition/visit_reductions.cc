// Reductions of dimensions that are cut whose parts no single op of the result combines.
//
//   s, m = (f32[4], f32[4]) reduce(x, y, 0, -inf), to_apply=(add, maximum), x and y cut along the reduced dimension:
//   each partition reduces its tiles; f32[4] all-reduce with add, f32[4] all-reduce with maximum
//
//   r = f32[] reduce(x, 3), to_apply=add: each partition reduces its tile from 0; add(3, f32[] all-reduce)
//
// The position of an extreme is chosen among those that the partitions find.
#include <utility>

#include "absl/algorithm/container.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/arg_reduction.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// How the partitions combine the parts of one array of a reduction.
struct PartCombiner {
  HloOpcode op;
  std::optional<Literal> start;  // of each part, if it is not the reduction's: that is combined with the result
};

// By array. Empty if the arrays are not combined each by an op of its own.
std::vector<PartCombiner> PartCombinersOf(const HloInstruction& reduce) {
  const HloComputation& computation = *reduce.called_computation();
  const int64_t count = reduce.operand_count() / 2;
  if (count == 1 ? !MayReorder(reduce, /*strict=*/false) : !MayReorderEach(reduce, /*strict=*/false)) return {};
  std::vector<PartCombiner> combiners;
  for (int64_t i = 0; i < count; ++i) {
    const HloInstruction& root = *computation.root_instruction();
    const HloOpcode op = count == 1 ? root.opcode() : root.operand(i)->opcode();
    const HloInstruction& start = *reduce.operand(count + i);
    const PrimitiveType type = start.shape().element_type();
    if (!MayCombineParts(op, type) || reduce.operand(i)->shape().element_type() != type) return {};
    PartCombiner& combiner = combiners.emplace_back(PartCombiner{op});
    if (!IsPartStart(op, start)) combiner.start = IdentityOf(op, type);
    if (!IsPartStart(op, start) && !combiner.start.has_value()) return {};
  }
  return combiners;
}

}  // namespace

absl::StatusOr<bool> TileWalk::VisitReduction(HloInstruction* reduce, const OpFactors& factors, double limit) {
  if (reduce->opcode() != HloOpcode::kReduce || !factors.combined.empty()) return false;
  const std::vector<PartCombiner> combiners = PartCombinersOf(*reduce);
  if (combiners.empty()) return false;
  const auto count = static_cast<int64_t>(combiners.size());
  OpFactors own = factors;
  Cuts cuts(own.count);
  const auto tiles_of = [&](int64_t i) { return values_.at(reduce->operand(i))->tiles; };
  for (const int64_t d : reduce->attrs<ReduceAttrs>().dimensions) {
    for (int64_t i = 0; i < count; ++i) {
      TileCut cut = CutOfDimension(tiles_of(i), d);
      if (cut.count == 1) continue;
      for (int64_t j = 0; j < count; ++j) own.operands[j][d] = own.count;
      own.combined.push_back(own.count++);
      cuts.push_back(std::move(cut));
      break;
    }
  }
  if (own.combined.empty() || !AreIndependent(cuts, partitions_)) return false;
  for (int64_t i = 0; i < count; ++i) Take(*reduce, factors, factors.operands[i], tiles_of(i), &cuts);
  if (CostOfOperands(*reduce, own, cuts) + CostOfResults(*reduce, own, cuts) >= limit) return false;

  std::vector<HloInstruction*> operands, starts;
  for (int64_t i = 0; i < reduce->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Tile(reduce->operand(i), TilesOf(cuts, own.operands[i])));
  }
  for (int64_t i = 0; i < count; ++i) {
    HloInstruction*& start = operands[count + i];
    starts.push_back(start);
    if (combiners[i].start.has_value()) start = computation_->AddConstant(combiners[i].start->Clone());
  }
  Shape shape = reduce->shape();
  std::vector<TileAssignment> tiles;
  for (int64_t i = 0; i < count; ++i) {
    Shape& one = shape.IsTuple() ? *shape.mutable_tuple_shapes(i) : shape;
    tiles.push_back(TilesOfResult(cuts, own, one));
    HILO_ASSIGN_OR_RETURN(one, TileShape(one, tiles.back()));
  }
  HloInstruction* const part =
      computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  const std::vector<std::vector<int64_t>> groups = GroupsToCombine(cuts, own);
  std::vector<HloInstruction*> results;
  for (int64_t i = 0; i < count; ++i) {
    HloInstruction*& result = results.emplace_back(part);
    if (shape.IsTuple()) {
      HILO_ASSIGN_OR_RETURN(result, ElementOf(part, i));
    }
    HILO_ASSIGN_OR_RETURN(result, emitter_.Combine(result, combiners[i].op, groups));
    if (!combiners[i].start.has_value()) continue;
    HILO_ASSIGN_OR_RETURN(HloInstruction * start, MakeBroadcast(starts[i], result->shape(), {}));
    HILO_ASSIGN_OR_RETURN(result, MakeBinary(combiners[i].op, start, result));
  }
  HloInstruction* value = results[0];
  if (shape.IsTuple()) {
    HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kTuple, results));
  }
  HILO_RETURN_IF_ERROR(SetDivided(reduce, value, tiles));
  return true;
}

absl::StatusOr<bool> TileWalk::VisitArgReduction(HloInstruction* reduce, const OpFactors& factors, double limit) {
  if (reduce->opcode() != HloOpcode::kReduce || reduce->operand_count() != 4 || !IsArgReductionInParts(*reduce))
    return false;
  const int64_t d = reduce->attrs<ReduceAttrs>().dimensions[0];
  const TileAssignment now = values_.at(reduce->operand(0))->tiles;
  TileCut cut = CutOfDimension(now, d);
  if (cut.count == 1) return false;
  OpFactors own = factors;
  Cuts cuts(own.count);
  const auto parts = static_cast<double>(cut.count);
  own.operands[0][d] = own.operands[1][d] = own.count;
  own.combined.push_back(own.count++);
  cuts.push_back(std::move(cut));
  Take(*reduce, factors, factors.operands[0], now, &cuts);
  const TileAssignment tiles = TilesOf(cuts, own.result);
  double cost = CostOfOperands(*reduce, own, cuts);
  for (int64_t i = 0; i < 2; ++i) {
    const Shape& shape = reduce->shape().tuple_shapes(i);
    cost += TileBytes(shape, tiles) * (parts - 1) + ReshardBytes(shape, tiles, Wanted(*reduce, i), partitions_);
  }
  if (cost >= limit) return false;

  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < 4; ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Tile(reduce->operand(i), TilesOf(cuts, own.operands[i])));
  }
  Shape shape = reduce->shape();
  for (int64_t i = 0; i < 2; ++i) {
    HILO_ASSIGN_OR_RETURN(*shape.mutable_tuple_shapes(i), TileShape(shape.tuple_shapes(i), tiles));
  }
  HloInstruction* part = computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  const std::vector<std::vector<int64_t>> groups = GroupsToCombine(cuts, own);
  for (int64_t i = 0; i < 2; ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, ElementOf(part, i));
    HILO_ASSIGN_OR_RETURN(operands[i], emitter_.Gather(element, groups));
  }
  HloInstruction* chosen = computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  chosen->mutable_attrs<ReduceAttrs>().dimensions = {0};
  HILO_RETURN_IF_ERROR(SetDivided(reduce, chosen, {tiles, tiles}));
  return true;
}

}  // namespace hilo
