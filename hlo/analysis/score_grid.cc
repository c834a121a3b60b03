#include "hlo/analysis/score_grid.h"

#include <limits>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/score_chain.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

constexpr size_t kMaxGridMembers = 160;
// Instructions that are searched for other scores of the same grid.
constexpr size_t kMaxGridSources = 512;

using MemberSet = absl::flat_hash_set<const HloInstruction*>;

// Pairs of a dimension of an operand and the one of the instruction that runs along it.
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Pairs SameDimensions(int64_t rank) {
  Pairs pairs;
  for (int64_t d = 0; d < rank; ++d) pairs.emplace_back(d, d);
  return pairs;
}

Pairs BroadcastPairs(const HloInstruction& broadcast) {
  const std::vector<int64_t>& to = broadcast.attrs<BroadcastAttrs>().dimensions;
  Pairs pairs;
  for (size_t d = 0; d < to.size(); ++d) pairs.emplace_back(static_cast<int64_t>(d), to[d]);
  return pairs;
}

Pairs ReducePairs(const HloInstruction& reduce) {
  Pairs pairs;
  int64_t next = 0;
  for (int64_t d = 0; d < reduce.operand(0)->shape().rank(); ++d) {
    if (!absl::c_linear_search(reduce.attrs<ReduceAttrs>().dimensions, d)) pairs.emplace_back(d, next++);
  }
  return pairs;
}

// Of a reshape that adds and removes dimensions of size 1.
Pairs ReshapePairs(const HloInstruction& reshape) {
  const Shape &from = reshape.operand(0)->shape(), &to = reshape.shape();
  Pairs pairs;
  int64_t next = 0;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dimensions(d) == 1) continue;
    while (to.dimensions(next) == 1) ++next;
    pairs.emplace_back(d, next++);
  }
  return pairs;
}

Pairs TransposePairs(const HloInstruction& transpose) {
  const std::vector<int64_t>& dimensions = transpose.attrs<TransposeAttrs>().dimensions;
  Pairs pairs;
  for (size_t d = 0; d < dimensions.size(); ++d) pairs.emplace_back(dimensions[d], static_cast<int64_t>(d));
  return pairs;
}

// Null: dimensions are the same, or there are none if the operand is a scalar.
constexpr OpcodeMap<Pairs (*)(const HloInstruction&)> kPairs = {
    {HloOpcode::kBroadcast, BroadcastPairs},
    {HloOpcode::kReduce, ReducePairs},
    {HloOpcode::kReshape, ReshapePairs},
    {HloOpcode::kTranspose, TransposePairs},
};

// Of an array operand of an instruction that may be in a score chain.
Pairs PairsOf(const HloInstruction& instruction, int64_t operand) {
  if (const auto pairs = kPairs[instruction.opcode()]) return operand == 0 ? pairs(instruction) : Pairs();
  const int64_t rank = instruction.operand(operand)->shape().rank();
  return rank == instruction.shape().rank() ? SameDimensions(rank) : Pairs();
}

class GridMatcher {
 public:
  // Collects the members from a score on; false: there are too many, or arrays of the grid's size are read elsewhere.
  bool Collect(HloInstruction* score) {
    elements_ = ShapeUtil::ElementsIn(score->shape());
    if (!AddScore(score)) return false;
    while (!work_.empty()) {
      HloInstruction* member = work_.back();
      work_.pop_back();
      if (member->IsRoot() || inside_.size() > kMaxGridMembers) return false;
      for (HloInstruction* user : member->users()) {
        if (inside_.contains(user)) continue;
        const bool is_whole = ShapeUtil::ElementsIn(member->shape()) == elements_;
        if (user->opcode() == HloOpcode::kDot && is_whole && !user->HasControlDependencies()) {
          if (!absl::c_linear_search(grid_.products, user)) grid_.products.push_back(user);
        } else if (IsBatchSum(*user)) {
          grid_.batch_sums.push_back(user);
        } else if (MayBeInScoreChain(*user) && (is_whole || IsOfRows(*user, *member))) {
          inside_.insert(user);
          work_.push_back(user);
          for (HloInstruction* operand : user->operands()) {
            if (!AddScoresOf(operand)) return false;
          }
        } else if (is_whole) {
          return false;
        }
      }
    }
    const bool is_reduced =
        absl::c_any_of(inside_, [](const HloInstruction* x) { return x->opcode() == HloOpcode::kReduce; });
    // Dots of dots alone are products of matrices.
    return (!grid_.products.empty() || is_reduced) && inside_.size() > grid_.scores.size();
  }

