#include "hlo/passes/partition/op_factors.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "hilo/literal.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

constexpr int kNone = OpFactors::kNone;

int64_t RankOf(const Shape& shape) { return shape.IsArray() ? shape.rank() : 0; }

// The arrays of the result, which is one or a tuple of them.
const Shape& FirstArray(const Shape& shape) { return shape.IsTuple() ? shape.tuple_shapes(0) : shape; }

// Whether the shape is a tuple of one or more arrays.
bool HasArrays(const Shape& shape) {
  if (!shape.IsTuple() || shape.tuple_shapes_size() == 0) return false;
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    if (!shape.tuple_shapes(i).IsArray()) return false;
  }
  return true;
}

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
bool ReshapeFactors(const HloInstruction& reshape, FactorBuilder* factors) {
  const Shape &from = reshape.operand(0)->shape(), &to = reshape.shape();
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
      if (a < b ? i >= from.rank() : j >= to.rank()) return true;
      if (a < b) {
        a *= from.dimensions(i++);
      } else {
        b *= to.dimensions(j++);
      }
    }
  }
  return true;
}

bool ReduceFactors(const HloInstruction& reduce, FactorBuilder* factors) {
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
  return true;
}

bool DotFactors(const HloInstruction& dot, FactorBuilder* factors) {
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
  return true;
}

bool ConvolutionFactors(const HloInstruction& convolution, FactorBuilder* factors) {
  const ConvolutionAttrs& attrs = convolution.attrs<ConvolutionAttrs>();
  const ConvolutionDimensionNumbers& labels = attrs.dim_labels;
  // Groups are divided as windows are (visit_windows.cc).
  const bool has_batch_groups = attrs.batch_group_count != 1;
  if (!has_batch_groups) factors->Pair(0, labels.input_batch_dimension(), labels.output_batch_dimension());
  if (attrs.feature_group_count != 1) return true;
  if (!has_batch_groups) factors->Pair(1, labels.kernel_output_feature_dimension(), labels.output_feature_dimension());
  const int contracted = factors->New();
  factors->Operand(0, labels.input_feature_dimension(), contracted);
  factors->Operand(1, labels.kernel_input_feature_dimension(), contracted);
  factors->Combine(contracted, HloOpcode::kAdd);
  return true;
}

bool GatherFactors(const HloInstruction& gather, FactorBuilder* factors) {
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
    if (batch >= indices.rank()) return true;
    factors->Operand(1, batch, factor);
    factors->Result(result, factor);
    const auto batching = absl::c_find(attrs.start_indices_batching_dims, batch);
    if (batching != attrs.start_indices_batching_dims.end())
      factors->Operand(0, attrs.operand_batching_dims[batching - attrs.start_indices_batching_dims.begin()], factor);
    ++batch;
  }
  return true;
}

bool ScatterFactors(const HloInstruction& scatter, FactorBuilder* factors) {
  if (scatter.operand_count() != 3) return false;
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
  return true;
}

// Leading dimensions that the op treats each on its own.
void BatchFactors(int64_t own_dimensions, const HloInstruction& op, FactorBuilder* factors) {
  const int64_t rank = FirstArray(op.shape()).rank();
  factors->Alike([&](int64_t d) { return d < rank - own_dimensions; });
}

