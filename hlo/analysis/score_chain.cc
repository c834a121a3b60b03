#include "hlo/analysis/score_chain.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ir/post_order.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

constexpr size_t kMaxMembers = 128;
// Instructions that are searched for first dots.
constexpr size_t kMaxSources = 128;

// Dots' result dimensions are those of the batch, then the free ones of both sides.
ScoreAxes DotOperandAxes(const HloInstruction& dot, const ScoreAxes& result, int64_t operand) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  const DotSide& side = operand == 0 ? lhs : rhs;
  ScoreAxes axes(side.operand->shape().rank(), -1);
  for (size_t i = 0; i < side.batch.size(); ++i) axes[side.batch[i]] = result[i];
  const size_t first = side.batch.size() + (operand == 0 ? 0 : lhs.free.size());
  for (size_t i = 0; i < side.free.size(); ++i) axes[side.free[i]] = result[first + i];
  return axes;
}

ScoreAxes ReshapeOperandAxes(const HloInstruction& reshape, const ScoreAxes& result, int64_t) {
  const Shape &from = reshape.operand(0)->shape(), &to = reshape.shape();
  ScoreAxes axes(from.rank(), -1);
  int64_t next = 0;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dimensions(d) == 1) continue;
    while (to.dimensions(next) == 1) ++next;
    axes[d] = result[next++];
  }
  return axes;
}

ScoreAxes BroadcastOperandAxes(const HloInstruction& broadcast, const ScoreAxes& result, int64_t) {
  ScoreAxes axes;
  for (int64_t d : broadcast.attrs<BroadcastAttrs>().dimensions) axes.push_back(result[d]);
  return axes;
}

ScoreAxes ReduceOperandAxes(const HloInstruction& reduce, const ScoreAxes& result, int64_t operand) {
  ScoreAxes axes(reduce.operand(operand)->shape().rank(), -1);
  size_t next = 0;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (!absl::c_linear_search(reduce.attrs<ReduceAttrs>().dimensions, static_cast<int64_t>(d)))
      axes[d] = result[next++];
  }
  return axes;
}

ScoreAxes TransposeOperandAxes(const HloInstruction& transpose, const ScoreAxes& result, int64_t) {
  const std::vector<int64_t>& dimensions = transpose.attrs<TransposeAttrs>().dimensions;
  ScoreAxes axes(result.size());
  for (size_t d = 0; d < result.size(); ++d) axes[dimensions[d]] = result[d];
  return axes;
}

using AxesOfOperand = ScoreAxes (*)(const HloInstruction& instruction, const ScoreAxes& result, int64_t operand);
// Null: those of the result, or none if the operand is a scalar.
constexpr OpcodeMap<AxesOfOperand> kOperandAxes = {
    {HloOpcode::kBroadcast, BroadcastOperandAxes}, {HloOpcode::kDot, DotOperandAxes},
    {HloOpcode::kReduce, ReduceOperandAxes},       {HloOpcode::kReshape, ReshapeOperandAxes},
    {HloOpcode::kTranspose, TransposeOperandAxes},
};

using MemberSet = absl::flat_hash_set<const HloInstruction*>;

std::vector<int64_t> SizesBesidesOne(const Shape& shape) {
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  std::erase(sizes, 1);
  return sizes;
}

// Returns the dots with as many elements as the scores that the scores may be computed from.
std::vector<const HloInstruction*> FirstDots(const HloInstruction& scores) {
  std::vector<const HloInstruction*> dots, work = {&scores};
  absl::flat_hash_set<const HloInstruction*> seen = {&scores};
  while (!work.empty()) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    if (instruction->opcode() == HloOpcode::kDot && !instruction->HasControlDependencies() &&
        ShapeUtil::ElementsIn(instruction->shape()) == ShapeUtil::ElementsIn(scores.shape()))
      dots.push_back(instruction);
    if (!MayBeInScoreChain(*instruction)) continue;
    for (const HloInstruction* operand : instruction->operands()) {
      if (seen.size() < kMaxSources && seen.insert(operand).second) work.push_back(operand);
    }
  }
  return dots;
}

