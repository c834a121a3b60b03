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

void TileWalk::TakeReduced(const HloInstruction& reduce, OpFactors* factors, Cuts* cuts) const {
  const int64_t count = reduce.operand_count() / 2;
  for (const int64_t d : reduce.attrs<ReduceAttrs>().dimensions) {
    for (int64_t i = 0; i < count; ++i) {
      TileCut cut = CutOfDimension(values_.at(reduce.operand(i))->tiles, d);
      if (cut.count == 1) continue;
      for (int64_t j = 0; j < count; ++j) factors->operands[j][d] = factors->count;
      factors->combined.push_back(factors->count++);
      cuts->push_back(std::move(cut));
      break;
    }
  }
}

absl::StatusOr<bool> TileWalk::VisitReduction(HloInstruction* reduce, const OpFactors& factors, double limit) {
  if (reduce->opcode() != HloOpcode::kReduce || !factors.combined.empty()) return false;
  const std::vector<PartCombiner> combiners = PartCombinersOf(*reduce);
  if (combiners.empty()) return false;
  const auto count = static_cast<int64_t>(combiners.size());
  OpFactors own = factors;
  Cuts cuts(own.count);
  TakeReduced(*reduce, &own, &cuts);
  if (own.combined.empty() || !AreIndependent(cuts, partitions_)) return false;
  for (int64_t i = 0; i < count; ++i)
    Take(*reduce, factors, factors.operands[i], values_.at(reduce->operand(i))->tiles, &cuts);
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

absl::StatusOr<bool> TileWalk::VisitReductionInSteps(HloInstruction* reduce, const OpFactors& factors, double limit) {
  if (reduce->opcode() != HloOpcode::kReduce || !factors.combined.empty()) return false;
  const int64_t count = reduce->operand_count() / 2;
  OpFactors own = factors;
  Cuts cuts(own.count);
  TakeReduced(*reduce, &own, &cuts);
  if (own.combined.empty() || !AreIndependent(cuts, partitions_)) return false;
  for (int64_t i = 0; i < count; ++i)
    Take(*reduce, factors, factors.operands[i], values_.at(reduce->operand(i))->tiles, &cuts);
  double parts = 1;
  for (const int factor : own.combined) parts *= static_cast<double>(cuts[factor].count);
  const TileAssignment tiles = TilesOf(cuts, own.result);
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(reduce->shape());
  double cost = CostOfOperands(*reduce, own, cuts);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& shape = *leaves[i].shape;
    cost += TileBytes(shape, tiles) * (parts - 1) + ReshardBytes(shape, tiles, Wanted(*reduce, i), partitions_);
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

  std::vector<HloInstruction*> operands, starts;
  for (int64_t i = 0; i < reduce->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Tile(reduce->operand(i), TilesOf(cuts, own.operands[i])));
  }
  starts.assign(operands.begin() + count, operands.end());
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].has_value()) operands[count + i] = computation_->AddConstant(*std::move(first[i]));
  }
  Shape shape = reduce->shape();
  for (int64_t i = 0; i < count; ++i) {
    Shape& one = shape.IsTuple() ? *shape.mutable_tuple_shapes(i) : shape;
    HILO_ASSIGN_OR_RETURN(one, TileShape(one, tiles));
  }
  HloInstruction* const part =
      computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  const std::vector<std::vector<int64_t>> groups = GroupsToCombine(cuts, own);
  for (int64_t i = 0; i < count; ++i) {
    HloInstruction* result = part;
    if (shape.IsTuple()) {
      HILO_ASSIGN_OR_RETURN(result, ElementOf(part, i));
    }
    HILO_ASSIGN_OR_RETURN(operands[i], emitter_.Gather(result, groups));
    operands[count + i] = starts[i];
  }
  HloInstruction* const result =
      computation_->AddInstruction(reduce->CloneWithNewOperands(shape, operands), reduce->name());
  result->mutable_attrs<ReduceAttrs>().dimensions = {0};
  HILO_RETURN_IF_ERROR(SetDivided(reduce, result, std::vector<TileAssignment>(count, tiles)));
  return true;
}

}  // namespace hilo
