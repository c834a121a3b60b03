#include "hlo/passes/partition/op_factors.h"

#include "absl/algorithm/container.h"
#include "hilo/literal.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

constexpr int kNone = OpFactors::kNone;

int64_t RankOf(const Shape& shape) { return shape.IsArray() ? shape.rank() : 0; }

// The arrays of the result, which is one or a tuple of them.
const Shape& FirstArray(const Shape& shape) { return shape.IsTuple() ? shape.tuple_shapes(0) : shape; }

// Begins with nothing that may be cut.
class FactorBuilder {
 public:
  explicit FactorBuilder(const HloInstruction& op) : op_(op) {
    for (const HloInstruction* operand : op.operands()) factors_.operands.emplace_back(RankOf(operand->shape()), kNone);
    factors_.result.assign(RankOf(FirstArray(op.shape())), kNone);
  }

  int New() { return factors_.count++; }
  void Operand(int64_t operand, int64_t dimension, int factor) { factors_.operands[operand][dimension] = factor; }
  void Result(int64_t dimension, int factor) { factors_.result[dimension] = factor; }
  // One factor for a dimension of an operand and of the result.
  void Pair(int64_t operand, int64_t dimension, int64_t result) {
    const int factor = New();
    Operand(operand, dimension, factor);
    Result(result, factor);
  }
  void Combine(int factor, HloOpcode combiner) {
    factors_.combined.push_back(factor);
    factors_.combiner = combiner;
  }
  // Dimension d of the result is dimension d of all operands of that rank, for those that `may` be cut.
  template <typename May>
  void Alike(const May& may) {
    for (int64_t d = 0; d < static_cast<int64_t>(factors_.result.size()); ++d) {
      if (!may(d)) continue;
      const int factor = New();
      Result(d, factor);
      for (int64_t i = 0; i < op_.operand_count(); ++i) {
        if (factors_.operands[i].size() == factors_.result.size()) Operand(i, d, factor);
      }
    }
  }
  OpFactors Take() { return std::move(factors_); }

 private:
  const HloInstruction& op_;
  OpFactors factors_;
};

bool IsTrivial(const Window::Dimension& window) { return window == Window::Dimension(); }

// Dimensions belong together where the products of sizes before them are equal: then sharding one shards the
// other, as they are the most major of their group.
void ReshapeFactors(const Shape& from, const Shape& to, FactorBuilder* factors) {
  int64_t i = 0, j = 0;
  while (i < from.rank() && j < to.rank()) {
    if (from.dimensions(i) == 1 && to.dimensions(j) != 1) {
      ++i;
      continue;
    }
    if (to.dimensions(j) == 1 && from.dimensions(i) != 1) {
      ++j;
      continue;
    }
    factors->Pair(0, i, j);
    int64_t a = from.dimensions(i++), b = to.dimensions(j++);
    while (a != b) {
      if (a < b ? i >= from.rank() : j >= to.rank()) return;
      if (a < b) {
        a *= from.dimensions(i++);
      } else {
        b *= to.dimensions(j++);
      }
    }
  }
}

// Returns the op by which partitions combine the parts of a reduction that each made from `start`, if `start` leaves
// them as they are.
std::optional<HloOpcode> CombinerOf(const HloComputation& computation, const HloInstruction& start) {
  const std::optional<HloOpcode> op = ReductionOp(computation);
  if (!op.has_value() || !start.IsConstant() || !start.shape().IsScalar()) return std::nullopt;
  const PrimitiveType type = start.shape().element_type();
  const bool is_logical = op == HloOpcode::kAnd || op == HloOpcode::kOr,
             is_number = op == HloOpcode::kAdd || op == HloOpcode::kMultiply;
  if (op == HloOpcode::kXor || (type == PRED ? is_number : is_logical)) return std::nullopt;
  // A sum from 0 is good enough: only a sum of nothing but -0 shows it.
  const std::optional<Literal> identity = op == HloOpcode::kAdd ? LiteralUtil::Zero(type) : IdentityOf(*op, type);
  return identity.has_value() && start.literal() == *identity ? op : std::nullopt;
}

