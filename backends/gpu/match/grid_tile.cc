#include "backends/gpu/match/grid_tile.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "backends/gpu/match/gemm_match.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using Set = absl::flat_hash_set<const HloInstruction*>;

// Adds what the reductions and products of the pass are computed from, up to other reductions.
void AddNeeded(const ScoreGrid& grid, GridPass* pass) {
  Set seen;
  std::vector<const HloInstruction*> work;
  for (const HloInstruction* reduce : pass->reductions) work.push_back(reduce->operand(0));
  for (const HloInstruction* product : pass->products) work.push_back(product->operand(grid.grid_operands.at(product)));
  while (!work.empty()) {
    const HloInstruction* member = work.back();
    work.pop_back();
    if (!grid.Has(member) || member->opcode() == HloOpcode::kReduce || !seen.insert(member).second) continue;
    if (member->opcode() != HloOpcode::kDot)
      work.insert(work.end(), member->operands().begin(), member->operands().end());
  }
  for (const HloInstruction* member : grid.members) {
    if (!seen.contains(member)) continue;
    pass->members.push_back(member);
    if (member->opcode() == HloOpcode::kDot) pass->scores.push_back(member);
    if (member->opcode() == HloOpcode::kExp && grid.IsWhole(member)) pass->exponentials.push_back(member);
    if (member->opcode() == HloOpcode::kTanh && grid.IsWhole(member)) pass->tangents.push_back(member);
  }
}

}  // namespace

std::vector<GridPass> PassesOf(const ScoreGrid& grid) {
  // The number of reductions, one after the other, that a member needs.
  absl::flat_hash_map<const HloInstruction*, size_t> depths;
  std::vector<GridPass> passes;
  for (const HloInstruction* member : grid.members) {
    size_t depth = 0;
    for (const HloInstruction* operand : member->operands()) {
      if (const auto known = depths.find(operand); known != depths.end()) depth = std::max(depth, known->second);
    }
    if (member->opcode() == HloOpcode::kReduce) {
      passes.resize(std::max(passes.size(), depth + 1));
      passes[depth].reductions.push_back(member);
      ++depth;
    }
    depths[member] = depth;
  }
  if (!grid.products.empty()) passes.push_back({.products = {grid.products.begin(), grid.products.end()}});
  for (GridPass& pass : passes) AddNeeded(grid, &pass);
  return passes;
}

std::vector<GridOperand> StripsOf(const ScoreGrid& grid, GridSide summed) {
  std::vector<GridOperand> strips;
  const auto add = [&](const GridOperand& side) {
    if (!absl::c_linear_search(strips, side)) strips.push_back(side);
  };
  for (const HloInstruction* score : grid.scores) add(ScoreOperand(grid, score, summed));
  for (const HloInstruction* product : grid.products) {
    if (grid.summed.at(product) == summed) add(ProductOperand(grid, product));
  }
  return strips;
}

int64_t AdjacentElements(const ScoreGrid& grid, const GridOperand& operand) {
  const int64_t minor = operand.operand->shape().rank() - 1;
  const bool in_features = absl::c_linear_search(operand.features, minor);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < grid.axes.size(); ++i) {
    if (grid.axes[i].side == grid.axes[operand.line_axes[0]].side) axes.push_back(static_cast<int64_t>(i));
  }
  const std::vector<int64_t>& dimensions = in_features ? operand.features : operand.lines;
  if (axes != operand.line_axes || dimensions.empty() || dimensions.back() != minor) return 1;
  return operand.operand->shape().dimensions(minor);
}

std::optional<GridFactors> FactorsOf(const ScoreGrid& grid, const HloInstruction* product) {
  const PrimitiveType type = ProductOperand(grid, product).operand->shape().element_type(),
                      of_grid = product->operand(grid.grid_operands.at(product))->shape().element_type();
  const DotAttrs& attributes = product->attrs<DotAttrs>();
  const std::string& algorithm = attributes.algorithm;
  if (of_grid == type || algorithm == (type == BF16 ? "dot_bf16_bf16_f32" : "dot_f16_f16_f32"))
    return GridFactors::kRounded;
  if (of_grid == F32 && type == BF16 && AllowsTf32(attributes)) return GridFactors::kSplit;
  return std::nullopt;
}

}  // namespace hilo::gpu
