// Paddings by name, for convolution and reduce-window.
#ifndef HILO_HLO_BUILDER_PADDING_H_
#define HILO_HLO_BUILDER_PADDING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hilo/xla_data.h"

namespace hilo {

// Errors: InvalidArgument unless input, window and strides have the same number of sizes, all of at least 1 except the
// input's.
absl::Status ValidatePaddingValues(absl::Span<const int64_t> input_dimensions,
                                   absl::Span<const int64_t> window_dimensions,
                                   absl::Span<const int64_t> window_strides);

// Elements to add in front and behind, one pair per dimension; for values that ValidatePaddingValues accepts.
std::vector<std::pair<int64_t, int64_t>> MakePadding(absl::Span<const int64_t> input_dimensions,
                                                     absl::Span<const int64_t> window_dimensions,
                                                     absl::Span<const int64_t> window_strides, Padding padding);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_PADDING_H_
