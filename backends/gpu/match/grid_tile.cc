#include "backends/gpu/match/grid_tile.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "backends/gpu/match/gemm_match.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/score_chain.h"
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
  for (const HloInstruction* sum : pass->batch_sums) work.push_back(sum->operand(0));
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

// Steps of a walk over the factors of a sum's terms, which are a graph.
constexpr size_t kMaxTermSteps = 64;

// The number of reductions, one after the other, that members need.
using Depths = absl::flat_hash_map<const HloInstruction*, size_t>;

size_t DepthOf(const Depths& depths, const HloInstruction* x) {
  const auto known = depths.find(x);
  return known == depths.end() ? 0 : known->second;
}

const HloInstruction* WithoutUnits(const HloInstruction* x) {
  while (IsReshapeOfUnits(*x)) x = x->operand(0);
  return x;
}

bool IsSum(const HloInstruction& reduce) {
  return ReductionOp(*reduce.called_computation()) == HloOpcode::kAdd && reduce.shape().element_type() == F32;
}

// Returns true for a whole member that is the same along `side`.
bool IsLineFactor(const ScoreGrid& grid, const HloInstruction* x, GridSide side) {
  if (!grid.Has(x) || !grid.IsWhole(x) || x->shape().element_type() != F32) return false;
  while (IsReshapeOfUnits(*x) || x->opcode() == HloOpcode::kTranspose) x = x->operand(0);
  if (x->opcode() != HloOpcode::kBroadcast || !grid.Has(x->operand(0))) return false;
  return absl::c_none_of(grid.dimensions.at(x->operand(0)),
                         [&](int64_t axis) { return axis >= 0 && grid.axes[axis].side == side; });
}

// The terms of a sum are products: of the factors, and of what is left.
struct SumTerms {
  std::vector<LineFactor> factors;
  std::vector<const HloInstruction*> rest;
};
SumTerms TermsOf(const ScoreGrid& grid, const HloInstruction* sum) {
  const GridSide side = grid.summed.at(sum);
  SumTerms terms;
  std::vector<const HloInstruction*> work = {sum->operand(0)};
  for (size_t step = 0; !work.empty(); ++step) {
    const HloInstruction* x = work.back();
    work.pop_back();
    const bool is_open = step < kMaxTermSteps && grid.Has(x) && x->shape().element_type() == F32;
    if (is_open && x->opcode() == HloOpcode::kMultiply) {
      for (const HloInstruction* operand : x->operands()) {
        if (IsLineFactor(grid, operand, side)) {
          terms.factors.push_back({operand, /*divides=*/false});
        } else {
          work.push_back(operand);
        }
      }
    } else if (is_open && x->opcode() == HloOpcode::kDivide && IsLineFactor(grid, x->operand(1), side)) {
      terms.factors.push_back({x->operand(1), /*divides=*/true});
      work.push_back(x->operand(0));
    } else if (is_open && (x->opcode() == HloOpcode::kNegate || IsReshapeOfUnits(*x))) {
      work.push_back(x->operand(0));
    } else {
      terms.rest.push_back(x);
    }
  }
  return terms;
}

// Returns the factors that need reductions of pass `depth` or later.
std::vector<LineFactor> FactorsAfter(const SumTerms& terms, size_t depth, const Depths& depths) {
  std::vector<LineFactor> factors;
  absl::c_copy_if(terms.factors, std::back_inserter(factors),
                  [&](const LineFactor& factor) { return DepthOf(depths, factor.value) > depth; });
  return factors;
}

// Returns the exponential of x - maximum, if there is just one among the terms' factors, and nothing else of the terms
// needs a reduction of a pass `depth` or later; `maximum` is one of pass `depth`. Else null.
const HloInstruction* ExponentialOf(const ScoreGrid& grid, const HloInstruction* sum, const HloInstruction* maximum,
                                    size_t depth, const Depths& depths) {
  if (!IsSum(*sum) || grid.summed.at(sum) != grid.summed.at(maximum)) return nullptr;
  const HloInstruction* exponential = nullptr;
  for (const HloInstruction* x : TermsOf(grid, sum).rest) {
    if (DepthOf(depths, x) <= depth) continue;
    if (exponential != nullptr || x->opcode() != HloOpcode::kExp || x->shape().element_type() != F32) return nullptr;
    const HloInstruction* difference = x->operand(0);
    if (difference->opcode() != HloOpcode::kSubtract ||
        WithoutUnits(difference->operand(0)) != WithoutUnits(maximum->operand(0)))
      return nullptr;
    const HloInstruction* repeated = WithoutUnits(difference->operand(1));
    if (repeated->opcode() != HloOpcode::kBroadcast || repeated->operand(0) != maximum) return nullptr;
    exponential = x;
  }
  return exponential;
}

