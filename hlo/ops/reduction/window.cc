#include "hlo/ops/reduction/window.h"

#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// (size - 1) * dilation + 1, the extent of `size` elements spread apart; 0 for none.
bool DilatedSize(int64_t size, int64_t dilation, int64_t* result) {
  *result = 0;
  return size == 0 ||
         (!__builtin_mul_overflow(size - 1, dilation, result) && !__builtin_add_overflow(*result, 1, result));
}

absl::Status CheckWindowDimension(const OpView& op, int64_t i, const Window::Dimension& window) {
  const struct {
    const char* name;
    int64_t value;
  } parts[] = {{"size", window.size},                         // reduce_window_c5, select_and_scatter_c5
               {"stride", window.stride},                     // reduce_window_c7, select_and_scatter_c7
               {"base dilation", window.base_dilation},       // reduce_window_c9
               {"window dilation", window.window_dilation}};  // reduce_window_c11
  for (const auto& part : parts) {
    if (part.value < 1) {
      return InvalidOp(op, "the window's ", part.name, " in dimension ", i, " is ", part.value,
                       ", but must be positive");
    }
  }
  return absl::OkStatus();
}

// Elements of one dimension that the window covers at output position `out`, in ascending order.
std::vector<int64_t> CoveredElements(const Window::Dimension& window, int64_t size, int64_t out) {
  const int64_t start = out * window.stride - window.padding_low;  // in the dilated base
  const int64_t end = size == 0 ? 0 : (size - 1) * window.base_dilation + 1;
  std::vector<int64_t> elements;
  if (size < window.size) {  // over the elements rather than the window, which may be wide beyond measure
    for (int64_t e = 0; e < size; ++e) {
      const int64_t offset = e * window.base_dilation - start;
      if (offset >= 0 && offset % window.window_dilation == 0 && offset / window.window_dilation < window.size)
        elements.push_back(e);
    }
    return elements;
  }
  int64_t first = start < 0 ? (-start + window.window_dilation - 1) / window.window_dilation : 0;
  for (int64_t w = first; w < window.size; ++w) {
    const int64_t position = start + w * window.window_dilation;
    if (position >= end) break;
    if (position % window.base_dilation == 0) elements.push_back(position / window.base_dilation);
  }
  return elements;
}

}  // namespace

std::optional<int64_t> WindowedOutputSize(int64_t size, const Window::Dimension& window) {
  if (size < 0 || window.size < 1 || window.stride < 1 || window.base_dilation < 1 || window.window_dilation < 1) {
    return std::nullopt;
  }
  // Below this, sums of a few parts cannot overflow, here or where positions are computed.
  constexpr int64_t kLimit = int64_t{1} << 60;
  if (window.stride > kLimit || window.window_dilation > kLimit || window.padding_low > kLimit ||
      window.padding_low < -kLimit || window.padding_high > kLimit || window.padding_high < -kLimit) {
    return std::nullopt;
  }
  int64_t base, span;
  if (!DilatedSize(size, window.base_dilation, &base) || !DilatedSize(window.size, window.window_dilation, &span) ||
      base > kLimit || span > kLimit) {
    return std::nullopt;
  }
  base += window.padding_low + window.padding_high;
  return base < span ? 0 : (base - span) / window.stride + 1;
}

absl::StatusOr<std::vector<int64_t>> WindowedSizes(const OpView& op, const Shape& array, const Window& window) {
  const std::vector<Window::Dimension>& dimensions = window.dimensions;
  if (static_cast<int64_t>(dimensions.size()) !=
      array.rank()) {  // reduce_window_c4, c6, c8, c10, c12; select_and_scatter_c4, c6, c8
    return InvalidOp(op, "the window has ", dimensions.size(), " dimensions, but the operand has rank ", array.rank());
  }
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < array.rank(); ++i) {
    HILO_RETURN_IF_ERROR(CheckWindowDimension(op, i, dimensions[i]));
    const std::optional<int64_t> size = WindowedOutputSize(array.dimensions(i), dimensions[i]);
    if (!size) return InvalidOp(op, "the window's extent in dimension ", i, " is too large");
    sizes.push_back(*size);
  }
  return sizes;
}

absl::Status ForEachWindow(const OpView& op, const Shape& array, const Window& window,
                           absl::Span<const int64_t> positions, absl::FunctionRef<void()> begin,
                           absl::FunctionRef<absl::Status(int64_t linear)> element,
                           absl::FunctionRef<absl::Status(int64_t position)> end) {
  if (HasNoIndex(positions)) return absl::OkStatus();
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(array.dimensions());
  const int64_t rank = array.rank();
  std::vector<int64_t> out(rank, 0), counts(rank), inner(rank);
  std::vector<std::vector<int64_t>> covered(rank);
  int64_t position = 0;
  do {
    for (int64_t d = 0; d < rank; ++d) {
      HILO_RETURN_IF_ERROR(op.Spend(std::min(array.dimensions(d), window.dimensions[d].size)));
      covered[d] = CoveredElements(window.dimensions[d], array.dimensions(d), out[d]);
      counts[d] = covered[d].size();
    }
    begin();
    if (!HasNoIndex(counts)) {
      inner.assign(rank, 0);
      do {
        int64_t linear = 0;
        for (int64_t d = 0; d < rank; ++d) linear += covered[d][inner[d]] * strides[d];
        HILO_RETURN_IF_ERROR(element(linear));
      } while (IndexUtil::BumpIndices(counts, absl::MakeSpan(inner)));
    }
    HILO_RETURN_IF_ERROR(end(position++));
  } while (IndexUtil::BumpIndices(positions, absl::MakeSpan(out)));
  return absl::OkStatus();
}

}  // namespace hilo