// Returns what depends on the first dot, up to the second; nullopt if that may not be in a chain or is read elsewhere.
std::optional<MemberSet> DependentsOfFirst(const ScoreChain& chain) {
  MemberSet inside = {chain.first};
  std::vector<const HloInstruction*> work = {chain.first};
  while (!work.empty()) {
    const HloInstruction* member = work.back();
    work.pop_back();
    if (member->IsRoot() || inside.size() > kMaxMembers) return std::nullopt;
    for (const HloInstruction* user : member->users()) {
      if (user == chain.second || inside.contains(user)) continue;
      if (!MayBeInScoreChain(*user)) return std::nullopt;
      inside.insert(user);
      work.push_back(user);
    }
  }
  if (!inside.contains(chain.scores()) || inside.contains(chain.second->operand(1 - chain.scores_operand)))
    return std::nullopt;
  return inside;
}

// Sets the axes of the members, from the second dot backward. Returns false if one is needed with different axes.
bool ComputeAxes(ScoreChain* chain, const MemberSet& inside) {
  const HloInstruction& second = *chain->second;
  const DotSide scores = chain->scores_operand == 0 ? LhsOf(second) : RhsOf(second);
  ScoreAxes result(second.shape().rank(), -1);
  const auto run_along = [&](size_t d, int64_t axis) {
    if (scores.operand->shape().dimensions(axis) > 1) result[d] = axis;
  };
  for (size_t i = 0; i < scores.batch.size(); ++i) run_along(i, scores.batch[i]);
  const size_t skipped = chain->scores_operand == 0 ? 0 : LhsOf(second).free.size();
  for (size_t i = 0; i < scores.free.size(); ++i) run_along(scores.batch.size() + skipped + i, scores.free[i]);
  chain->axes = {{&second, std::move(result)}};
  chain->axes.emplace(chain->scores(), chain->OperandAxes(second, chain->scores_operand));
  for (auto it = chain->members.rbegin(); *it != chain->first; ++it) {
    const HloInstruction& user = **it;
    for (int64_t i = 0; i < user.operand_count(); ++i) {
      const HloInstruction* x = user.operand(i);
      if (!inside.contains(x)) continue;
      const ScoreAxes axes = chain->OperandAxes(user, i);
      const auto [known, is_new] = chain->axes.try_emplace(x, axes);
      if (!is_new && known->second != axes) return false;
    }
  }
  return true;
}

}  // namespace

ScoreAxes ScoreChain::OperandAxes(const HloInstruction& instruction, int64_t i) const {
  const ScoreAxes& result = axes.at(&instruction);
  if (const AxesOfOperand function = kOperandAxes[instruction.opcode()]) return function(instruction, result, i);
  const int64_t rank = instruction.operand(i)->shape().rank();
  return rank == static_cast<int64_t>(result.size()) ? result : ScoreAxes(rank, -1);
}

std::vector<ScoreChain> ScoreChainsOf(const HloInstruction& second, int64_t scores_operand) {
  std::vector<ScoreChain> chains;
  for (const HloInstruction* first : FirstDots(*second.operand(scores_operand))) {
    ScoreChain chain{.first = first, .second = &second, .scores_operand = scores_operand};
    const std::optional<MemberSet> inside = DependentsOfFirst(chain);
    if (!inside.has_value()) continue;
    chain.members = PostOrderWithin(chain.scores(), [&](const HloInstruction& x) { return inside->contains(&x); });
    // What nothing reads is not among the members.
    if (chain.members.size() == inside->size() && ComputeAxes(&chain, *inside)) chains.push_back(std::move(chain));
  }
  return chains;
}

bool MayBeInScoreChain(const HloInstruction& instruction) {
  if (!instruction.shape().IsArray() || instruction.HasControlDependencies() || instruction.HasSideEffect())
    return false;
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kReduce) return instruction.operand_count() == 2;
  return opcode == HloOpcode::kBroadcast || opcode == HloOpcode::kTranspose || IsElementwise(opcode) ||
         IsReshapeOfUnits(instruction);
}

bool IsReshapeOfUnits(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kReshape &&
         SizesBesidesOne(instruction.shape()) == SizesBesidesOne(instruction.operand(0)->shape());
}

}  // namespace hilo
