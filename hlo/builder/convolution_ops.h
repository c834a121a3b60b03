// XlaBuilder's functions for convolution and dots other than Dot; included by xla_builder.h.
#ifndef HILO_HLO_BUILDER_CONVOLUTION_OPS_H_
#define HILO_HLO_BUILDER_CONVOLUTION_OPS_H_

#include <optional>
#include <utility>
#include <vector>

#include "hlo/builder/xla_builder.h"
#include "hlo/ops/linalg/convolution_attributes.h"

namespace hilo {

// Requested precision of the operands of a product, one for each operand or none; stored and printed, but Hilo always
// computes with all bits.
struct PrecisionConfig {
  std::vector<Precision> operand_precision;
};

// batch, feature, spatial ...; the kernel's output feature, input feature, spatial ...
ConvolutionDimensionNumbers CreateDefaultConvDimensionNumbers(int num_spatial_dims = 2);

// Convolutions (specification: Conv, ConvWithGeneralPadding). Lists have an entry for each spatial dimension; lists of
// dilations and of reversals may be empty. The first two take the default dimension numbers. `preferred_element_type`
// is that of the result.
XlaOp Conv(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding,
           int64_t feature_group_count = 1, int64_t batch_group_count = 1,
           const PrecisionConfig* precision_config = nullptr,
           std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                             absl::Span<const std::pair<int64_t, int64_t>> padding, int64_t feature_group_count = 1,
                             int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                             std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                             absl::Span<const std::pair<int64_t, int64_t>> padding,
                             absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                             int64_t feature_group_count = 1, int64_t batch_group_count = 1);
XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding,
                                const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count = 1,
                                int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                                std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                  absl::Span<const std::pair<int64_t, int64_t>> padding,
                  const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count = 1,
                  int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                  std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                         absl::Span<const std::pair<int64_t, int64_t>> padding, absl::Span<const int64_t> lhs_dilation,
                         absl::Span<const int64_t> rhs_dilation, const ConvolutionDimensionNumbers& dimension_numbers,
                         int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                         const PrecisionConfig* precision_config = nullptr,
                         std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                         std::optional<std::vector<bool>> window_reversal = std::nullopt);

// A dot whose lhs is split into groups of run-time sizes along one dimension (hlo/ops/linalg/ragged_dot.cc).
XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config = nullptr,
                std::optional<PrimitiveType> preferred_element_type = std::nullopt);
// A dot of operands that are multiplied by scales, one scale per block (hlo/ops/linalg/scaled_dot.cc).
XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale, const DotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config = nullptr,
                std::optional<PrimitiveType> preferred_element_type = std::nullopt);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_CONVOLUTION_OPS_H_
