#include "hlo/passes/partition/sharding_rule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/partition/op_factors.h"
#include "hlo/passes/partition/tile_cut.h"

namespace hilo {
namespace {

// Ops whose result has the dimensions of so many of their first operands, apart from sizes and order along some.
constexpr OpcodeMap<int> kResembles = {
    {HloOpcode::kCholesky, 1},
    {HloOpcode::kDynamicUpdateSlice, 1},
    {HloOpcode::kFft, 1},
    {HloOpcode::kPad, 1},
    {HloOpcode::kReverse, 1},
    {HloOpcode::kSlice, 1},
    {HloOpcode::kSelectAndScatter, 1},
};
constexpr OpcodeSet kResemblesAll = {HloOpcode::kConcatenate, HloOpcode::kReduceWindow, HloOpcode::kSort};

// A factor of dimension `from` of one shape and of dimension `to` of another one with as many elements, or of one of
// them alone, the other dimension being kNone.
struct ReshapeFactor {
  static constexpr int64_t kNone = -1;
  int64_t from, to, size;
};

// The next factor of the shape whose factors so far have the smaller product `behind`, that of the other shape being
// `ahead`: what makes the products equal if it divides `rest`, which is left of the dimension; else what leaves
// `common`, the greatest common divisor of the rests, to be shared.
int64_t FactorBehind(int64_t rest, int64_t behind, int64_t ahead, int64_t common) {
  if (ahead % behind == 0 && rest % (ahead / behind) == 0) return ahead / behind;
  return rest > common ? rest / common : rest;
}

// Sizes are factored alike on both sides, the most major factors first: [16] and [2,8] as 2 and 8. Where the sizes have
// no common divisor, each side has its own factors until their products are equal again: [8,12] and [12,8] as 4, 2 and
// 3, 3 and 2, 4.
std::vector<ReshapeFactor> FactorsOfReshape(const Shape& from, const Shape& to) {
  std::vector<ReshapeFactor> factors;
  if (ShapeUtil::ElementsIn(from) == 0) return factors;
  int64_t i = 0, j = 0, a = 1, b = 1;  // a, b: what is left of dimensions i and j
  int64_t before_a = 1, before_b = 1;  // products of the factors so far
  while (true) {
    while (a == 1 && i < from.rank() && (a = from.dimensions(i)) == 1) ++i;
    while (b == 1 && j < to.rank() && (b = to.dimensions(j)) == 1) ++j;
    if (i >= from.rank() && j >= to.rank()) return factors;
    const int64_t common = std::gcd(a, b);
    int64_t of_a = 1, of_b = 1;
    if (before_a == before_b && common > 1) {
      factors.push_back({i, j, of_a = of_b = common});
    } else {
      if (before_a <= before_b) of_a = before_a == before_b ? a : FactorBehind(a, before_a, before_b, common);
      if (before_b <= before_a) of_b = before_a == before_b ? b : FactorBehind(b, before_b, before_a, common);
      if (of_a > 1) factors.push_back({i, ReshapeFactor::kNone, of_a});
      if (of_b > 1) factors.push_back({ReshapeFactor::kNone, j, of_b});
    }
    before_a *= of_a;
    before_b *= of_b;
    if ((a /= of_a) == 1) ++i;
    if ((b /= of_b) == 1) ++j;
  }
}

class RuleBuilder {
 public:
  explicit RuleBuilder(const HloInstruction& op) : op_(op) {
    for (const HloInstruction* operand : op.operands()) AddTensor(operand->shape());
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(op.shape())) AddTensor(*leaf.shape);
  }
  int New(int64_t size, bool passes_through) {
    rule_.factors.push_back({size, passes_through});
    return static_cast<int>(rule_.factors.size()) - 1;
  }
  size_t operands() const { return op_.operand_count(); }
  size_t results() const { return rule_.tensors.size() - operands(); }
  bool Has(size_t tensor, size_t dimension) const { return !rule_.tensors[tensor][dimension].empty(); }
  void Add(size_t tensor, int64_t dimension, int factor) { rule_.tensors[tensor][dimension].push_back(factor); }

