#include "backends/cpu/convolution/patches.h"

#include <algorithm>
#include <cstring>

namespace hilo::cpu::convolution {
namespace {

bool IsInside(int64_t at, const PatchAxis& axis) { return at >= 0 && at < axis.input; }

// Writes the taps of one line of the window, which begins at `at` of the input's line; returns the end of what it
// wrote.
int8_t* CopyTaps(const PatchAxis& axis, int64_t features, const int8_t* line, int64_t at, int8_t* to) {
  if (axis.dilation == 1) {
    const int64_t first = std::clamp<int64_t>(-at, 0, axis.taps);
    const int64_t last = std::clamp<int64_t>(axis.input - at, first, axis.taps);
    const auto bytes = [&](int64_t taps) { return static_cast<size_t>(taps * features); };
    if (first > 0) std::memset(to, 0, bytes(first));
    if (first < last) std::memcpy(to + first * features, line + (at + first) * features, bytes(last - first));
    if (last < axis.taps) std::memset(to + last * features, 0, bytes(axis.taps - last));
    return to + axis.taps * features;
  }
  for (int64_t t = 0; t < axis.taps; ++t, at += axis.dilation, to += features) {
    if (IsInside(at, axis))
      std::memcpy(to, line + at * features, static_cast<size_t>(features));
    else
      std::memset(to, 0, static_cast<size_t>(features));
  }
  return to;
}

}  // namespace

void CopyPatches(const Patches& patches, const int8_t* input, int64_t first, int64_t count, int8_t* to) {
  const auto& [outer, middle, inner] = patches.axes;
  const int64_t line_bytes = inner.input * patches.features, taps_bytes = inner.taps * patches.features;
  for (int64_t row = first; row < first + count; ++row) {
    int64_t position = row;
    const auto begin_on = [&](const PatchAxis& axis) {
      const int64_t at = position % axis.output * axis.stride - axis.padding;
      position /= axis.output;
      return at;
    };
    const int64_t inner_at = begin_on(inner), middle_at = begin_on(middle), outer_at = begin_on(outer);
    const int64_t image = position;
    for (int64_t s = 0; s < outer.taps; ++s) {
      const int64_t plane = outer_at + s * outer.dilation;
      for (int64_t t = 0; t < middle.taps; ++t) {
        const int64_t line = middle_at + t * middle.dilation;
        if (IsInside(plane, outer) && IsInside(line, middle)) {
          const int64_t lines = (image * outer.input + plane) * middle.input + line;
          to = CopyTaps(inner, patches.features, input + lines * line_bytes, inner_at, to);
        } else {
          std::memset(to, 0, static_cast<size_t>(taps_bytes));
          to += taps_bytes;
        }
      }
    }
  }
}

}  // namespace hilo::cpu::convolution