void ReduceFactors(const HloInstruction& reduce, FactorBuilder* factors) {
  const std::vector<int64_t>& reduced = reduce.attrs<ReduceAttrs>().dimensions;
  const int64_t arrays = reduce.operand_count() / 2;
  std::optional<HloOpcode> combiner;
  if (arrays == 1) combiner = CombinerOf(*reduce.called_computation(), *reduce.operand(1));
  int64_t result = 0;
  for (int64_t d = 0; d < reduce.operand(0)->shape().rank(); ++d) {
    if (absl::c_linear_search(reduced, d)) {
      if (!combiner.has_value()) continue;
      const int factor = factors->New();
      factors->Operand(0, d, factor);
      factors->Combine(factor, *combiner);
    } else {
      const int factor = factors->New();
      for (int64_t i = 0; i < arrays; ++i) factors->Operand(i, d, factor);
      factors->Result(result++, factor);
    }
  }
}

void DotFactors(const HloInstruction& dot, FactorBuilder* factors) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  int64_t result = 0;
  for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i) {
    const int factor = factors->New();
    factors->Operand(0, attrs.lhs_batch_dims[i], factor);
    factors->Operand(1, attrs.rhs_batch_dims[i], factor);
    factors->Result(result++, factor);
  }
  for (int64_t side : {0, 1}) {
    const auto& batch = side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
    const auto& contracting = side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
    for (int64_t d = 0; d < dot.operand(side)->shape().rank(); ++d) {
      if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(contracting, d)) factors->Pair(side, d, result++);
    }
  }
  for (size_t i = 0; i < attrs.lhs_contracting_dims.size(); ++i) {
    const int factor = factors->New();
    factors->Operand(0, attrs.lhs_contracting_dims[i], factor);
    factors->Operand(1, attrs.rhs_contracting_dims[i], factor);
    factors->Combine(factor, HloOpcode::kAdd);
  }
}

void ConvolutionFactors(const HloInstruction& convolution, FactorBuilder* factors) {
  const ConvolutionAttrs& attrs = convolution.attrs<ConvolutionAttrs>();
  const ConvolutionDimensionNumbers& labels = attrs.dim_labels;
  if (attrs.batch_group_count != 1) return;
  factors->Pair(0, labels.input_batch_dimension(), labels.output_batch_dimension());
  if (attrs.feature_group_count != 1) return;
  factors->Pair(1, labels.kernel_output_feature_dimension(), labels.output_feature_dimension());
  const int contracted = factors->New();
  factors->Operand(0, labels.input_feature_dimension(), contracted);
  factors->Operand(1, labels.kernel_input_feature_dimension(), contracted);
  factors->Combine(contracted, HloOpcode::kAdd);
}

void GatherFactors(const HloInstruction& gather, FactorBuilder* factors) {
  const GatherAttrs& attrs = gather.attrs<GatherAttrs>();
  const Shape& operand = gather.operand(0)->shape();
  const Shape& indices = gather.operand(1)->shape();
  int64_t offset = 0, batch = 0;
  for (int64_t result = 0; result < gather.shape().rank(); ++result) {
    const int factor = factors->New();
    if (absl::c_linear_search(attrs.offset_dims, result)) {
      while (absl::c_linear_search(attrs.collapsed_slice_dims, offset) ||
             absl::c_linear_search(attrs.operand_batching_dims, offset))
        ++offset;
      if (attrs.slice_sizes[offset] == operand.dimensions(offset)) {
        factors->Operand(0, offset, factor);
        factors->Result(result, factor);
      }
      ++offset;
      continue;
    }
    if (batch == attrs.index_vector_dim) ++batch;
    if (batch >= indices.rank()) return;
    factors->Operand(1, batch, factor);
    factors->Result(result, factor);
    const auto batching = absl::c_find(attrs.start_indices_batching_dims, batch);
    if (batching != attrs.start_indices_batching_dims.end())
      factors->Operand(0, attrs.operand_batching_dims[batching - attrs.start_indices_batching_dims.begin()], factor);
    ++batch;
  }
}

