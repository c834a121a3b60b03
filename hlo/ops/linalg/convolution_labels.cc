// Text of a convolution's dimension numbers, "bf01_oi01->bf01": one label per dimension for input, kernel and result.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/table/attribute_reader.h"

namespace hilo {
namespace {

// One part of the text: which letters its two dimensions that are not spatial have.
struct Part {
  absl::string_view name;
  char first, second;
};
constexpr Part kInput{"input", 'b', 'f'}, kKernel{"kernel", 'i', 'o'}, kOutput{"output", 'b', 'f'};

std::string LabelsToText(const Part& part, int64_t first, int64_t second, const std::vector<int64_t>& spatial) {
  int64_t last = std::max(first, second);
  for (int64_t dimension : spatial) last = std::max(last, dimension);
  std::string labels(std::clamp<int64_t>(last + 1, 0, 64), '?');
  const auto put = [&](int64_t dimension, char label) {
    if (dimension >= 0 && dimension < static_cast<int64_t>(labels.size())) labels[dimension] = label;
  };
  put(first, part.first);
  put(second, part.second);
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], static_cast<char>('0' + i % 10));
  return labels;
}

absl::Status LabelsFromText(const Part& part, absl::string_view labels, int64_t* first, int64_t* second,
                            std::vector<int64_t>* spatial) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("dim_labels: the ", part.name, " \"", labels, "\" ", what));
  };
  *first = *second = -1;
  spatial->assign(kMaxSpatialDimensions, -1);
  int64_t count = 0;
  for (size_t d = 0; d < labels.size(); ++d) {
    const char label = labels[d];
    if (label == '?') continue;
    int64_t* slot = label == part.first          ? first
                    : label == part.second       ? second
                    : absl::ascii_isdigit(label) ? &(*spatial)[label - '0']
                                                 : nullptr;
    if (slot == nullptr) {
      return wrong(absl::StrCat("must be made of ", std::string(1, part.first), ", ", std::string(1, part.second),
                                ", digits and ?"));
    }
    if (*slot >= 0) return wrong(absl::StrCat("repeats ", std::string(1, label)));
    *slot = static_cast<int64_t>(d);
    if (absl::ascii_isdigit(label)) ++count;
  }
  if (*first < 0 || *second < 0) {
    return wrong(absl::StrCat("must have both ", std::string(1, part.first), " and ", std::string(1, part.second)));
  }
  spatial->resize(count);
  if (std::find(spatial->begin(), spatial->end(), -1) != spatial->end()) {
    return wrong(absl::StrCat("must number its ", count, " spatial dimensions from 0"));
  }
  return absl::OkStatus();
}

// Moves dimension `from` of `rank` after all others, in the given numbers.
std::vector<int64_t> MoveBehind(int64_t from, int64_t rank, int64_t* first, int64_t* second,
                                std::vector<int64_t>* spatial) {
  if (from == rank - 1) return {};
  std::vector<int64_t> permutation;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != from) permutation.push_back(d);
  }
  permutation.push_back(from);
  const auto moved = [&](int64_t d) { return d == from ? rank - 1 : d - (d > from ? 1 : 0); };
  *first = moved(*first);
  *second = moved(*second);
  for (int64_t& d : *spatial) d = moved(d);
  return permutation;
}

}  // namespace

std::vector<int64_t> TransposeKernel(ConvolutionDimensionNumbers* numbers) {
  const int64_t rank = numbers->kernel_spatial_dimensions_size() + 2;
  if (numbers->kernel_output_feature_dimension_ == rank - 1) return {};
  std::vector<int64_t> permutation = numbers->kernel_spatial_dimensions_;
  std::sort(permutation.begin(), permutation.end());
  for (int64_t& d : numbers->kernel_spatial_dimensions_)
    d = std::lower_bound(permutation.begin(), permutation.end(), d) - permutation.begin();
  permutation.push_back(numbers->kernel_input_feature_dimension_);
  permutation.push_back(numbers->kernel_output_feature_dimension_);
  numbers->kernel_input_feature_dimension_ = rank - 2;
  numbers->kernel_output_feature_dimension_ = rank - 1;
  return permutation;
}