// Elements of other sizes are more or fewer along the last dimension, which only the array of the smaller ones has.
bool BitcastConvertFactors(const HloInstruction& op, FactorBuilder* factors) {
  const int64_t rank = std::min(op.operand(0)->shape().rank(), op.shape().rank());
  for (int64_t d = 0; d < rank; ++d) factors->Pair(0, d, d);
  return true;
}
bool BroadcastFactors(const HloInstruction& op, FactorBuilder* factors) {
  const std::vector<int64_t>& dimensions = op.attrs<BroadcastAttrs>().dimensions;
  for (size_t i = 0; i < dimensions.size(); ++i) factors->Pair(0, static_cast<int64_t>(i), dimensions[i]);
  return true;
}
bool TransposeFactors(const HloInstruction& op, FactorBuilder* factors) {
  const std::vector<int64_t>& dimensions = op.attrs<TransposeAttrs>().dimensions;
  for (size_t i = 0; i < dimensions.size(); ++i) factors->Pair(0, dimensions[i], static_cast<int64_t>(i));
  return true;
}
bool SliceFactors(const HloInstruction& op, FactorBuilder* factors) {
  const Shape& operand = op.operand(0)->shape();
  factors->Alike([&](int64_t d) { return op.attrs<SliceAttrs>().slice[d] == SliceRange{0, operand.dimensions(d), 1}; });
  return true;
}
bool PadFactors(const HloInstruction& op, FactorBuilder* factors) {
  const std::vector<PaddingConfig::Dimension>& padding = op.attrs<PadAttrs>().padding.dimensions;
  // With the same padding around each element, a tile of the result is a padded tile.
  factors->Alike([&](int64_t d) {
    const auto& [low, high, interior] = padding[d];
    return low >= 0 && high >= 0 && low + high == interior;
  });
  return true;
}
// Of dynamic-slice and dynamic-update-slice.
bool DynamicSliceFactors(const HloInstruction& op, FactorBuilder* factors) {
  if (!op.operand(op.operand_count() - 1)->shape().IsScalar()) return false;  // the old form, all starts in one array
  const Shape& whole = op.operand(0)->shape();
  const Shape& part = op.opcode() == HloOpcode::kDynamicSlice ? op.shape() : op.operand(1)->shape();
  factors->Alike([&](int64_t d) { return part.dimensions(d) == whole.dimensions(d); });
  return true;
}
bool ReduceWindowFactors(const HloInstruction& op, FactorBuilder* factors) {
  factors->Alike([&](int64_t d) { return IsTrivial(op.attrs<ReduceWindowAttrs>().window.dimensions[d]); });
  return true;
}
bool SelectAndScatterFactors(const HloInstruction& op, FactorBuilder* factors) {
  factors->Alike([&](int64_t d) { return IsTrivial(op.attrs<SelectAndScatterAttrs>().window.dimensions[d]); });
  return true;
}
bool ConcatenateFactors(const HloInstruction& op, FactorBuilder* factors) {
  factors->Alike([&](int64_t d) { return d != op.attrs<ConcatenateAttrs>().dimensions[0]; });
  return true;
}
bool ReverseFactors(const HloInstruction& op, FactorBuilder* factors) {
  factors->Alike([&](int64_t d) { return !absl::c_linear_search(op.attrs<ReverseAttrs>().dimensions, d); });
  return true;
}
bool SortFactors(const HloInstruction& op, FactorBuilder* factors) {
  factors->Alike([&](int64_t d) { return d != op.attrs<SortAttrs>().dimensions[0]; });
  return true;
}
bool MatrixFactors(const HloInstruction& op, FactorBuilder* factors) {
  BatchFactors(2, op, factors);
  return true;
}
bool FftFactors(const HloInstruction& op, FactorBuilder* factors) {
  BatchFactors(static_cast<int64_t>(op.attrs<FftAttrs>().fft_length.size()), op, factors);
  return true;
}
// What JAX states of its linear algebra: so many leading dimensions of all operands and results are of a batch.
bool CustomCallFactors(const HloInstruction& call, FactorBuilder* factors) {
  int64_t batch = 0;
  if (!absl::SimpleAtoi(
          FrontendAttribute(ExtraAttribute(call.extra_attributes(), "frontend_attributes"), "num_batch_dims"), &batch))
    return false;
  const Shape& first = call.operand(0)->shape();
  const std::vector<ShapeUtil::Leaf> results = ShapeUtil::Leaves(call.shape());
  const auto has_batch = [&](const Shape& shape) {
    if (!shape.IsArray() || shape.rank() < batch) return false;
    for (int64_t d = 0; d < batch; ++d) {
      if (shape.dimensions(d) != first.dimensions(d)) return false;
    }
    return true;
  };
  if (batch < 1 || !call.called_computations().empty() || !has_batch(first)) return false;
  for (const ShapeUtil::Leaf& leaf : results) {
    if (!has_batch(*leaf.shape)) return false;
  }
  for (int64_t d = 0; d < batch; ++d) {
    const int factor = factors->New();
    factors->Result(d, factor);
    for (int64_t i = 0; i < call.operand_count(); ++i) {
      if (!has_batch(call.operand(i)->shape())) return false;
      factors->Operand(i, d, factor);
    }
  }
  return true;
}
bool TopKFactors(const HloInstruction& op, FactorBuilder* factors) {
  BatchFactors(1, op, factors);
  return true;
}

// Returns false for a form of the op that is not divided.
using FactorRule = bool (*)(const HloInstruction& op, FactorBuilder* factors);

// Besides the element-wise ops.
constexpr OpcodeMap<FactorRule> kFactorRules = {
    {HloOpcode::kBitcastConvert, BitcastConvertFactors},
    {HloOpcode::kBroadcast, BroadcastFactors},
    {HloOpcode::kCholesky, MatrixFactors},
    {HloOpcode::kConcatenate, ConcatenateFactors},
    {HloOpcode::kConvolution, ConvolutionFactors},
    {HloOpcode::kCustomCall, CustomCallFactors},
    {HloOpcode::kDot, DotFactors},
    {HloOpcode::kDynamicSlice, DynamicSliceFactors},
    {HloOpcode::kDynamicUpdateSlice, DynamicSliceFactors},
    {HloOpcode::kFft, FftFactors},
    {HloOpcode::kGather, GatherFactors},
    {HloOpcode::kPad, PadFactors},
    {HloOpcode::kReduce, ReduceFactors},
    {HloOpcode::kReduceWindow, ReduceWindowFactors},
    {HloOpcode::kReshape, ReshapeFactors},
    {HloOpcode::kReverse, ReverseFactors},
    {HloOpcode::kScatter, ScatterFactors},
    {HloOpcode::kSelectAndScatter, SelectAndScatterFactors},
    {HloOpcode::kSlice, SliceFactors},
    {HloOpcode::kSort, SortFactors},
    {HloOpcode::kTopK, TopKFactors},
    {HloOpcode::kTranspose, TransposeFactors},
    {HloOpcode::kTriangularSolve, MatrixFactors},
};

