#include "backends/gpu/match/grid_mask.h"

#include "absl/algorithm/container.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/score_chain.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

// Returns true if `array`, of the pass, is 0 wherever the exponential is.
bool Vanishes(const GridPass& pass, const HloInstruction& exponential, const HloInstruction* array) {
  // Members come operands first.
  std::vector<const HloInstruction*> vanishing = {&exponential};
  const auto vanishes = [&](const HloInstruction* x) {
    const HloInstruction& value = x->opcode() == HloOpcode::kBroadcast ? *x->operand(0) : *x;
    const bool is_zero = value.IsConstant() && value.shape().IsScalar() && value.literal().GetAsDouble(0) == 0;
    return is_zero || absl::c_linear_search(vanishing, x);
  };
  for (const HloInstruction* member : pass.members) {
    const HloOpcode opcode = member->opcode();
    const auto operand = [&](int64_t i) { return vanishes(member->operand(i)); };
    const bool passes_on = opcode == HloOpcode::kConvert || opcode == HloOpcode::kNegate ||
                           opcode == HloOpcode::kTranspose || IsReshapeOfUnits(*member);
    if ((opcode == HloOpcode::kMultiply && (operand(0) || operand(1))) ||
        (opcode == HloOpcode::kDivide && operand(0)) || (opcode == HloOpcode::kSelect && operand(1) && operand(2)) ||
        (passes_on && operand(0)))
      vanishing.push_back(member);
  }
  return vanishes(array);
}

std::vector<int64_t> AxesOf(const ScoreGrid& grid, GridSide side) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < grid.axes.size(); ++i) {
    if (grid.axes[i].side == side) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

}  // namespace

std::optional<GridMask> MaskOf(const ScoreGrid& grid, const GridPass& pass) {
  if (pass.exponentials.size() != 1 || !pass.batch_sums.empty()) return std::nullopt;
  const HloInstruction& exponential = *pass.exponentials[0];
  const HloInstruction& difference = *exponential.operand(0);
  if (difference.opcode() != HloOpcode::kSubtract || difference.operand(1)->opcode() != HloOpcode::kBroadcast)
    return std::nullopt;
  const HloInstruction *logits = difference.operand(0), *repeated = difference.operand(1);
  if (!grid.Has(logits) || !grid.IsWhole(logits)) return std::nullopt;
  const std::vector<int64_t>& axes = grid.dimensions.at(logits);
  const std::vector<int64_t>& kept = repeated->attrs<BroadcastAttrs>().dimensions;
  GridMask result{.maximum = repeated->operand(0)};
  for (int64_t d : kept) result.maximum_axes.push_back(axes[d]);
  // The keys are the one axis along which the maximum is repeated.
  int64_t key_dimension = -1;
  for (int64_t d = 0; d < logits->shape().rank(); ++d) {
    if (axes[d] < 0 || absl::c_linear_search(kept, d)) continue;
    if (key_dimension >= 0) return std::nullopt;
    key_dimension = d;
  }
  if (key_dimension < 0 || grid.axes[axes[key_dimension]].side == GridSide::kBatch) return std::nullopt;
  result.rows = OtherSide(grid.axes[axes[key_dimension]].side);
  const std::optional<CausalMask> mask = CausalMaskOf({.logits = logits, .key_dimension = key_dimension});
  if (!mask.has_value()) return std::nullopt;
  result.mask = *mask;
  result.row_axis = axes[mask->row_dimension];
  if (AxesOf(grid, OtherSide(result.rows)).size() != 1 || AxesOf(grid, result.rows)[0] != result.row_axis)
    return std::nullopt;
  if (pass.maximum != nullptr && result.maximum != pass.maximum) return std::nullopt;
  for (const HloInstruction* reduce : pass.reductions) {
    if (reduce == pass.maximum) continue;  // masked logits are less
    if (ReductionOp(*reduce->called_computation()) != HloOpcode::kAdd ||
        !Vanishes(pass, exponential, reduce->operand(0)))
      return std::nullopt;
  }
  for (const HloInstruction* product : pass.products) {
    if (!Vanishes(pass, exponential, product->operand(grid.grid_operands.at(product)))) return std::nullopt;
  }
  return result;
}

}  // namespace hilo::gpu