std::vector<int64_t> TransposeInput(ConvolutionDimensionNumbers* numbers) {
  if (numbers->input_spatial_dimensions_.empty()) return {};
  return MoveBehind(numbers->input_spatial_dimensions_.back(), numbers->input_spatial_dimensions_size() + 2,
                    &numbers->input_batch_dimension_, &numbers->input_feature_dimension_,
                    &numbers->input_spatial_dimensions_);
}

std::vector<int64_t> TransposeInputFeatures(ConvolutionDimensionNumbers* numbers) {
  return MoveBehind(numbers->input_feature_dimension_, numbers->input_spatial_dimensions_size() + 2,
                    &numbers->input_batch_dimension_, &numbers->input_feature_dimension_,
                    &numbers->input_spatial_dimensions_);
}

std::vector<int64_t> TransposeResultFeatures(ConvolutionDimensionNumbers* numbers) {
  return MoveBehind(numbers->output_feature_dimension_, numbers->output_spatial_dimensions_size() + 2,
                    &numbers->output_batch_dimension_, &numbers->output_feature_dimension_,
                    &numbers->output_spatial_dimensions_);
}

std::string FieldToText(const ConvolutionDimensionNumbers& value) {
  return absl::StrCat(LabelsToText(kInput, value.input_batch_dimension(), value.input_feature_dimension(),
                                   value.input_spatial_dimensions()),
                      "_",
                      LabelsToText(kKernel, value.kernel_input_feature_dimension(),
                                   value.kernel_output_feature_dimension(), value.kernel_spatial_dimensions()),
                      "->",
                      LabelsToText(kOutput, value.output_batch_dimension(), value.output_feature_dimension(),
                                   value.output_spatial_dimensions()));
}

absl::Status FieldFromText(absl::string_view text, ConvolutionDimensionNumbers* value) {
  text = absl::StripAsciiWhitespace(text);
  const size_t kernel = text.find('_');
  const size_t output = text.find("->");
  if (kernel == absl::string_view::npos || output == absl::string_view::npos || output < kernel) {
    return absl::InvalidArgumentError(absl::StrCat("dim_labels: expected input_kernel->output, got \"", text, "\""));
  }
  HILO_RETURN_IF_ERROR(LabelsFromText(kInput, text.substr(0, kernel), &value->input_batch_dimension_,
                                      &value->input_feature_dimension_, &value->input_spatial_dimensions_));
  HILO_RETURN_IF_ERROR(LabelsFromText(kKernel, text.substr(kernel + 1, output - kernel - 1),
                                      &value->kernel_input_feature_dimension_, &value->kernel_output_feature_dimension_,
                                      &value->kernel_spatial_dimensions_));
  HILO_RETURN_IF_ERROR(LabelsFromText(kOutput, text.substr(output + 2), &value->output_batch_dimension_,
                                      &value->output_feature_dimension_, &value->output_spatial_dimensions_));
  const size_t spatial = value->input_spatial_dimensions_.size();
  if (value->kernel_spatial_dimensions_.size() != spatial || value->output_spatial_dimensions_.size() != spatial) {
    return absl::InvalidArgumentError(
        absl::StrCat("dim_labels: \"", text, "\" has ", spatial, ", ", value->kernel_spatial_dimensions_.size(),
                     " and ", value->output_spatial_dimensions_.size(), " spatial dimensions, which must be as many"));
  }
  return absl::OkStatus();
}

std::vector<int64_t> ReadStrides(const ConvolutionAttrs& attributes, const Shape& input, const Shape& result) {
  const ConvolutionDimensionNumbers& numbers = attributes.dim_labels;
  std::vector<int64_t> strides(input.rank(), 1);
  for (size_t s = 0; s < attributes.window.dimensions.size(); ++s) {
    const Window::Dimension& window = attributes.window.dimensions[s];
    const int64_t dimension = numbers.input_spatial_dimensions()[s],
                  last = result.dimensions(numbers.output_spatial_dimensions()[s]) - 1;
    if (window.size == 1 && window.base_dilation == 1 && window.padding_low == 0 && last >= 0 &&
        last * window.stride < input.dimensions(dimension))
      strides[dimension] = window.stride;
  }
  return strides;
}

}  // namespace hilo
