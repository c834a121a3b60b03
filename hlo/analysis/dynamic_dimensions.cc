#include "hlo/analysis/dynamic_dimensions.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "base/errors.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

bool Contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Collects the flows of one instruction.
class Flows {
 public:
  explicit Flows(const HloInstruction& instruction) : instruction_(instruction) {}

  void Add(int64_t operand, int64_t operand_dimension, int64_t dimension, int64_t leaf = 0) {
    flows_.push_back({operand, operand_dimension, leaf, dimension});
  }
  const Shape& Operand(int64_t i) const { return instruction_.operand(i)->shape(); }
  const Shape& Leaf(int64_t leaf) const {
    return instruction_.shape().IsTuple() ? instruction_.shape().tuple_shapes(leaf) : instruction_.shape();
  }
  int64_t leaves() const { return instruction_.shape().IsTuple() ? instruction_.shape().tuple_shapes_size() : 1; }
  // All dimensions but one, from operand `operand` to leaf `leaf`.
  void Same(int64_t operand, int64_t leaf = 0, int64_t except = -1) {
    if (!Operand(operand).IsArray() || Operand(operand).rank() != Leaf(leaf).rank()) return;
    for (int64_t d = 0; d < Leaf(leaf).rank(); ++d) {
      if (d != except) Add(operand, d, d, leaf);
    }
  }
  std::vector<DimensionFlow> Take() { return std::move(flows_); }

  void Gather() {
    const auto& attrs = instruction_.attrs<GatherAttrs>();
    int64_t next_offset = 0, next_batch = 0;
    for (int64_t d = 0; d < Leaf(0).rank(); ++d) {
      if (Contains(attrs.offset_dims, d)) {
        while (Contains(attrs.collapsed_slice_dims, next_offset) || Contains(attrs.operand_batching_dims, next_offset))
          ++next_offset;
        if (attrs.slice_sizes[next_offset] == Operand(0).dimensions(next_offset)) Add(0, next_offset, d);
        ++next_offset;
      } else {
        if (next_batch == attrs.index_vector_dim) ++next_batch;
        Add(1, next_batch++, d);
      }
    }
  }
  void Dot() {
    const auto& attrs = instruction_.attrs<DotAttrs>();
    int64_t next = 0;
    for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i, ++next) {
      Add(0, attrs.lhs_batch_dims[i], next);
      Add(1, attrs.rhs_batch_dims[i], next);
    }
    for (int64_t d = 0; d < Operand(0).rank(); ++d) {
      if (!Contains(attrs.lhs_batch_dims, d) && !Contains(attrs.lhs_contracting_dims, d)) Add(0, d, next++);
    }
    for (int64_t d = 0; d < Operand(1).rank(); ++d) {
      if (!Contains(attrs.rhs_batch_dims, d) && !Contains(attrs.rhs_contracting_dims, d)) Add(1, d, next++);
    }
  }
  void Reduce() {
    const int64_t arrays = instruction_.operand_count() / 2;
    for (int64_t leaf = 0; leaf < leaves(); ++leaf) {
      for (int64_t operand = 0; operand < arrays; ++operand) {
        int64_t next = 0;
        for (int64_t d = 0; d < Operand(operand).rank(); ++d) {
          if (!Contains(instruction_.attrs<ReduceAttrs>().dimensions, d)) Add(operand, d, next++, leaf);
        }
      }
    }
  }
  void Broadcast() {
    const auto& dimensions = instruction_.attrs<BroadcastAttrs>().dimensions;
    for (size_t d = 0; d < dimensions.size(); ++d) Add(0, static_cast<int64_t>(d), dimensions[d]);
  }
  void Transpose() {
    const auto& dimensions = instruction_.attrs<TransposeAttrs>().dimensions;
    for (size_t d = 0; d < dimensions.size(); ++d) Add(0, dimensions[d], static_cast<int64_t>(d));
  }
  // A part of a dynamic dimension is static: elements beyond the size are sliced like the rest.
  void Slice() {
    for (int64_t d = 0; d < Leaf(0).rank(); ++d) {
      if (IsWhole(d) && instruction_.attrs<SliceAttrs>().slice[d].stride == 1) Add(0, d, d);
    }
  }
  void DynamicSlice() {
    for (int64_t d = 0; d < Leaf(0).rank(); ++d) {
      if (IsWhole(d)) Add(0, d, d);
    }
  }
  void BitcastConvert() {
    const int64_t common = std::min(Operand(0).rank(), Leaf(0).rank());
    for (int64_t d = 0; d < common; ++d) Add(0, d, d);
  }
  void Pad() {
    for (int64_t d = 0; d < Leaf(0).rank(); ++d) {
      if (instruction_.attrs<PadAttrs>().padding.dimensions[d] == PaddingConfig::Dimension()) Add(0, d, d);
    }
  }
  void Concatenate() {
    for (int64_t i = 0; i < instruction_.operand_count(); ++i)
      Same(i, 0, instruction_.attrs<ConcatenateAttrs>().dimensions[0]);
  }
  void ReduceWindow() {
    const auto& window = instruction_.attrs<ReduceWindowAttrs>().window.dimensions;
    for (int64_t leaf = 0; leaf < leaves(); ++leaf) {
      for (size_t d = 0; d < window.size(); ++d) {
        if (window[d] == Window::Dimension()) Add(leaf, static_cast<int64_t>(d), static_cast<int64_t>(d), leaf);
      }
    }
  }
  void SameAsFirst() { Same(0); }
  void SameAsSecond() { Same(1); }
  // Leaf i is as operand i.
  void SameForEach() {
    for (int64_t leaf = 0; leaf < leaves(); ++leaf) Same(leaf, leaf);
  }
  void TopK() {
    for (int64_t leaf = 0; leaf < leaves(); ++leaf) Same(0, leaf, Operand(0).rank() - 1);
  }
  void Convolution() {
    const auto& attrs = instruction_.attrs<ConvolutionAttrs>();
    const auto& labels = attrs.dim_labels;
    if (attrs.batch_group_count != 1) return;
    Add(0, labels.input_batch_dimension(), labels.output_batch_dimension());
    if (attrs.feature_group_count == 1)
      Add(1, labels.kernel_output_feature_dimension(), labels.output_feature_dimension());
  }

 private:
  bool IsWhole(int64_t d) const { return Operand(0).dimensions(d) == Leaf(0).dimensions(d); }

  const HloInstruction& instruction_;
  std::vector<DimensionFlow> flows_;
};