// Adds the sums of pass `depth` + 1 to the pass of their maximum, if all of them can be scaled. `depth` is the number
// of the pass before any are joined.
bool JoinMaximum(const ScoreGrid& grid, const GridPass& sums, size_t depth, const Depths& depths, GridPass* pass) {
  for (const HloInstruction* maximum : pass->reductions) {
    if (ReductionOp(*maximum->called_computation()) != HloOpcode::kMaximum || maximum->shape().element_type() != F32)
      continue;
    const HloInstruction* exponential = ExponentialOf(grid, sums.reductions[0], maximum, depth, depths);
    const bool are_scaled = absl::c_all_of(sums.reductions, [&](const HloInstruction* sum) {
      return exponential != nullptr && ExponentialOf(grid, sum, maximum, depth, depths) == exponential;
    });
    if (!are_scaled) continue;
    GridPass joined = *pass;
    joined.maximum = maximum;
    joined.scaled = sums.reductions;
    joined.reductions.insert(joined.reductions.end(), sums.reductions.begin(), sums.reductions.end());
    for (const HloInstruction* sum : sums.reductions)
      joined.factors[sum] = FactorsAfter(TermsOf(grid, sum), depth, depths);
    GridPass needed = joined;
    AddNeeded(grid, &needed);
    if (needed.exponentials.size() != 1) return false;  // others would need the maximum before it is known
    *pass = std::move(joined);
    return true;
  }
  return false;
}

// Returns what the kernel of the grid, which may be a part of a larger one, computes.
Set ComputedBy(const ScoreGrid& grid) {
  Set computed(grid.members.begin(), grid.members.end());
  computed.insert(grid.products.begin(), grid.products.end());
  computed.insert(grid.batch_sums.begin(), grid.batch_sums.end());
  return computed;
}

}  // namespace

std::vector<GridPass> PassesOf(const ScoreGrid& grid) {
  const Set computed = ComputedBy(grid);
  const auto is_last = [&](const HloInstruction& reduce) {
    return absl::c_none_of(reduce.users(), [&](const HloInstruction* user) { return computed.contains(user); });
  };
  Depths depths;
  std::vector<GridPass> by_depth;
  GridPass last{.products = {grid.products.begin(), grid.products.end()},
                .batch_sums = {grid.batch_sums.begin(), grid.batch_sums.end()}};
  for (const HloInstruction* member : grid.members) {
    size_t depth = 0;
    if (member->opcode() == HloOpcode::kReduce && !grid.products.empty() && is_last(*member)) {
      last.reductions.push_back(member);
      continue;
    }
    if (member->opcode() != HloOpcode::kReduce) {
      for (const HloInstruction* operand : member->operands()) depth = std::max(depth, DepthOf(depths, operand));
      depths[member] = depth;
      continue;
    }
    depth = DepthOf(depths, member->operand(0));
    std::vector<LineFactor> left_out;
    if (IsSum(*member)) {
      const SumTerms terms = TermsOf(grid, member);
      depth = 0;
      for (const HloInstruction* x : terms.rest) depth = std::max(depth, DepthOf(depths, x));
      // What factors need is known when their pass ends.
      for (const LineFactor& factor : terms.factors) {
        if (const size_t of_factor = DepthOf(depths, factor.value); of_factor > 0)
          depth = std::max(depth, of_factor - 1);
      }
      left_out = FactorsAfter(terms, depth, depths);
    }
    by_depth.resize(std::max(by_depth.size(), depth + 1));
    by_depth[depth].reductions.push_back(member);
    if (!left_out.empty()) by_depth[depth].factors[member] = std::move(left_out);
    depths[member] = depth + 1;
  }
  std::vector<GridPass> passes;
  for (size_t depth = 0; depth < by_depth.size(); ++depth) {
    passes.push_back(std::move(by_depth[depth]));
    if (depth + 1 < by_depth.size() && JoinMaximum(grid, by_depth[depth + 1], depth, depths, &passes.back())) ++depth;
  }
  if (!grid.products.empty() || !grid.batch_sums.empty()) passes.push_back(std::move(last));
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