  // Collects the members of a fusion.
  bool CollectFused(const HloComputation& fused) {
    // A dot that depends on none is a score.
    for (HloInstruction* instruction : fused.MakePostOrder()) {
      if (instruction->opcode() == HloOpcode::kDot) {
        const bool depends = absl::c_any_of(instruction->operands(), [&](auto* x) { return inside_.contains(x); });
        if (grid_.scores.empty()) elements_ = ShapeUtil::ElementsIn(instruction->shape());
        if (depends) {
          grid_.products.push_back(instruction);
        } else {
          inside_.insert(instruction);
          grid_.scores.push_back(instruction);
        }
      } else if (IsBatchSum(*instruction)) {
        grid_.batch_sums.push_back(instruction);
      } else if (MayBeInScoreChain(*instruction) &&
                 absl::c_any_of(instruction->operands(), [&](auto* x) { return inside_.contains(x); })) {
        inside_.insert(instruction);
      }
    }
    if (grid_.scores.empty() || grid_.scores.size() == inside_.size()) return false;
    return absl::c_all_of(grid_.scores,
                          [&](auto* score) { return ShapeUtil::ElementsIn(score->shape()) == elements_; });
  }

  std::optional<ScoreGrid> Match() {
    if (!OrderMembers()) return std::nullopt;
    JoinDimensions();
    if (!NameAxes() || !MatchScores() || !MatchReductions() || !MatchProducts() || !MatchBatchSums())
      return std::nullopt;
    return std::move(grid_);
  }

 private:
  bool AddScore(HloInstruction* dot) {
    if (dot->HasControlDependencies()) return false;
    if (!inside_.insert(dot).second) return true;
    grid_.scores.push_back(dot);
    work_.push_back(dot);
    return true;
  }

  // Returns true for a sum of an array as large as the scores along dimensions that are a score's batch.
  bool IsBatchSum(const HloInstruction& reduce) const {
    if (reduce.opcode() != HloOpcode::kReduce || !MayBeInScoreChain(reduce) || !reduce.operand(1)->IsConstant() ||
        ShapeUtil::ElementsIn(reduce.operand(0)->shape()) != elements_ ||
        ReductionOp(*reduce.called_computation()) != HloOpcode::kAdd ||
        !IsFloatingPointType(reduce.shape().element_type()) || reduce.operand(1)->literal().GetAsDouble(0) != 0)
      return false;
    std::vector<int64_t> dimensions;
    const HloInstruction* array = reduce.operand(0);
    for (int64_t d : reduce.attrs<ReduceAttrs>().dimensions) {
      if (array->shape().dimensions(d) != 1) dimensions.push_back(d);
    }
    if (dimensions.empty()) return false;
    // Up to a score that it is computed from, element by element.
    for (size_t step = 0; step < kMaxGridMembers && inside_.contains(array); ++step) {
      if (array->opcode() == HloOpcode::kDot) {
        const auto batches = static_cast<int64_t>(LhsOf(*array).batch.size());
        return absl::c_all_of(dimensions, [&](int64_t d) { return d < batches; });
      }
      const auto operands = array->operands();
      const auto operand = absl::c_find_if(operands, [&](const HloInstruction* x) {
        return inside_.contains(x) && ShapeUtil::ElementsIn(x->shape()) == elements_;
      });
      if (operand == operands.end()) return false;
      std::vector<int64_t> from(array->shape().rank(), -1);
      for (const auto& [d, result] : PairsOf(*array, operand - operands.begin())) from[result] = d;
      for (int64_t& d : dimensions) d = from[d];
      if (absl::c_linear_search(dimensions, -1)) return false;
      array = *operand;
    }
    return false;
  }

  // Returns true for what repeats a member that is not whole, or has an element for each of its elements.
  bool IsOfRows(const HloInstruction& user, const HloInstruction& member) const {
    const int64_t elements = ShapeUtil::ElementsIn(user.shape());
    return elements == elements_ ||
           (user.opcode() != HloOpcode::kReduce && elements == ShapeUtil::ElementsIn(member.shape()));
  }

  // Adds the scores that `instruction` is computed from, if it is not a member.
  bool AddScoresOf(HloInstruction* instruction) {
    std::vector<HloInstruction*> work = {instruction};
    while (!work.empty()) {
      HloInstruction* source = work.back();
      work.pop_back();
      if (inside_.contains(source) || ShapeUtil::ElementsIn(source->shape()) != elements_) continue;
      if (!seen_.insert(source).second) continue;
      if (seen_.size() > kMaxGridSources) return false;
      if (source->opcode() == HloOpcode::kDot) {
        if (!AddScore(source)) return false;
      } else if (MayBeInScoreChain(*source)) {
        for (HloInstruction* operand : source->operands()) work.push_back(operand);
      }
    }
    return true;
  }

