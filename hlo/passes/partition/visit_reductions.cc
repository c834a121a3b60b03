// Reductions of dimensions that are cut whose parts no single op of the result combines.
//
//   s, m = (f32[4], f32[4]) reduce(x, y, 0, -inf), to_apply=(add, maximum), x and y cut along the reduced dimension:
//   each partition reduces its tiles; f32[4] all-reduce with add, f32[4] all-reduce with maximum
//
//   r = f32[] reduce(x, 3), to_apply=add: each partition reduces its tile from 0; add(3, f32[] all-reduce)
//
// A computation that is no such op, as one that finds the position of an extreme, is associative and begins with its
// identity, as HLO asks of it: each partition reduces its tiles, and all of them reduce the gathered results, in the
// order of the tiles.
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
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
  const std::vector<HloOpcode> ops = OpsOfArrays(reduce);
  const auto count = static_cast<int64_t>(ops.size());
  std::vector<PartCombiner> combiners;
  for (int64_t i = 0; i < count; ++i) {
    const HloOpcode op = ops[i];
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

bool TileWalk::TakeReduced(const HloInstruction& reduce, OpFactors* factors, Cuts* cuts) const {
  const int64_t count = reduce.operand_count() / 2;
  const OpFactors kept = *factors;
  for (const int64_t d : reduce.attrs<ReduceAttrs>().dimensions) {
    for (int64_t i = 0; i < count; ++i) {
      TileCut cut = CutOfDimension(TilesNow(*reduce.operand(i)), d);
      if (cut.count == 1) continue;
      for (int64_t j = 0; j < count; ++j) factors->operands[j][d] = factors->count;
      factors->combined.push_back(factors->count++);
      cuts->push_back(std::move(cut));
      break;
    }
  }
  if (factors->combined.empty() || !AreIndependent(*cuts, partitions_)) return false;
  for (int64_t i = 0; i < count; ++i) TakeTiles(reduce, kept, i, cuts);
  return true;
}

absl::StatusOr<bool> TileWalk::VisitReduction(HloInstruction* reduce, const OpFactors& factors, double limit) {
  if (reduce->opcode() != HloOpcode::kReduce || !factors.combined.empty()) return false;
  const std::vector<PartCombiner> combiners = PartCombinersOf(*reduce);
  if (combiners.empty()) return false;
  const auto count = static_cast<int64_t>(combiners.size());
  OpFactors own = factors;
  Cuts cuts(own.count);
  if (!TakeReduced(*reduce, &own, &cuts) || CostOfPaddedCuts(*reduce, own, cuts) >= limit) return false;

  std::vector<HloInstruction*> operands, starts, part_starts;
  for (int64_t i = 0; i < count; ++i) {
    HILO_ASSIGN_OR_RETURN(starts.emplace_back(), Whole(reduce->operand(count + i)));
    const std::optional<Literal>& start = combiners[i].start;
    part_starts.push_back(start.has_value() ? computation_->AddConstant(start->Clone()) : starts.back());
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), FilledTile(*reduce, own, cuts, i, part_starts.back()));
  }
  absl::c_copy(part_starts, std::back_inserter(operands));
  const Shape shape = PaddedShape(*reduce, own, cuts);
  HloInstruction* const part =
      computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  const std::vector<std::vector<int64_t>> groups = GroupsToCombine(cuts, own);
  std::vector<HloInstruction*> results;
  for (int64_t i = 0; i < count; ++i) {
    HloInstruction*& result = results.emplace_back(part);
    if (shape.IsTuple()) {
      HILO_ASSIGN_OR_RETURN(result, MakeTupleElement(part, i));
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
  HILO_RETURN_IF_ERROR(SetPadded(reduce, value, TilesOfResults(cuts, own, reduce->shape())));
  return true;
}

absl::StatusOr<bool> TileWalk::VisitReductionInSteps(HloInstruction* reduce, const OpFactors& factors, double limit) {
  if (reduce->opcode() != HloOpcode::kReduce || !factors.combined.empty()) return false;
  const int64_t count = reduce->operand_count() / 2;
  OpFactors own = factors;
  Cuts cuts(own.count);
  if (!TakeReduced(*reduce, &own, &cuts)) return false;
  double parts = 1, cost = 0;
  for (const int factor : own.combined) parts *= static_cast<double>(cuts[factor].count);
  const TileAssignment tiles = TilesOf(cuts, own.result);
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(reduce->shape());
  for (int64_t i = 0; i < count; ++i) cost += CostOfPadded(*reduce->operand(i), TilesOf(cuts, own.operands[i]));
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& shape = *leaves[i].shape;
    cost += TileBytes(shape, tiles) * (parts - 1);
    if (TileShape(shape, tiles).ok()) cost += ReshardBytes(shape, tiles, Wanted(*reduce, i), partitions_);
  }
  if (cost >= limit) return false;
  // What an op begins with that is not its identity is combined once, in the second step.
  const std::vector<HloOpcode> ops = OpsOfArrays(*reduce);
  std::vector<std::optional<Literal>> first(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    const HloInstruction& start = *reduce->operand(count + static_cast<int64_t>(i));
    if (IsPartStart(ops[i], start)) continue;
    first[i] = IdentityOf(ops[i], start.shape().element_type());
    if (!first[i].has_value()) return false;
  }

  std::vector<HloInstruction*> operands, starts, part_starts;
  for (int64_t i = 0; i < count; ++i) {
    HILO_ASSIGN_OR_RETURN(starts.emplace_back(), Whole(reduce->operand(count + i)));
    const bool has_first = i < static_cast<int64_t>(first.size()) && first[i].has_value();
    part_starts.push_back(has_first ? computation_->AddConstant(*std::move(first[i])) : starts.back());
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), FilledTile(*reduce, own, cuts, i, part_starts.back()));
  }
  absl::c_copy(part_starts, std::back_inserter(operands));
  const Shape shape = PaddedShape(*reduce, own, cuts);
  HloInstruction* const part =
      computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  const std::vector<std::vector<int64_t>> groups = GroupsToCombine(cuts, own);
  for (int64_t i = 0; i < count; ++i) {
    HloInstruction* result = part;
    if (shape.IsTuple()) {
      HILO_ASSIGN_OR_RETURN(result, MakeTupleElement(part, i));
    }
    HILO_ASSIGN_OR_RETURN(operands[i], emitter_.Gather(result, groups));
    operands[count + i] = starts[i];
  }
  HloInstruction* const result =
      computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  result->mutable_attrs<ReduceAttrs>().dimensions = {0};
  HILO_RETURN_IF_ERROR(SetPadded(reduce, result, std::vector<TileAssignment>(count, tiles)));
  return true;
}

}  // namespace hilo
