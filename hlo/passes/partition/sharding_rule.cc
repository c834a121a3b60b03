#include "hlo/passes/partition/sharding_rule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/ops/linalg/convolution_attributes.h"
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
    {HloOpcode::kReduceWindow, 1},
    {HloOpcode::kReverse, 1},
    {HloOpcode::kScatter, 1},
    {HloOpcode::kSlice, 1},
    {HloOpcode::kTriangularSolve, 0},
    {HloOpcode::kSelectAndScatter, 1},
};
constexpr OpcodeSet kResemblesAll = {HloOpcode::kConcatenate, HloOpcode::kSort};

// A factor of dimension `from` of one shape and of dimension `to` of another one with as many elements.
struct SharedFactor {
  int64_t from, to, size;
};

// Sizes are factored alike on both sides, [16] and [2,8] as 2 and 8. Dimensions of which only the product is shared
// have none.
std::vector<SharedFactor> SharedFactors(const Shape& from, const Shape& to) {
  std::vector<SharedFactor> factors;
  if (ShapeUtil::ElementsIn(from) == 0) return factors;
  int64_t i = 0, j = 0, a = 1, b = 1;  // a, b: what is left of dimensions i and j
  while (true) {
    while (a == 1 && i < from.rank() && (a = from.dimensions(i)) == 1) ++i;
    while (b == 1 && j < to.rank() && (b = to.dimensions(j)) == 1) ++j;
    if (i >= from.rank() || j >= to.rank()) return factors;
    const int64_t size = std::min(a, b);
    if (a % size == 0 && b % size == 0) {
      factors.push_back({i, j, size});
      a /= size;
      b /= size;
    } else {
      while (a != b) {
        if (a < b ? ++i == from.rank() : ++j == to.rank()) return factors;
        (a < b ? a : b) *= a < b ? from.dimensions(i) : to.dimensions(j);
      }
      a = b = 1;
    }
    if (a == 1) ++i;
    if (b == 1) ++j;
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
      const int factor = New(result.dimensions(d), false);
      for (size_t i = 0; i < results(); ++i) Add(operands() + i, d, factor);
      for (size_t i = 0; i < std::min(count, operands()); ++i) {
        if (op_.operand(static_cast<int64_t>(i))->shape().rank() == result.rank() && !Has(i, d)) Add(i, d, factor);
      }
    }
  }

  void AddReshape() {
    for (const SharedFactor& shared : SharedFactors(op_.operand(0)->shape(), op_.shape())) {
      const int factor = New(shared.size, true);
      Add(0, shared.from, factor);
      Add(1, shared.to, factor);
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
      const int64_t positions = op_.shape().dimensions(output), size = op_.operand(0)->shape().dimensions(input);
      if (positions < op_.operand(1)->shape().dimensions(labels.kernel_spatial_dimensions(i))) continue;
      const int windows = New(std::min(positions, size), false);
      Add(0, input, windows);
      Add(2, output, windows);
    }
  }

  ShardingRule Take() { return std::move(rule_); }

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

  // The order along the only dimension of a sort is not that of the shards.
  bool MayResemble(int64_t d) const {
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
  return rule.Take();
}

std::optional<TileAssignment> ReshapedTiles(const Shape& from, const TileAssignment& tiles, const Shape& to,
                                            int64_t devices) {
  std::vector<TileCut> rest, cuts(to.rank());
  for (int64_t d = 0; d < from.rank(); ++d) rest.push_back(CutOfDimension(tiles, d));
  std::vector<bool> is_complete(to.rank(), true);  // the cut of a dimension may go on with the next factor
  for (const SharedFactor& factor : SharedFactors(from, to)) {
    TileCut& cut = rest[factor.from];
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
