#include "hlo/passes/score_chain.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

constexpr size_t kMostMembers = 128;

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

// Axes of the operand of a reshape that adds and removes dimensions of size 1; nullopt for other reshapes.
std::optional<ScoreAxes> ReshapeOperandAxes(const HloInstruction& reshape, const ScoreAxes& result) {
  const Shape &from = reshape.operand(0)->shape(), &to = reshape.shape();
  ScoreAxes axes(from.rank(), -1);
  int64_t next = 0;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dimensions(d) == 1) continue;
    while (next < to.rank() && to.dimensions(next) == 1) ++next;
    if (next == to.rank() || to.dimensions(next) != from.dimensions(d)) return std::nullopt;
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
    {HloOpcode::kBroadcast, BroadcastOperandAxes},
    {HloOpcode::kDot, DotOperandAxes},
    {HloOpcode::kReduce, ReduceOperandAxes},
    {HloOpcode::kReshape, [](const HloInstruction& reshape, const ScoreAxes& result,
                             int64_t) { return *ReshapeOperandAxes(reshape, result); }},
    {HloOpcode::kTranspose, TransposeOperandAxes},
};

bool IsIndivisible(const ScoreAxes& axes) {
  return absl::c_all_of(axes, [](int64_t axis) { return axis < 0; });
}

bool HasControl(const HloInstruction& instruction) {
  return !instruction.control_predecessors().empty() || !instruction.control_successors().empty();
}

// Returns true for instructions whose elements can be computed in blocks.
bool IsDivisible(const HloInstruction& instruction, const ScoreAxes& axes) {
  if (!instruction.shape().IsArray() || HasControl(instruction) || instruction.HasSideEffect()) return false;
  const HloOpcode opcode = instruction.opcode();
  const PrimitiveType type = instruction.shape().element_type();
  if (opcode == HloOpcode::kIota) return IsIntegralType(type) && PrimitiveTypeBitWidth(type) >= 32;
  if (opcode == HloOpcode::kReduce) return instruction.operand_count() == 2;
  if (opcode == HloOpcode::kReshape) return ReshapeOperandAxes(instruction, axes).has_value();
  return opcode == HloOpcode::kBroadcast || opcode == HloOpcode::kTranspose || IsElementwise(opcode);
}

// Returns true for what blocks compute again rather than read from an array.
bool IsCheap(const HloInstruction& instruction) {
  return instruction.opcode() != HloOpcode::kReduce && instruction.opcode() != HloOpcode::kTranspose &&
         !IsExpensiveToRepeat(instruction);
}

class ChainSearch {
 public:
  ChainSearch(HloInstruction* second, int64_t scores_operand,
              const absl::flat_hash_map<const HloInstruction*, int64_t>& index)
      : index_(index) {
    chain_.second = second;
    chain_.scores_operand = scores_operand;
  }

  std::optional<ScoreChain> Find() {
    if (!Collect()) return std::nullopt;
    // What depends on the first dot joins in any case, other members only if they are cheap: collect again.
    for (const HloInstruction* member : chain_.members) {
      const auto operands = member->operands();
      if (member == chain_.first ||
          absl::c_any_of(operands, [&](const HloInstruction* x) { return dependent_.contains(x); }))
        dependent_.insert(member);
    }
    if (!dependent_.contains(chain_.scores()) ||
        dependent_.contains(chain_.second->operand(1 - chain_.scores_operand)) || !Collect())
      return std::nullopt;
    for (const HloInstruction* member : chain_.members) {
      const auto users = member->users();
      const auto is_inside = [&](const HloInstruction* user) { return chain_.Has(user); };
      if (dependent_.contains(member) && (member->IsRoot() || !absl::c_all_of(users, is_inside))) return std::nullopt;
    }
    return std::move(chain_);
  }

 private:
  bool IsMember(HloInstruction* x, const ScoreAxes& axes) const {
    if (x == chain_.first) return true;
    if (!index_.contains(x) || !IsDivisible(*x, axes)) return false;
    return dependent_.contains(x) || (!IsIndivisible(axes) && (dependent_.empty() || IsCheap(*x)));
  }

  // Fills members and axes, from the scores backward. Returns false if one instruction is needed with different axes.
  bool Collect() {
    chain_.members.clear();
    chain_.axes.clear();
    // The dimensions of the scores that the second dot does not contract.
    const DotSide scores = chain_.scores_operand == 0 ? LhsOf(*chain_.second) : RhsOf(*chain_.second);
    ScoreAxes& result = chain_.axes[chain_.second];
    result.assign(chain_.second->shape().rank(), -1);
    const auto run_along = [&](size_t d, int64_t axis) {
      if (scores.operand->shape().dimensions(axis) > 1) result[d] = axis;
    };
    for (size_t i = 0; i < scores.batch.size(); ++i) run_along(i, scores.batch[i]);
    const size_t skipped = chain_.scores_operand == 0 ? 0 : LhsOf(*chain_.second).free.size();
    for (size_t i = 0; i < scores.free.size(); ++i) run_along(scores.batch.size() + skipped + i, scores.free[i]);

    std::vector<const HloInstruction*> work = {chain_.second};
    while (!work.empty()) {
      const HloInstruction* user = work.back();
      work.pop_back();
      if (user == chain_.first) continue;
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        HloInstruction* x = user->operand(i);
        if (user == chain_.second && i != chain_.scores_operand) continue;
        ScoreAxes axes = chain_.OperandAxes(*user, i);
        if (chain_.first == nullptr && x->opcode() == HloOpcode::kDot && index_.contains(x) && !HasControl(*x) &&
            ShapeUtil::ElementsIn(x->shape()) == ShapeUtil::ElementsIn(scores.operand->shape()))
          chain_.first = x;
        if (!IsMember(x, axes)) continue;
        const auto [known, is_new] = chain_.axes.try_emplace(x, axes);
        if (!is_new) {
          if (known->second != axes) return false;
          continue;
        }
        if (chain_.members.size() == kMostMembers) return false;
        chain_.members.push_back(x);
        work.push_back(x);
      }
    }
    std::sort(chain_.members.begin(), chain_.members.end(),
              [&](const HloInstruction* a, const HloInstruction* b) { return index_.at(a) < index_.at(b); });
    return chain_.first != nullptr;
  }

  const absl::flat_hash_map<const HloInstruction*, int64_t>& index_;
  ScoreChain chain_;
  absl::flat_hash_set<const HloInstruction*> dependent_;  // on the first dot, and this
};

}  // namespace

ScoreAxes ScoreChain::OperandAxes(const HloInstruction& instruction, int64_t i) const {
  const ScoreAxes& result = axes.at(&instruction);
  if (const AxesOfOperand function = kOperandAxes[instruction.opcode()]) return function(instruction, result, i);
  const int64_t rank = instruction.operand(i)->shape().rank();
  return rank == static_cast<int64_t>(result.size()) ? result : ScoreAxes(rank, -1);
}

std::optional<ScoreChain> ScoreChainOf(HloInstruction* second,
                                       const absl::flat_hash_map<const HloInstruction*, int64_t>& index) {
  for (int64_t operand : {0, 1}) {
    if (second->opcode() != HloOpcode::kDot || second->operand(0) == second->operand(1)) break;
    std::optional<ScoreChain> chain = ChainSearch(second, operand, index).Find();
    if (chain.has_value()) return chain;
  }
  return std::nullopt;
}

}  // namespace hilo