  // Orders members, scores and products, operands first.
  bool OrderMembers() {
    MemberSet products(grid_.products.begin(), grid_.products.end());
    for (const HloInstruction* product : products) {
      if (inside_.contains(product->operand(0)) == inside_.contains(product->operand(1))) return false;
    }
    grid_.scores.clear();
    for (HloInstruction* instruction : (*inside_.begin())->parent()->MakePostOrder()) {
      if (products.contains(instruction)) ordered_products_.push_back(instruction);
      if (!inside_.contains(instruction)) continue;
      grid_.members.push_back(instruction);
      if (instruction->opcode() == HloOpcode::kDot) grid_.scores.push_back(instruction);
      if (instruction->opcode() == HloOpcode::kReduce) grid_.reductions.push_back(instruction);
    }
    grid_.products = ordered_products_;
    return grid_.members.size() == inside_.size();
  }

  int64_t Find(int64_t node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
  }

  void JoinDimensions() {
    for (const HloInstruction* member : grid_.members) {
      first_[member] = static_cast<int64_t>(parents_.size());
      for (int64_t d = 0; d < member->shape().rank(); ++d) parents_.push_back(static_cast<int64_t>(parents_.size()));
    }
    for (const HloInstruction* member : grid_.members) {
      if (member->opcode() == HloOpcode::kDot) continue;
      for (int64_t i = 0; i < member->operand_count(); ++i) {
        const auto operand = first_.find(member->operand(i));
        if (operand == first_.end()) continue;
        for (const auto& [from, to] : PairsOf(*member, i)) {
          if (member->shape().dimensions(to) != 1) parents_[Find(operand->second + from)] = Find(first_[member] + to);
        }
      }
    }
  }

  bool NameAxes() {
    const HloInstruction* first = grid_.scores[0];
    absl::flat_hash_map<int64_t, int64_t> axes;
    for (int64_t d = 0; d < first->shape().rank(); ++d) {
      if (first->shape().dimensions(d) == 1) continue;
      if (!axes.emplace(Find(first_[first] + d), static_cast<int64_t>(grid_.axes.size())).second) return false;
      grid_.axes.push_back({.size = first->shape().dimensions(d)});
    }
    for (const HloInstruction* member : grid_.members) {
      std::vector<int64_t>& dimensions = grid_.dimensions[member];
      for (int64_t d = 0; d < member->shape().rank(); ++d) {
        if (member->shape().dimensions(d) == 1) {
          dimensions.push_back(-1);
          continue;
        }
        const auto axis = axes.find(Find(first_[member] + d));
        if (axis == axes.end() || grid_.axes[axis->second].size != member->shape().dimensions(d) ||
            absl::c_linear_search(dimensions, axis->second))
          return false;
        dimensions.push_back(axis->second);
      }
    }
    return true;
  }