// Ops that may have several results.
constexpr OpcodeSet kHasTuples = {HloOpcode::kCustomCall, HloOpcode::kReduce, HloOpcode::kReduceWindow,
                                  HloOpcode::kSort, HloOpcode::kTopK};

}  // namespace

bool MayCombineParts(HloOpcode op, PrimitiveType type) {
  const bool is_logical = op == HloOpcode::kAnd || op == HloOpcode::kOr,
             is_number = op == HloOpcode::kAdd || op == HloOpcode::kMultiply;
  return op != HloOpcode::kXor && !(type == PRED ? is_number : is_logical);
}

bool IsPartStart(HloOpcode op, const HloInstruction& start) {
  const HloInstruction& value = start.opcode() == HloOpcode::kBroadcast ? *start.operand(0) : start;
  if (!value.IsConstant() || !value.shape().IsScalar()) return false;
  const PrimitiveType type = value.shape().element_type();
  // A sum from 0 is good enough: only a sum of nothing but -0 shows it.
  const std::optional<Literal> identity = op == HloOpcode::kAdd ? LiteralUtil::Zero(type) : IdentityOf(op, type);
  return identity.has_value() && value.literal() == *identity;
}

std::optional<HloOpcode> CombinerOf(const HloComputation& computation, const HloInstruction& start) {
  const std::optional<HloOpcode> op = ReductionOp(computation);
  if (!op.has_value() || !MayCombineParts(*op, start.shape().element_type()) || !IsPartStart(*op, start))
    return std::nullopt;
  return op;
}

std::vector<HloOpcode> OpsOfArrays(const HloInstruction& reduce) {
  const HloInstruction& root = *reduce.called_computation()->root_instruction();
  const int64_t count = reduce.operand_count() / 2;
  if (count == 1) return MayReorder(reduce, /*strict=*/false) ? std::vector{root.opcode()} : std::vector<HloOpcode>();
  std::vector<HloOpcode> ops;
  for (int64_t i = 0; i < count && MayReorderEach(reduce, /*strict=*/false); ++i)
    ops.push_back(root.operand(i)->opcode());
  return ops;
}

std::optional<OpFactors> FactorsOf(const HloInstruction& op) {
  if (op.HasSideEffect() || op.operand_count() == 0 || op.HasControlDependencies()) return std::nullopt;
  if (!op.shape().IsArray() && !(HasArrays(op.shape()) && kHasTuples.contains(op.opcode()))) return std::nullopt;
  for (const HloInstruction* operand : op.operands()) {
    if (!operand->shape().IsArray() || !operand->shape().is_static()) return std::nullopt;
  }
  FactorBuilder factors(op);
  if (IsElementwise(op.opcode())) {
    factors.Alike([](int64_t) { return true; });
    return factors.Take();
  }
  const FactorRule rule = kFactorRules[op.opcode()];
  if (rule == nullptr || !rule(op, &factors)) return std::nullopt;
  return factors.Take();
}

void SetTileSizes(const OpFactors& factors, HloInstruction* tile) {
  const auto is_cut_alike = [&](int64_t d) { return factors.operands[0][d] != kNone; };
  const Shape& operand = tile->operand(0)->shape();
  if (tile->opcode() == HloOpcode::kSlice) {
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (is_cut_alike(d)) tile->mutable_attrs<SliceAttrs>().slice[d].limit = operand.dimensions(d);
    }
  } else if (tile->opcode() == HloOpcode::kDynamicSlice) {
    for (int64_t d = 0; d < operand.rank(); ++d)
      tile->mutable_attrs<DynamicSliceAttrs>().dynamic_slice_sizes[d] = tile->shape().dimensions(d);
  } else if (tile->opcode() == HloOpcode::kGather) {
    GatherAttrs& attrs = tile->mutable_attrs<GatherAttrs>();
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (is_cut_alike(d) && !absl::c_linear_search(attrs.operand_batching_dims, d))
        attrs.slice_sizes[d] = operand.dimensions(d);
    }
  } else if (tile->opcode() == HloOpcode::kCustomCall) {
    OperandLayouts& layouts = tile->mutable_attrs<CustomCallAttrs>().operand_layout_constraints;
    for (size_t i = 0; layouts.shapes.has_value() && i < layouts.shapes->size(); ++i) {
      Shape& shape = (*layouts.shapes)[i];
      for (int64_t d = 0; d < shape.rank(); ++d)
        shape.set_dimensions(d, tile->operand(static_cast<int64_t>(i))->shape().dimensions(d));
    }
  }
}

}  // namespace hilo
