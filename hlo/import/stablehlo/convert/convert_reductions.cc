// Reductions, windows and batch normalization: scalar computations over parts of arrays.
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/ops/reduction/batch_norm_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"

namespace hilo::stablehlo {
namespace {

absl::StatusOr<Results> Reduce(OpConversion& c) {
  auto attributes = std::make_unique<ReduceAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dimensions, c.Integers("dimensions"));
  return c.Split(c.Add(HloOpcode::kReduce, c.operands, std::move(attributes), c.regions));
}

absl::StatusOr<Results> Map(OpConversion& c) {
  auto attributes = std::make_unique<MapAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dimensions, c.Integers("dimensions"));
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(1));
  if (const Shape& shape = c.operands[0]->shape(); static_cast<int64_t>(attributes->dimensions.size()) != shape.rank())
    return InvalidArgument("expected all dimensions of ", shape.ToString(), " as dimensions, got ",
                           attributes->dimensions.size());
  return c.Split(c.Add(HloOpcode::kMap, c.operands, std::move(attributes), c.regions));
}

absl::StatusOr<Window> WindowOf(const OpConversion& c) {
  Window window;
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.Integers("window_dimensions"));
  const auto rank = static_cast<int64_t>(sizes.size());
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.Integers("window_strides", rank, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> base, c.Integers("base_dilations", rank, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dilations, c.Integers("window_dilations", rank, 1));
  HILO_ASSIGN_OR_RETURN(auto padding, c.Pairs("padding"));
  if (padding.empty()) padding.resize(rank);
  if (static_cast<int64_t>(padding.size()) != rank)
    return InvalidArgument("expected ", rank, " pairs as padding, got ", padding.size());
  for (int64_t d = 0; d < rank; ++d) {
    window.dimensions.push_back({.size = sizes[d],
                                 .stride = strides[d],
                                 .padding_low = padding[d].first,
                                 .padding_high = padding[d].second,
                                 .base_dilation = base[d],
                                 .window_dilation = dilations[d]});
  }
  return window;
}

absl::StatusOr<Results> ReduceWindow(OpConversion& c) {
  auto attributes = std::make_unique<ReduceWindowAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->window, WindowOf(c));
  return c.Split(c.Add(HloOpcode::kReduceWindow, c.operands, std::move(attributes), c.regions));
}

absl::StatusOr<Results> SelectAndScatter(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(3));
  auto attributes = std::make_unique<SelectAndScatterAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->window, WindowOf(c));
  return c.Split(c.Add(HloOpcode::kSelectAndScatter, c.operands, std::move(attributes), c.regions));
}

template <HloOpcode kOpcode, size_t kOperands>
absl::StatusOr<Results> BatchNorm(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(kOperands));
  auto attributes = std::make_unique<BatchNormAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->epsilon, c.Number("epsilon"));
  HILO_ASSIGN_OR_RETURN(attributes->feature_index, c.Integer("feature_index"));
  return c.Split(c.Add(kOpcode, c.operands, std::move(attributes)));
}

constexpr ConversionRule kReductionRules[] = {
    {"stablehlo.batch_norm_grad", BatchNorm<HloOpcode::kBatchNormGrad, 5>},
    {"stablehlo.batch_norm_inference", BatchNorm<HloOpcode::kBatchNormInference, 5>},
    {"stablehlo.batch_norm_training", BatchNorm<HloOpcode::kBatchNormTraining, 3>},
    {"stablehlo.map", Map},
    {"stablehlo.reduce", Reduce},
    {"stablehlo.reduce_window", ReduceWindow},
    {"stablehlo.select_and_scatter", SelectAndScatter},
};

}  // namespace

absl::Span<const ConversionRule> ReductionRules() { return kReductionRules; }

}  // namespace hilo::stablehlo