void ScatterFactors(const HloInstruction& scatter, FactorBuilder* factors) {
  const ScatterAttrs& attrs = scatter.attrs<ScatterAttrs>();
  const Shape& operand = scatter.operand(0)->shape();
  const Shape& updates = scatter.operand(2)->shape();
  int64_t window = 0, indices = 0;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    int64_t in_operand = -1;
    if (absl::c_linear_search(attrs.update_window_dims, d)) {
      while (absl::c_linear_search(attrs.inserted_window_dims, window) ||
             absl::c_linear_search(attrs.input_batching_dims, window))
        ++window;
      if (updates.dimensions(d) == operand.dimensions(window)) in_operand = window;
      ++window;
      if (in_operand < 0) continue;
    }
    const int factor = factors->New();
    if (in_operand < 0) {
      if (indices == attrs.index_vector_dim) ++indices;
      const auto batching = absl::c_find(attrs.scatter_indices_batching_dims, indices);
      if (batching != attrs.scatter_indices_batching_dims.end()) {
        in_operand = attrs.input_batching_dims[batching - attrs.scatter_indices_batching_dims.begin()];
        factors->Operand(1, indices, factor);
      }
      ++indices;
      if (in_operand < 0) continue;
    }
    factors->Operand(0, in_operand, factor);
    factors->Operand(2, d, factor);
    factors->Result(in_operand, factor);
  }
}

// Leading dimensions that the op treats each on its own.
void BatchFactors(int64_t own_dimensions, FactorBuilder* factors, const Shape& shape) {
  factors->Alike([&](int64_t d) { return d < shape.rank() - own_dimensions; });
}

}  // namespace

std::optional<OpFactors> FactorsOf(const HloInstruction& op) {
  if (op.HasSideEffect() || op.operand_count() == 0 || !op.control_predecessors().empty() ||
      !op.control_successors().empty())
    return std::nullopt;
  if (op.shape().IsTuple()
          ? op.opcode() != HloOpcode::kReduce && op.opcode() != HloOpcode::kSort && op.opcode() != HloOpcode::kTopK
          : !op.shape().IsArray())
    return std::nullopt;
  for (const HloInstruction* operand : op.operands()) {
    if (!operand->shape().IsArray() || !operand->shape().is_static()) return std::nullopt;
  }
  FactorBuilder factors(op);
  const Shape& result = FirstArray(op.shape());
  if (IsElementwise(op.opcode())) {
    factors.Alike([](int64_t) { return true; });
    return factors.Take();
  }
  const Shape& first = op.operand(0)->shape();
  switch (op.opcode()) {
    case HloOpcode::kBroadcast: {
      const std::vector<int64_t>& dimensions = op.attrs<BroadcastAttrs>().dimensions;
      for (size_t i = 0; i < dimensions.size(); ++i) factors.Pair(0, static_cast<int64_t>(i), dimensions[i]);
      break;
    }
    case HloOpcode::kTranspose: {
      const std::vector<int64_t>& dimensions = op.attrs<TransposeAttrs>().dimensions;
      for (size_t i = 0; i < dimensions.size(); ++i) factors.Pair(0, dimensions[i], static_cast<int64_t>(i));
      break;
    }
    case HloOpcode::kReshape: ReshapeFactors(first, result, &factors); break;
    case HloOpcode::kReduce: ReduceFactors(op, &factors); break;
    case HloOpcode::kDot: DotFactors(op, &factors); break;
    case HloOpcode::kConvolution: ConvolutionFactors(op, &factors); break;
    case HloOpcode::kGather: GatherFactors(op, &factors); break;
    case HloOpcode::kScatter:
      if (op.operand_count() != 3) return std::nullopt;
      ScatterFactors(op, &factors);
      break;
    case HloOpcode::kConcatenate:
      factors.Alike([&](int64_t d) { return d != op.attrs<ConcatenateAttrs>().dimensions[0]; });
      break;
    case HloOpcode::kReverse:
      factors.Alike([&](int64_t d) { return !absl::c_linear_search(op.attrs<ReverseAttrs>().dimensions, d); });
      break;
    case HloOpcode::kSort: factors.Alike([&](int64_t d) { return d != op.attrs<SortAttrs>().dimensions[0]; }); break;
    case HloOpcode::kSlice:
      factors.Alike(
          [&](int64_t d) { return op.attrs<SliceAttrs>().slice[d] == SliceRange{0, first.dimensions(d), 1}; });
      break;
    case HloOpcode::kPad: {
      const std::vector<PaddingConfig::Dimension>& padding = op.attrs<PadAttrs>().padding.dimensions;
      factors.Alike([&](int64_t d) {
        return padding[d].edge_padding_low == 0 && padding[d].edge_padding_high == 0 &&
               padding[d].interior_padding == 0;
      });
      break;
    }
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice: {
      if (!op.operand(op.operand_count() - 1)->shape().IsScalar())
        return std::nullopt;  // the old form, all starts in one array
      const Shape& part = op.opcode() == HloOpcode::kDynamicSlice ? result : op.operand(1)->shape();
      factors.Alike([&](int64_t d) { return part.dimensions(d) == first.dimensions(d); });
      break;
    }
    case HloOpcode::kReduceWindow:
      if (op.operand_count() != 2) return std::nullopt;
      factors.Alike([&](int64_t d) { return IsTrivial(op.attrs<ReduceWindowAttrs>().window.dimensions[d]); });
      break;
    case HloOpcode::kSelectAndScatter:
      factors.Alike([&](int64_t d) { return IsTrivial(op.attrs<SelectAndScatterAttrs>().window.dimensions[d]); });
      break;
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve: BatchFactors(2, &factors, result); break;
    case HloOpcode::kFft:
      BatchFactors(static_cast<int64_t>(op.attrs<FftAttrs>().fft_length.size()), &factors, result);
      break;
    case HloOpcode::kTopK: BatchFactors(1, &factors, result); break;
    default: return std::nullopt;
  }
  return factors.Take();
}

