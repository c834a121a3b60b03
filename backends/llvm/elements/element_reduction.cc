// Reductions, dots and convolutions as producers: the lanes stay on the result, and loops over the reduced dimensions
// carry the running values in registers.
#include "absl/algorithm/container.h"
#include "backends/llvm/elements/data_movement.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/elements/terms.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::codegen {
namespace {

// One step at a position of the reduced space: the new running values.
using Step = absl::FunctionRef<absl::StatusOr<ElementValues>(const std::vector<LaneIndex>& position,
                                                             const ElementValues& running)>;

struct Accumulation {
  EmitterContext& context;
  std::vector<int64_t> sizes;        // of the reduced space
  std::vector<PrimitiveType> types;  // of the running values
  bool uniform;                      // running values are scalars; otherwise they are vectors
  Step step;

  ElementValues Settled(ElementValues values) {
    if (!uniform) {
      for (ElementValue& value : values) value = context.Splat(value);
    }
    return values;
  }

  // Loops over dimensions [position.size(), sizes.size()), outermost first.
  absl::StatusOr<ElementValues> Run(std::vector<LaneIndex> position, ElementValues running) {
    if (position.size() == sizes.size()) {
      HILO_ASSIGN_OR_RETURN(ElementValues next, step(position, running));
      return Settled(std::move(next));
    }
    const int64_t size = sizes[position.size()];
    position.emplace_back();
    if (size == 1) return Run(std::move(position), std::move(running));
    if (absl::c_accumulate(sizes, int64_t{1}, [](int64_t a, int64_t b) {
          return std::min(a * b, kUnrolledTerms + 1);
        }) <= kUnrolledTerms) {
      for (int64_t i = 0; i < size; ++i) {
        position.back() = LaneIndex::Constant(i);
        HILO_ASSIGN_OR_RETURN(running, Run(position, std::move(running)));
      }
      return running;
    }
    auto body = [&](llvm::Value* i, const Carried& carried) -> absl::StatusOr<Carried> {
      position.back() = LaneIndex::Uniform(i, 1, size);
      HILO_ASSIGN_OR_RETURN(ElementValues next, Run(position, Unpack(carried, types)));
      return Pack(next);
    };
    HILO_ASSIGN_OR_RETURN(Carried carried,
                          EmitLoop(context, "reduce", context.Int64(0), context.Int64(size), 1, Pack(running), body));
    return Unpack(carried, types);
  }
};

std::vector<PrimitiveType> TypesOf(absl::Span<HloInstruction* const> instructions) {
  std::vector<PrimitiveType> types;
  for (const HloInstruction* instruction : instructions) types.push_back(instruction->shape().element_type());
  return types;
}

// The result of all terms at `index`, in order.
absl::StatusOr<ElementValues> SumOf(EmitterContext& context, Terms& terms, const Index& index) {
  const std::vector<LaneIndex> kept = index.Dims(context);
  auto step = [&](const std::vector<LaneIndex>& position, const ElementValues& running) {
    return terms.Add(running, kept, position);
  };
  Accumulation loops{context, terms.reduced(), terms.types(), index.IsUniform(), step};
  HILO_ASSIGN_OR_RETURN(ElementValues start, terms.Start());
  HILO_ASSIGN_OR_RETURN(const ElementValues sums, loops.Run({}, loops.Settled(std::move(start))));
  return terms.Finish(sums);
}

}  // namespace

absl::StatusOr<ElementValues> EmitReduceElement(ElementEmitter& emitter, const HloInstruction* reduce,
                                                const Index& index) {
  ReduceTerms terms(emitter, ReductionOf(*reduce));
  return SumOf(emitter.context(), terms, index);
}

absl::StatusOr<ElementValues> EmitReduceWindowElement(ElementEmitter& emitter, const HloInstruction* reduce_window,
                                                      const Index& index) {
  EmitterContext& context = emitter.context();
  const Shape& input = reduce_window->operand(0)->shape();
  const auto& window = reduce_window->attrs<ReduceWindowAttrs>().window.dimensions;
  const std::vector<LaneIndex> out = index.Dims(context);
  const std::vector<PrimitiveType> types =
      TypesOf(reduce_window->operands().subspan(0, reduce_window->operand_count() / 2));
  auto step = [&](const std::vector<LaneIndex>& position, const ElementValues& running) {
    std::vector<LaneIndex> at;
    Guard guard;
    for (int64_t d = 0; d < input.rank(); ++d) {
      const auto& w = window[d];
      const LaneIndex padded =
          out[d].MulConstant(context, w.stride).Add(context, position[d].MulConstant(context, w.window_dilation));
      const LaneIndex dilated = padded.AddConstant(-w.padding_low);
      const int64_t limit = input.dimensions(d) == 0 ? 0 : (input.dimensions(d) - 1) * w.base_dilation + 1;
      guard.Add(context, dilated.InRange(context, 0, limit));
      const LaneIndex inside = dilated.WithRange({0, limit - 1});
      guard.Add(context, inside.RemConstant(context, w.base_dilation).InRange(context, 0, 1));
      at.push_back(inside.DivConstant(context, w.base_dilation));
    }
    return guard.Choose(
        context, "window", index.IsUniform(), types,
        [&]() -> absl::StatusOr<ElementValues> {
          HILO_ASSIGN_OR_RETURN(const ElementValues elements, ElementsOf(emitter, *reduce_window, Index(at)));
          return Combine(context, *reduce_window->called_computation(), running, elements);
        },
        [&]() -> absl::StatusOr<ElementValues> { return running; });
  };
  std::vector<int64_t> sizes;
  for (const auto& w : window) sizes.push_back(w.size);
  Accumulation loops{context, std::move(sizes), types, index.IsUniform(), step};
  HILO_ASSIGN_OR_RETURN(ElementValues inits, InitsOf(emitter, *reduce_window));
  return loops.Run({}, loops.Settled(std::move(inits)));
}

