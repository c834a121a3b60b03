#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/builder/padding.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo {
namespace {

std::vector<Precision> PrecisionOf(const PrecisionConfig* config) {
  return config == nullptr ? std::vector<Precision>() : config->operand_precision;
}

XlaOp Add(HloOpcode opcode, absl::Span<const XlaOp> operands, std::unique_ptr<OpAttributes> attributes,
          std::optional<PrimitiveType> preferred_element_type) {
  // Inference uses only the element type of a stated shape.
  const Shape preferred(preferred_element_type.value_or(PRIMITIVE_TYPE_INVALID), {});
  return AddOp(operands[0].builder(), opcode, operands, std::move(attributes), {},
               preferred_element_type.has_value() ? &preferred : nullptr);
}

// The kernel's sizes in the window's order.
absl::StatusOr<std::vector<int64_t>> Sizes(XlaOp operand, const std::vector<int64_t>& dimensions) {
  HILO_ASSIGN_OR_RETURN(const Shape shape, operand.builder()->GetShape(operand));
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) {
    if (!shape.IsArray() || d < 0 || d >= shape.rank()) {
      return InvalidArgument("convolution: expected an array with dimension ", d, "; got ", shape.ToString());
    }
    sizes.push_back(shape.dimensions(d));
  }
  return sizes;
}

absl::StatusOr<Window> MakeWindow(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides,
                                  absl::Span<const std::pair<int64_t, int64_t>> padding,
                                  absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                                  const std::vector<bool>& reversal) {
  const auto check = [&](absl::string_view name, size_t size) -> absl::Status {
    if (size == 0 || size == sizes.size()) return absl::OkStatus();
    return InvalidArgument("convolution: expected ", sizes.size(), " of ", name, "; got ", size);
  };
  HILO_RETURN_IF_ERROR(check("window_strides", strides.size()));
  HILO_RETURN_IF_ERROR(check("padding", padding.size()));
  HILO_RETURN_IF_ERROR(check("lhs_dilation", lhs_dilation.size()));
  HILO_RETURN_IF_ERROR(check("rhs_dilation", rhs_dilation.size()));
  HILO_RETURN_IF_ERROR(check("window_reversal", reversal.size()));
  Window window;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Window::Dimension& dimension = window.dimensions.emplace_back();
    dimension.size = sizes[i];
    if (!strides.empty()) dimension.stride = strides[i];
    if (!padding.empty()) dimension.padding_low = padding[i].first;
    if (!padding.empty()) dimension.padding_high = padding[i].second;
    if (!lhs_dilation.empty()) dimension.base_dilation = lhs_dilation[i];
    if (!rhs_dilation.empty()) dimension.window_dilation = rhs_dilation[i];
    if (!reversal.empty()) dimension.window_reversal = reversal[i];
  }
  return window;
}

}  // namespace

ConvolutionDimensionNumbers CreateDefaultConvDimensionNumbers(int num_spatial_dims) {
  ConvolutionDimensionNumbers numbers;
  numbers.set_input_feature_dimension(1);
  numbers.set_kernel_input_feature_dimension(1);
  numbers.set_output_feature_dimension(1);
  for (int i = 0; i < num_spatial_dims; ++i) {
    numbers.add_input_spatial_dimensions(i + 2);
    numbers.add_kernel_spatial_dimensions(i + 2);
    numbers.add_output_spatial_dimensions(i + 2);
  }
  return numbers;
}

XlaOp Conv(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding, int64_t feature_group_count,
           int64_t batch_group_count, const PrecisionConfig* precision_config,
           std::optional<PrimitiveType> preferred_element_type) {
  return ConvWithGeneralDimensions(lhs, rhs, window_strides, padding,
                                   CreateDefaultConvDimensionNumbers(static_cast<int>(window_strides.size())),
                                   feature_group_count, batch_group_count, precision_config, preferred_element_type);
}

XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                             absl::Span<const std::pair<int64_t, int64_t>> padding, int64_t feature_group_count,
                             int64_t batch_group_count, const PrecisionConfig* precision_config,
                             std::optional<PrimitiveType> preferred_element_type) {
  return ConvGeneral(lhs, rhs, window_strides, padding,
                     CreateDefaultConvDimensionNumbers(static_cast<int>(window_strides.size())), feature_group_count,
                     batch_group_count, precision_config, preferred_element_type);
}

XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                             absl::Span<const std::pair<int64_t, int64_t>> padding,
                             absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                             int64_t feature_group_count, int64_t batch_group_count) {
  return ConvGeneralDilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation,
                            CreateDefaultConvDimensionNumbers(static_cast<int>(window_strides.size())),
                            feature_group_count, batch_group_count);
}

XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding,
                                const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                                int64_t batch_group_count, const PrecisionConfig* precision_config,
                                std::optional<PrimitiveType> preferred_element_type) {
  XlaBuilder* builder = lhs.builder();
  if (builder == nullptr) return XlaOp();
  const auto make = [&]() -> absl::StatusOr<XlaOp> {
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Sizes(lhs, dimension_numbers.input_spatial_dimensions()));
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> window, Sizes(rhs, dimension_numbers.kernel_spatial_dimensions()));
    HILO_RETURN_IF_ERROR(ValidatePaddingValues(sizes, window, window_strides));
    return ConvGeneral(lhs, rhs, window_strides, MakePadding(sizes, window, window_strides, padding), dimension_numbers,
                       feature_group_count, batch_group_count, precision_config, preferred_element_type);
  };
  return builder->ReportErrorOrReturn(make());
}

XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                  absl::Span<const std::pair<int64_t, int64_t>> padding,
                  const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                  int64_t batch_group_count, const PrecisionConfig* precision_config,
                  std::optional<PrimitiveType> preferred_element_type) {
  return ConvGeneralDilated(lhs, rhs, window_strides, padding, {}, {}, dimension_numbers, feature_group_count,
                            batch_group_count, precision_config, preferred_element_type);
}

XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                         absl::Span<const std::pair<int64_t, int64_t>> padding, absl::Span<const int64_t> lhs_dilation,
                         absl::Span<const int64_t> rhs_dilation, const ConvolutionDimensionNumbers& dimension_numbers,
                         int64_t feature_group_count, int64_t batch_group_count,
                         const PrecisionConfig* precision_config, std::optional<PrimitiveType> preferred_element_type,
                         std::optional<std::vector<bool>> window_reversal) {
  XlaBuilder* builder = lhs.builder();
  if (builder == nullptr) return XlaOp();
  const auto make = [&]() -> absl::StatusOr<XlaOp> {
    auto attributes = std::make_unique<ConvolutionAttrs>();
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Sizes(rhs, dimension_numbers.kernel_spatial_dimensions()));
    HILO_ASSIGN_OR_RETURN(attributes->window, MakeWindow(sizes, window_strides, padding, lhs_dilation, rhs_dilation,
                                                         window_reversal.value_or(std::vector<bool>())));
    attributes->dim_labels = dimension_numbers;
    attributes->feature_group_count = feature_group_count;
    attributes->batch_group_count = batch_group_count;
    attributes->operand_precision = PrecisionOf(precision_config);
    return Add(HloOpcode::kConvolution, {lhs, rhs}, std::move(attributes), preferred_element_type);
  };
  return builder->ReportErrorOrReturn(make());
}

XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config, std::optional<PrimitiveType> preferred_element_type) {
  if (lhs.builder() == nullptr) return XlaOp();
  const DotDimensionNumbers& dot = dimension_numbers.dot_dimension_numbers();
  auto attributes = std::make_unique<RaggedDotAttrs>();
  attributes->lhs_batch_dims = dot.lhs_batch_dimensions();
  attributes->lhs_contracting_dims = dot.lhs_contracting_dimensions();
  attributes->rhs_batch_dims = dot.rhs_batch_dimensions();
  attributes->rhs_contracting_dims = dot.rhs_contracting_dimensions();
  attributes->lhs_ragged_dims = dimension_numbers.lhs_ragged_dimensions();
  attributes->rhs_group_dims = dimension_numbers.rhs_group_dimensions();
  attributes->operand_precision = PrecisionOf(precision_config);
  return Add(HloOpcode::kRaggedDot, {lhs, rhs, group_sizes}, std::move(attributes), preferred_element_type);
}

XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale, const DotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config, std::optional<PrimitiveType> preferred_element_type) {
  if (lhs.builder() == nullptr) return XlaOp();
  auto attributes = std::make_unique<DotAttrs>();
  attributes->lhs_batch_dims = dimension_numbers.lhs_batch_dimensions();
  attributes->lhs_contracting_dims = dimension_numbers.lhs_contracting_dimensions();
  attributes->rhs_batch_dims = dimension_numbers.rhs_batch_dimensions();
  attributes->rhs_contracting_dims = dimension_numbers.rhs_contracting_dimensions();
  attributes->operand_precision = PrecisionOf(precision_config);
  return Add(HloOpcode::kScaledDot, {lhs, rhs, lhs_scale, rhs_scale}, std::move(attributes), preferred_element_type);
}

}  // namespace hilo