std::optional<int64_t> OperandAlike(const HloInstruction& op, absl::FunctionRef<bool(int64_t)> is_cut) {
  int64_t candidates = 0;
  switch (op.opcode()) {
    case HloOpcode::kFft:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kPad:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReverse:
    case HloOpcode::kScatter:
    case HloOpcode::kSlice: candidates = 1; break;
    case HloOpcode::kDynamicUpdateSlice: candidates = 2; break;
    case HloOpcode::kConcatenate:
    case HloOpcode::kSort: candidates = op.operand_count(); break;
    default: return std::nullopt;
  }
  for (int64_t i = 0; i < candidates; ++i) {
    if (is_cut(i)) return i;
  }
  return std::nullopt;
}

void SetTileSizes(const OpFactors& factors, HloInstruction* tile) {
  const auto is_cut_alike = [&](int64_t d) { return factors.operands[0][d] != kNone; };
  const Shape& operand = tile->operand(0)->shape();
  switch (tile->opcode()) {
    case HloOpcode::kSlice:
      for (int64_t d = 0; d < operand.rank(); ++d) {
        if (is_cut_alike(d)) tile->mutable_attrs<SliceAttrs>().slice[d].limit = operand.dimensions(d);
      }
      return;
    case HloOpcode::kDynamicSlice:
      for (int64_t d = 0; d < operand.rank(); ++d)
        tile->mutable_attrs<DynamicSliceAttrs>().dynamic_slice_sizes[d] = tile->shape().dimensions(d);
      return;
    case HloOpcode::kGather: {
      GatherAttrs& attrs = tile->mutable_attrs<GatherAttrs>();
      for (int64_t d = 0; d < operand.rank(); ++d) {
        if (is_cut_alike(d) && !absl::c_linear_search(attrs.operand_batching_dims, d))
          attrs.slice_sizes[d] = operand.dimensions(d);
      }
      return;
    }
    default: return;
  }
}

}  // namespace hilo