using FlowRule = void (Flows::*)();
// Besides the element-wise ops.
constexpr OpcodeMap<FlowRule> kFlowRules = {
    {HloOpcode::kBitcastConvert, &Flows::BitcastConvert},
    {HloOpcode::kBroadcast, &Flows::Broadcast},
    {HloOpcode::kCholesky, &Flows::SameAsFirst},
    {HloOpcode::kConcatenate, &Flows::Concatenate},
    {HloOpcode::kConvolution, &Flows::Convolution},
    {HloOpcode::kDot, &Flows::Dot},
    {HloOpcode::kDynamicSlice, &Flows::DynamicSlice},
    {HloOpcode::kDynamicUpdateSlice, &Flows::SameAsFirst},
    {HloOpcode::kGather, &Flows::Gather},
    {HloOpcode::kPad, &Flows::Pad},
    {HloOpcode::kReduce, &Flows::Reduce},
    {HloOpcode::kReduceWindow, &Flows::ReduceWindow},
    {HloOpcode::kReverse, &Flows::SameAsFirst},
    {HloOpcode::kScatter, &Flows::SameForEach},
    {HloOpcode::kSelectAndScatter, &Flows::SameAsFirst},
    {HloOpcode::kSlice, &Flows::Slice},
    {HloOpcode::kSort, &Flows::SameForEach},
    {HloOpcode::kTopK, &Flows::TopK},
    {HloOpcode::kTranspose, &Flows::Transpose},
    {HloOpcode::kTriangularSolve, &Flows::SameAsSecond},
};

