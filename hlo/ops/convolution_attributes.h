// Attributes of convolution.
#ifndef HILO_HLO_OPS_CONVOLUTION_ATTRIBUTES_H_
#define HILO_HLO_OPS_CONVOLUTION_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/ops/attributes.h"
#include "hlo/ops/op_attributes.h"

namespace hilo {

struct ConvolutionAttrs : Attributes<ConvolutionAttrs> {
  Window window;
  Verbatim dim_labels;
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

}  // namespace hilo

#endif  // HILO_HLO_OPS_CONVOLUTION_ATTRIBUTES_H_