  void AddFactors(const OpFactors& factors) {
    std::vector<int> mine(factors.count, -1);
    const auto add = [&](size_t tensor, const Shape& shape, const std::vector<int>& of) {
      for (size_t d = 0; d < of.size() && static_cast<int64_t>(d) < shape.rank(); ++d) {
        if (of[d] == OpFactors::kNone) continue;
        int& factor = mine[of[d]];
        if (factor < 0)
          factor = New(shape.dimensions(static_cast<int64_t>(d)), !absl::c_linear_search(factors.combined, of[d]));
        Add(tensor, static_cast<int64_t>(d), factor);
      }
    };
    for (size_t i = 0; i < operands(); ++i) add(i, op_.operand(static_cast<int64_t>(i))->shape(), factors.operands[i]);
    size_t tensor = operands();
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(op_.shape())) add(tensor++, *leaf.shape, factors.result);
  }

  // Dimensions of the results without a factor are those of the first `count` operands.
  void AddResembling(size_t count) {
    const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(op_.shape());
    const Shape& result = *leaves[0].shape;
    for (int64_t d = 0; d < result.rank(); ++d) {
      if (Has(operands(), d) || !MayResemble(d)) continue;
      // Every partition updates what it has of an operand.
      const int factor = New(result.dimensions(d), op_.opcode() == HloOpcode::kDynamicUpdateSlice);
      for (size_t i = 0; i < results(); ++i) Add(operands() + i, d, factor);
      for (size_t i = 0; i < std::min(count, operands()); ++i) {
        if (op_.operand(static_cast<int64_t>(i))->shape().rank() == result.rank() && !Has(i, d)) Add(i, d, factor);
      }
    }
  }

  void AddReshape() {
    for (const ReshapeFactor& one : FactorsOfReshape(op_.operand(0)->shape(), op_.shape())) {
      const int factor = New(one.size, true);
      if (one.from != ReshapeFactor::kNone) Add(0, one.from, factor);
      if (one.to != ReshapeFactor::kNone) Add(1, one.to, factor);
    }
  }

  // Dimensions that all operands lose: of a reduction of several arrays, whose parts no single op combines.
  void AddReduced() {
    const std::vector<int64_t>& reduced = op_.attrs<ReduceAttrs>().dimensions;
    for (int64_t d : reduced) {
      if (Has(0, d)) continue;
      const int factor = New(op_.operand(0)->shape().dimensions(d), false);
      for (size_t i = 0; i < operands() / 2; ++i) Add(i, d, factor);
    }
  }