bool ReadsOrSetsSizes(HloOpcode opcode) {
  return opcode == HloOpcode::kGetDimensionSize || opcode == HloOpcode::kSetDimensionSize ||
         opcode == HloOpcode::kDynamicReshape;
}

// The dimension of a reshape's result that its program would have computed; -1: not said.
int64_t InferredDimension(const HloInstruction& reshape) {
  int64_t dimension = -1;
  for (const auto& [name, text] : reshape.extra_attributes()) {
    if (name == "inferred_dimension" && !absl::SimpleAtoi(text, &dimension)) return -1;
  }
  return dimension;
}

}  // namespace

bool HasDynamicShapes(const HloComputation& computation) {
  for (const HloInstruction* instruction : computation.instructions()) {
    if (ReadsOrSetsSizes(instruction->opcode()) || !instruction->shape().is_static()) return true;
  }
  return false;
}

bool HasDynamicShapes(const HloModule& module) {
  const std::vector<HloComputation*> computations = module.computations();
  return std::any_of(computations.begin(), computations.end(),
                     [](const HloComputation* c) { return HasDynamicShapes(*c); });
}

std::vector<DimensionFlow> DimensionFlows(const HloInstruction& instruction) {
  Flows flows(instruction);
  if (const FlowRule rule = kFlowRules[instruction.opcode()]; rule != nullptr) {
    (flows.*rule)();
  } else if (IsElementwise(instruction.opcode()) && instruction.shape().IsArray()) {
    for (int64_t i = 0; i < instruction.operand_count(); ++i) flows.Same(i);
  }
  return flows.Take();
}

absl::StatusOr<std::vector<ReshapedDimension>> ReshapedDimensions(const HloInstruction& reshape,
                                                                  const std::vector<bool>& is_dynamic) {
  const Shape& from = reshape.operand(0)->shape();
  const Shape& to = reshape.shape();
  const int64_t inferred = InferredDimension(reshape);
  std::vector<ReshapedDimension> result;
  if (ShapeUtil::IsZeroElementArray(from)) return result;
  int64_t i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    const int64_t from_begin = i, to_begin = j;
    int64_t from_count = i < from.rank() ? from.dimensions(i++) : 1;
    int64_t to_count = j < to.rank() ? to.dimensions(j++) : 1;
    while (from_count != to_count) {
      if (from_count < to_count) {
        from_count *= from.dimensions(i++);
      } else {
        to_count *= to.dimensions(j++);
      }
    }
    // Dimensions of size 1 at the end belong to the last group.
    const auto all_ones = [](const Shape& shape, int64_t d) {
      return std::all_of(shape.dimensions().begin() + d, shape.dimensions().end(),
                         [](int64_t size) { return size == 1; });
    };
    if (all_ones(from, i) && all_ones(to, j)) {
      i = from.rank();
      j = to.rank();
    }
    if (std::none_of(is_dynamic.begin() + from_begin, is_dynamic.begin() + i, [](bool dynamic) { return dynamic; }))
      continue;
    std::vector<int64_t> called, greater;
    for (int64_t d = to_begin; d < j; ++d) {
      if (to.is_dynamic_dimension(d)) called.push_back(d);
      if (to.dimensions(d) > 1) greater.push_back(d);
    }
    if (greater.empty() && to_begin < j) greater.push_back(to_begin);
    if (called.empty() && inferred >= to_begin && inferred < j) called.push_back(inferred);
    const std::vector<int64_t>& candidates = called.empty() ? greater : called;
    if (candidates.size() != 1) {
      return Unimplemented("which dimension of a reshape's result is dynamic cannot be told where a group has ",
                           candidates.size(), " candidates", InstructionContext(reshape));
    }
    result.push_back({candidates[0], from_begin, i, to_count / to.dimensions(candidates[0])});
  }
  return result;
}

}  // namespace hilo