  // The axes of dimensions `first`, `first` + 1 ... of a member, sorted.
  std::vector<int64_t> Axes(const HloInstruction* member, absl::Span<const int64_t> dimensions) const {
    std::vector<int64_t> axes;
    for (int64_t d : dimensions) {
      if (const int64_t axis = grid_.dimensions.at(member)[d]; axis >= 0) axes.push_back(axis);
    }
    absl::c_sort(axes);
    return axes;
  }
  std::vector<int64_t> AxesOf(GridSide side) const {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < grid_.axes.size(); ++i) {
      if (grid_.axes[i].side == side) axes.push_back(static_cast<int64_t>(i));
    }
    return axes;
  }

  bool MatchScores() {
    for (const HloInstruction* score : grid_.scores) {
      if (!grid_.IsWhole(score)) return false;
      const DotSide lhs = LhsOf(*score), rhs = RhsOf(*score);
      std::vector<int64_t> numbers(score->shape().rank());
      std::iota(numbers.begin(), numbers.end(), 0);
      const auto all = absl::MakeConstSpan(numbers);
      const size_t batches = lhs.batch.size(), left = lhs.free.size();
      const std::vector<int64_t> batch = Axes(score, all.first(batches)),
                                 of_left = Axes(score, all.subspan(batches, left)),
                                 of_right = Axes(score, all.subspan(batches + left));
      if (score == grid_.scores[0]) {
        for (int64_t axis : of_left) grid_.axes[axis].side = GridSide::kLeft;
        for (int64_t axis : of_right) grid_.axes[axis].side = GridSide::kRight;
        if (of_left.empty() || of_right.empty()) return false;
      }
      const bool same = of_left == AxesOf(GridSide::kLeft) && of_right == AxesOf(GridSide::kRight);
      const bool swapped = of_left == AxesOf(GridSide::kRight) && of_right == AxesOf(GridSide::kLeft);
      if (batch != AxesOf(GridSide::kBatch) || !(same || swapped)) return false;
    }
    return true;
  }

  std::optional<GridSide> SideOf(const std::vector<int64_t>& axes) const {
    for (GridSide side : {GridSide::kLeft, GridSide::kRight}) {
      if (axes == AxesOf(side)) return side;
    }
    return std::nullopt;
  }

  bool MatchReductions() {
    for (const HloInstruction* reduce : grid_.reductions) {
      const std::optional<HloOpcode> op = ReductionOp(*reduce->called_computation());
      const HloInstruction& initial = *reduce->operand(1);
      const Shape& operand = reduce->operand(0)->shape();
      if (!grid_.Has(reduce->operand(0)) || !grid_.IsWhole(reduce->operand(0)) || !initial.IsConstant() ||
          !IsFloatingPointType(operand.element_type()) || !op.has_value())
        return false;
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const double value = initial.literal().GetAsDouble(0);
      const bool is_known = (op == HloOpcode::kAdd && value == 0) ||
                            (op == HloOpcode::kMaximum && value == -kInfinity) ||
                            (op == HloOpcode::kMinimum && value == kInfinity);
      if (!is_known) return false;
      const std::optional<GridSide> side = SideOf(Axes(reduce->operand(0), reduce->attrs<ReduceAttrs>().dimensions));
      if (!side.has_value()) return false;
      grid_.summed[reduce] = *side;
    }
    return true;
  }

  bool MatchProducts() {
    for (const HloInstruction* product : grid_.products) {
      const int64_t operand = grid_.Has(product->operand(0)) ? 0 : 1;
      const DotSide side = operand == 0 ? LhsOf(*product) : RhsOf(*product);
      const std::optional<GridSide> summed = SideOf(Axes(side.operand, side.contracting));
      if (!grid_.IsWhole(side.operand) || !summed.has_value() ||
          Axes(side.operand, side.batch) != AxesOf(GridSide::kBatch) ||
          Axes(side.operand, side.free) != AxesOf(OtherSide(*summed)))
        return false;
      grid_.summed[product] = *summed;
      grid_.grid_operands[product] = operand;
    }
    return true;
  }

  bool MatchBatchSums() {
    const std::vector<int64_t> batch = AxesOf(GridSide::kBatch);
    return absl::c_all_of(grid_.batch_sums, [&](const HloInstruction* sum) {
      return grid_.IsWhole(sum->operand(0)) &&
             absl::c_all_of(grid_.SummedAxes(sum), [&](int64_t axis) { return absl::c_linear_search(batch, axis); });
    });
  }

  ScoreGrid grid_;
  int64_t elements_ = 0;
  MemberSet inside_, seen_;
  std::vector<HloInstruction*> work_, ordered_products_;
  absl::flat_hash_map<const HloInstruction*, int64_t> first_;  // the number of a member's first dimension
  std::vector<int64_t> parents_;                               // of a forest: dimensions of one axis are a tree
};

// Returns true for what moves elements, or makes those of 16 bits wider.
bool IsView(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kConvert) {
    const PrimitiveType from = instruction.operand(0)->shape().element_type();
    return (from == BF16 || from == F16) && instruction.shape().element_type() == F32;
  }
  return instruction.opcode() == HloOpcode::kTranspose || IsReshapeOfUnits(instruction);
}

// Moves a side's dimensions to the operand of its view.
void SkipView(GridOperand* side) {
  const HloInstruction& view = *side->operand;
  std::vector<int64_t> from(view.shape().rank(), -1);
  for (const auto& [operand, result] : PairsOf(view, 0)) from[result] = operand;
  for (std::vector<int64_t>* dimensions : {&side->batch, &side->lines, &side->features}) {
    for (int64_t& d : *dimensions) d = from[d];
  }
  side->views.push_back(&view);
  side->operand = view.operand(0);
}