  // Of the operand and the result: the dimensions that indices point into, and those of windows that are smaller. Of
  // the indices and the updates: the dimensions that number the windows.
  void AddScatter() {
    const ScatterAttrs& attrs = op_.attrs<ScatterAttrs>();
    const Shape &operand = op_.operand(0)->shape(), &indices = op_.operand(1)->shape(),
                &updates = op_.operand(2)->shape();
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (Has(0, d)) continue;
      const int factor = New(operand.dimensions(d), absl::c_linear_search(attrs.inserted_window_dims, d));
      Add(0, d, factor);
      Add(operands(), d, factor);
    }
    int64_t index = 0;
    for (int64_t d = 0; d < updates.rank(); ++d) {
      if (absl::c_linear_search(attrs.update_window_dims, d)) continue;
      if (index == attrs.index_vector_dim) ++index;
      if (!Has(1, index) && !Has(2, d)) {
        const int factor = New(indices.dimensions(index), false);
        Add(1, index, factor);
        Add(2, d, factor);
      }
      ++index;
    }
  }

  // Of op(a) x = b or x op(a) = b: the rows of the matrix are those of b, and its columns those of x.
  void AddTriangularSolve() {
    const TriangularSolveAttrs& attrs = op_.attrs<TriangularSolveAttrs>();
    const int64_t rows = op_.shape().rank() - 2, columns = rows + 1;
    const int64_t solved = attrs.left_side ? rows : columns, other = attrs.left_side ? columns : rows;
    const bool is_transposed = attrs.transpose_a != TransposeKind::kNoTranspose;
    const bool by_rows = attrs.left_side != is_transposed;  // b is along the rows of a as it is stored
    const int of_b = New(op_.shape().dimensions(solved), false), of_x = New(op_.shape().dimensions(solved), false),
              of_both = New(op_.shape().dimensions(other), false);
    Add(0, by_rows ? rows : columns, of_b);
    Add(1, solved, of_b);
    Add(0, by_rows ? columns : rows, of_x);
    Add(2, solved, of_x);
    Add(1, other, of_both);
    Add(2, other, of_both);
  }

  void AddConvolution() {
    const ConvolutionAttrs& attrs = op_.attrs<ConvolutionAttrs>();
    const ConvolutionDimensionNumbers& labels = attrs.dim_labels;
    if (attrs.feature_group_count > 1) {
      AddGroups(attrs.feature_group_count, {0, labels.input_feature_dimension()}, labels);
      AddWithinGroups(attrs.feature_group_count, {0, labels.input_feature_dimension()},
                      {1, labels.kernel_input_feature_dimension()}, false);
    }
    if (attrs.batch_group_count > 1) {
      AddGroups(attrs.batch_group_count, {0, labels.input_batch_dimension()}, labels);
      AddWithinGroups(attrs.batch_group_count, {0, labels.input_batch_dimension()},
                      {2, labels.output_batch_dimension()}, true);
    }
    for (int64_t i = 0; i < static_cast<int64_t>(attrs.window.dimensions.size()); ++i) {
      const int64_t input = labels.input_spatial_dimensions(i), output = labels.output_spatial_dimensions(i);
      const int64_t kernel = labels.kernel_spatial_dimensions(i);
      const int64_t positions = op_.shape().dimensions(output), window = op_.operand(1)->shape().dimensions(kernel);
      // The input is along the positions of the window and along the window; the longer one is the major factor.
      int64_t rest = op_.operand(0)->shape().dimensions(input);
      for (const bool along_window : {positions < window, positions >= window}) {
        const int64_t size = std::min(along_window ? window : positions, rest);
        if (size <= 1) continue;
        const int factor = New(size, false);
        Add(0, input, factor);
        Add(along_window ? 1 : 2, along_window ? kernel : output, factor);
        rest /= size;
      }
    }
  }

  // Arrays without elements tell nothing of others, as in XLA, where they are constants.
  ShardingRule Take() {
    size_t tensor = 0;
    const auto leave_out_if_empty = [&](const Shape& shape) {
      if (shape.IsArray() && ShapeUtil::ElementsIn(shape) == 0) rule_.tensors[tensor].assign(shape.rank(), {});
      ++tensor;
    };
    for (const HloInstruction* operand : op_.operands()) leave_out_if_empty(operand->shape());
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(op_.shape())) leave_out_if_empty(*leaf.shape);
    return std::move(rule_);
  }

 private:
  struct TensorDimension {
    size_t tensor;
    int64_t dimension;
  };

  // The groups of a convolution: the major factor of the dimension that they divide, and of the output features.
  void AddGroups(int64_t count, TensorDimension divided, const ConvolutionDimensionNumbers& labels) {
    const TensorDimension kernel{1, labels.kernel_output_feature_dimension()},
        result{2, labels.output_feature_dimension()};
    const int groups = New(count, true);
    for (const TensorDimension& one : {divided, kernel, result}) Add(one.tensor, one.dimension, groups);
    AddWithinGroups(count, kernel, result, true);
  }
  // The minor factor of `divided`, which `other` has too.
  void AddWithinGroups(int64_t count, TensorDimension divided, TensorDimension other, bool passes_through) {
    const int64_t size =
        op_.operand(static_cast<int64_t>(divided.tensor))->shape().dimensions(divided.dimension) / count;
    if (size == 1) return;
    const int within = New(size, passes_through);
    for (const TensorDimension& one : {divided, other}) Add(one.tensor, one.dimension, within);
  }

  void AddTensor(const Shape& shape) { rule_.tensors.emplace_back(shape.IsArray() ? shape.rank() : 0); }

  // The order along the only dimension of a sort is not that of the shards, nor are the frequencies of half a spectrum
  // in those of its signal.
  bool MayResemble(int64_t d) const {
    if (op_.opcode() == HloOpcode::kFft) return op_.shape().dimensions(d) == op_.operand(0)->shape().dimensions(d);
    if (op_.opcode() != HloOpcode::kSort) return true;
    const Shape& shape = op_.operand(0)->shape();
    for (int64_t other = 0; other < shape.rank(); ++other) {
      if (other != d && shape.dimensions(other) != 1) return true;
    }
    return false;
  }

  const HloInstruction& op_;
  ShardingRule rule_;
};

}  // namespace

