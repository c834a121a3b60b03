#include "hlo/builder/padding.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "base/errors.h"

namespace hilo {

absl::Status ValidatePaddingValues(absl::Span<const int64_t> input_dimensions,
                                   absl::Span<const int64_t> window_dimensions,
                                   absl::Span<const int64_t> window_strides) {
  const auto list = [](absl::Span<const int64_t> values) { return absl::StrJoin(values, ","); };
  if (window_dimensions.size() != input_dimensions.size() || window_strides.size() != input_dimensions.size()) {
    return InvalidArgument("padding: expected as many input sizes, window sizes and strides; got {",
                           list(input_dimensions), "}, {", list(window_dimensions), "} and {", list(window_strides),
                           "}");
  }
  for (size_t d = 0; d < input_dimensions.size(); ++d) {
    if (input_dimensions[d] < 0 || window_dimensions[d] < 1 || window_strides[d] < 1) {
      return InvalidArgument("padding: expected window sizes and strides of at least 1; got {", list(window_dimensions),
                             "} and {", list(window_strides), "}");
    }
  }
  return absl::OkStatus();
}

std::vector<std::pair<int64_t, int64_t>> MakePadding(absl::Span<const int64_t> input_dimensions,
                                                     absl::Span<const int64_t> window_dimensions,
                                                     absl::Span<const int64_t> window_strides, Padding padding) {
  std::vector<std::pair<int64_t, int64_t>> result(input_dimensions.size(), {0, 0});
  if (padding == Padding::kValid || !ValidatePaddingValues(input_dimensions, window_dimensions, window_strides).ok()) {
    return result;
  }
  for (size_t d = 0; d < result.size(); ++d) {
    const int64_t size = input_dimensions[d];
    if (size == 0) continue;
    const int64_t last_start = (size - 1) / window_strides[d] * window_strides[d];
    const int64_t lacking = std::max<int64_t>(0, window_dimensions[d] - (size - last_start));
    result[d] = {lacking / 2, lacking - lacking / 2};
  }
  return result;
}

}  // namespace hilo