// `batch`, `lines` and `features` are dimensions of `operand`.
GridOperand MakeOperand(const HloInstruction* operand, absl::Span<const int64_t> batch,
                        absl::Span<const int64_t> batch_axes, absl::Span<const int64_t> lines,
                        absl::Span<const int64_t> line_axes, absl::Span<const int64_t> features) {
  GridOperand side{.operand = operand};
  const auto size = [&](int64_t d) { return operand->shape().dimensions(d); };
  for (size_t i = 0; i < batch.size(); ++i) {
    if (size(batch[i]) == 1) continue;
    side.batch.push_back(batch[i]);
    side.batch_axes.push_back(batch_axes[i]);
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    if (size(lines[i]) == 1) continue;
    side.lines.push_back(lines[i]);
    side.line_axes.push_back(line_axes[i]);
  }
  for (int64_t d : features) {
    if (size(d) != 1) side.features.push_back(d);
  }
  while (IsView(*side.operand)) SkipView(&side);
  return side;
}

}  // namespace

const HloInstruction* WithoutViews(const HloInstruction* factor) {
  while (IsView(*factor)) factor = factor->operand(0);
  return factor;
}

bool ScoreGrid::IsWhole(const HloInstruction* member) const {
  return absl::c_count_if(dimensions.at(member), [](int64_t axis) { return axis >= 0; }) ==
         static_cast<int64_t>(axes.size());
}

std::vector<int64_t> ScoreGrid::SummedAxes(const HloInstruction* batch_sum) const {
  std::vector<int64_t> summed;
  for (int64_t d : batch_sum->attrs<ReduceAttrs>().dimensions) {
    if (const int64_t axis = dimensions.at(batch_sum->operand(0))[d]; axis >= 0) summed.push_back(axis);
  }
  absl::c_sort(summed);
  return summed;
}

int64_t ScoreGrid::SizeOf(GridSide side) const {
  int64_t size = 1;
  for (const Axis& axis : axes) size *= axis.side == side ? axis.size : 1;
  return size;
}

std::optional<ScoreGrid> ScoreGridOf(HloInstruction* score) {
  GridMatcher matcher;
  return matcher.Collect(score) ? matcher.Match() : std::nullopt;
}

std::optional<ScoreGrid> ScoreGridOfFusion(const HloInstruction& fusion) {
  if (fusion.opcode() != HloOpcode::kFusion || fusion.attrs<FusionAttrs>().kind != FusionKind::kInput)
    return std::nullopt;
  GridMatcher matcher;
  if (!matcher.CollectFused(*fusion.called_computation())) return std::nullopt;
  std::optional<ScoreGrid> grid = matcher.Match();
  return grid.has_value() && (!grid->summed.empty() || !grid->batch_sums.empty()) ? std::move(grid) : std::nullopt;
}

GridOperand ScoreOperand(const ScoreGrid& grid, const HloInstruction* score, GridSide side) {
  const DotSide lhs = LhsOf(*score), rhs = RhsOf(*score);
  const std::vector<int64_t>& axes = grid.dimensions.at(score);
  const auto is_of_side = [&](const DotSide& x, size_t first) {
    for (size_t i = 0; i < x.free.size(); ++i) {
      if (const int64_t axis = axes[first + i]; axis >= 0) return grid.axes[axis].side == side;
    }
    return false;
  };
  const size_t batches = lhs.batch.size();
  const bool is_left = is_of_side(lhs, batches);
  const DotSide& x = is_left ? lhs : rhs;
  const auto all = absl::MakeConstSpan(axes);
  return MakeOperand(x.operand, x.batch, all.first(batches), x.free,
                     all.subspan(batches + (is_left ? 0 : lhs.free.size()), x.free.size()), x.contracting);
}

GridOperand ProductOperand(const ScoreGrid& grid, const HloInstruction* product) {
  const bool is_left = grid.grid_operands.at(product) == 0;
  const DotSide member = is_left ? LhsOf(*product) : RhsOf(*product),
                other = is_left ? RhsOf(*product) : LhsOf(*product);
  const std::vector<int64_t>& axes = grid.dimensions.at(member.operand);
  std::vector<int64_t> batch_axes, line_axes;
  for (int64_t d : member.batch) batch_axes.push_back(axes[d]);
  for (int64_t d : member.contracting) line_axes.push_back(axes[d]);
  return MakeOperand(other.operand, other.batch, batch_axes, other.contracting, line_axes, other.free);
}

int64_t FeaturesOf(const GridOperand& side) {
  int64_t features = 1;
  for (int64_t d : side.features) features *= side.operand->shape().dimensions(d);
  return features;
}

}  // namespace hilo