ShardingRule ShardingRuleOf(const HloInstruction& op, const OpFactors& factors) {
  RuleBuilder rule(op);
  if (op.opcode() == HloOpcode::kReshape) {
    rule.AddReshape();
    return rule.Take();
  }
  rule.AddFactors(factors);
  const bool all = kResemblesAll.contains(op.opcode());
  // One from constant indices is a slice.
  if (op.opcode() == HloOpcode::kDynamicSlice &&
      absl::c_all_of(op.operands().subspan(1), [](const HloInstruction* start) { return start->IsConstant(); }))
    rule.AddResembling(1);
  if (all || kResembles[op.opcode()] > 0)
    rule.AddResembling(all ? rule.operands() : static_cast<size_t>(kResembles[op.opcode()]));
  if (op.opcode() == HloOpcode::kReduce) rule.AddReduced();
  if (op.opcode() == HloOpcode::kConvolution) rule.AddConvolution();
  if (op.opcode() == HloOpcode::kScatter) rule.AddScatter();
  if (op.opcode() == HloOpcode::kTriangularSolve) rule.AddTriangularSolve();
  return rule.Take();
}

std::optional<TileAssignment> ReshapedTiles(const Shape& from, const TileAssignment& tiles, const Shape& to,
                                            int64_t devices) {
  std::vector<TileCut> rest, cuts(to.rank());
  for (int64_t d = 0; d < from.rank(); ++d) rest.push_back(CutOfDimension(tiles, d));
  std::vector<bool> is_complete(to.rank(), true);  // the cut of a dimension may go on with the next factor
  for (const ReshapeFactor& factor : FactorsOfReshape(from, to)) {
    if (factor.from == ReshapeFactor::kNone) {
      is_complete[factor.to] = false;
      continue;
    }
    TileCut& cut = rest[factor.from];
    if (factor.to == ReshapeFactor::kNone) {
      if (cut.count > 1) return std::nullopt;
      continue;
    }
    const int64_t count = std::gcd(cut.count, factor.size);
    if (count != 1 && !is_complete[factor.to]) return std::nullopt;
    if (count < factor.size) {
      is_complete[factor.to] = false;
      if (count < cut.count) return std::nullopt;
    }
    cuts[factor.to] = Nested(cuts[factor.to], PrefixOf(cut, count));
    cut = RestOf(cut, count);
  }
  if (absl::c_any_of(rest, [](const TileCut& cut) { return cut.count > 1; })) return std::nullopt;
  return TilesOfCuts(cuts, devices);
}

ShardingRule IdentityRule(const Shape& shape, size_t tensors) {
  ShardingRule rule;
  rule.tensors.resize(tensors, std::vector<std::vector<int>>(shape.rank()));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    rule.factors.push_back({shape.dimensions(d), true});
    for (auto& tensor : rule.tensors) tensor[d].push_back(static_cast<int>(d));
  }
  return rule;
}

}  // namespace hilo
