// Attributes of convolution.
#ifndef HILO_HLO_OPS_LINALG_CONVOLUTION_ATTRIBUTES_H_
#define HILO_HLO_OPS_LINALG_CONVOLUTION_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hilo/xla_data.h"
#include "hlo/ops/table/attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

// A single digit names a spatial dimension, so there are at most this many.
inline constexpr int64_t kMaxSpatialDimensions = 10;
std::string FieldToText(const ConvolutionDimensionNumbers& value);
absl::Status FieldFromText(absl::string_view text, ConvolutionDimensionNumbers* value);

// Change `numbers` to those of a convolution of a transposed operand, and return how: permutation[i] is the old number
// of the new dimension i; empty if the operand is in that order already. TransposeKernel moves the kernel's input and
// output features after all others, if the output's are not there, TransposeInput the input's last spatial dimension,
// TransposeInputFeatures the input's features, TransposeResultFeatures those of the result.
std::vector<int64_t> TransposeKernel(ConvolutionDimensionNumbers* numbers);
std::vector<int64_t> TransposeInput(ConvolutionDimensionNumbers* numbers);
std::vector<int64_t> TransposeInputFeatures(ConvolutionDimensionNumbers* numbers);
std::vector<int64_t> TransposeResultFeatures(ConvolutionDimensionNumbers* numbers);

struct ConvolutionAttrs : Attributes<ConvolutionAttrs> {
  Window window;
  ConvolutionDimensionNumbers dim_labels;
  int64_t feature_group_count = 1;
  int64_t batch_group_count = 1;
  std::vector<Precision> operand_precision;
  static constexpr auto Fields() {
    return std::make_tuple(Field("window", &ConvolutionAttrs::window, Presence::kOptional),
                           Field("dim_labels", &ConvolutionAttrs::dim_labels),
                           Field("feature_group_count", &ConvolutionAttrs::feature_group_count, Presence::kOptional),
                           Field("batch_group_count", &ConvolutionAttrs::batch_group_count, Presence::kOptional),
                           Field("operand_precision", &ConvolutionAttrs::operand_precision, Presence::kOptional));
  }
};

// Returns by dimension of the input the distance between elements that are read: the stride of windows of one element
// that read no padding, 1 in all other dimensions.
std::vector<int64_t> ReadStrides(const ConvolutionAttrs& attributes, const Shape& input, const Shape& result);

}  // namespace hilo

#endif  // HILO_HLO_OPS_LINALG_CONVOLUTION_ATTRIBUTES_H_