absl::StatusOr<ElementValues> EmitDotElement(ElementEmitter& emitter, const HloInstruction* dot, const Index& index) {
  DotTerms terms(emitter, *dot);
  return SumOf(emitter.context(), terms, index);
}

absl::StatusOr<ElementValues> EmitConvolutionElement(ElementEmitter& emitter, const HloInstruction* convolution,
                                                     const Index& index) {
  EmitterContext& context = emitter.context();
  const auto& attrs = convolution->attrs<ConvolutionAttrs>();
  const ConvolutionDimensionNumbers& numbers = attrs.dim_labels;
  const HloInstruction *lhs = convolution->operand(0), *rhs = convolution->operand(1);
  const PrimitiveType type = convolution->shape().element_type();
  const PrimitiveType sum_type = SumType(lhs->shape().element_type(), rhs->shape().element_type(), type);
  const std::vector<LaneIndex> out = index.Dims(context);
  const LaneIndex& feature = out[numbers.output_feature_dimension()];
  const int64_t in = rhs->shape().dimensions(numbers.kernel_input_feature_dimension());
  const int64_t groups = attrs.feature_group_count * attrs.batch_group_count;
  const int64_t group_size = rhs->shape().dimensions(numbers.kernel_output_feature_dimension()) / groups;
  const LaneIndex group = feature.DivConstant(context, group_size);
  std::vector<LaneIndex> lhs_at(lhs->shape().rank()), rhs_at(rhs->shape().rank());
  LaneIndex& batch = lhs_at[numbers.input_batch_dimension()];
  batch = out[numbers.output_batch_dimension()];
  if (attrs.batch_group_count > 1) {
    batch = group.MulConstant(context, convolution->shape().dimensions(numbers.output_batch_dimension()))
                .Add(context, batch);
  }
  rhs_at[numbers.kernel_output_feature_dimension()] = feature;

  auto element = [&](const HloInstruction* side, const std::vector<LaneIndex>& at) -> absl::StatusOr<ElementValue> {
    HILO_ASSIGN_OR_RETURN(ElementValue value, emitter.Generate(side, Index(at)));
    return EmitConvert(context, side->shape().element_type(), sum_type, value);
  };
  // Positions of the window, then the input feature.
  auto step = [&](const std::vector<LaneIndex>& position,
                  const ElementValues& running) -> absl::StatusOr<ElementValues> {
    Guard guard;
    for (size_t s = 0; s + 1 < position.size(); ++s) {
      const Window::Dimension& w = attrs.window.dimensions[s];
      const int64_t input = numbers.input_spatial_dimensions()[s];
      const LaneIndex dilated = out[numbers.output_spatial_dimensions()[s]]
                                    .MulConstant(context, w.stride)
                                    .Add(context, position[s].MulConstant(context, w.window_dilation))
                                    .AddConstant(-w.padding_low);
      const int64_t size = lhs->shape().dimensions(input);
      const int64_t limit = size == 0 ? 0 : (size - 1) * w.base_dilation + 1;
      guard.Add(context, dilated.InRange(context, 0, limit));
      const LaneIndex inside = dilated.WithRange({0, limit - 1});
      guard.Add(context, inside.RemConstant(context, w.base_dilation).InRange(context, 0, 1));
      lhs_at[input] = inside.DivConstant(context, w.base_dilation);
      rhs_at[numbers.kernel_spatial_dimensions()[s]] =
          w.window_reversal ? position[s].MulConstant(context, -1).AddConstant(w.size - 1).WithRange({0, w.size - 1})
                            : position[s];
    }
    lhs_at[numbers.input_feature_dimension()] =
        attrs.feature_group_count > 1 ? group.MulConstant(context, in).Add(context, position.back()) : position.back();
    rhs_at[numbers.kernel_input_feature_dimension()] = position.back();
    auto add = [&]() -> absl::StatusOr<ElementValues> {
      HILO_ASSIGN_OR_RETURN(ElementValue x, element(lhs, lhs_at));
      HILO_ASSIGN_OR_RETURN(ElementValue y, element(rhs, rhs_at));
      HILO_ASSIGN_OR_RETURN(ElementValue product, EmitBinaryOp(context, HloOpcode::kMultiply, sum_type, x, y));
      HILO_ASSIGN_OR_RETURN(ElementValue sum, EmitBinaryOp(context, HloOpcode::kAdd, sum_type, running[0], product));
      return ElementValues{sum};
    };
    return guard.Choose(context, "tap", index.IsUniform(), {&sum_type, 1}, add,
                        [&]() -> absl::StatusOr<ElementValues> { return running; });
  };
  std::vector<int64_t> sizes;
  for (const Window::Dimension& w : attrs.window.dimensions) sizes.push_back(w.size);
  sizes.push_back(in);
  Accumulation loops{context, std::move(sizes), {sum_type}, index.IsUniform(), step};
  HILO_ASSIGN_OR_RETURN(ElementValues sums, loops.Run({}, loops.Settled({EmitZero(context, sum_type)})));
  sums[0] = EmitConvert(context, sum_type, type, sums[0]);
  return sums;
}

}  // namespace hilo::codegen
