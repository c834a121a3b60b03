// What the tiles of both kinds of lanes share: the units of a phase, and the taps that a position meets.
#ifndef HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_UNITS_H_
#define HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_UNITS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/cpu/convolution/loop_numbers.h"
#include "base/math.h"

namespace hilo::cpu::convolution {

struct Range {
  int64_t first, last;

  friend bool operator==(const Range&, const Range&) = default;
};

// Bounds of the loops over taps.
using Bounds = std::array<Range, Loops::kTaps>;

// ConvolutionReach::TapsAt.
inline Range TapsAt(const Reach& reach, int64_t position, int64_t taps) {
  const int64_t at = position * reach.stride + reach.offset;
  const auto quotient = [&](int64_t distance) {
    const int64_t positive = std::max<int64_t>(distance, 0);
    return reach.dilation == 1 ? positive : (positive + reach.dilation - 1) / reach.dilation;
  };
  return {quotient(-at), std::min(quotient(reach.size - at), taps)};
}

// Bounds the taps of a window at a position.
inline void Bound(const Loops& loops, int64_t window, int64_t position, Bounds* bounds) {
  for (int64_t t = 0; window >= 0 && t < Loops::kTaps; ++t) {
    if (loops.taps[t].window == window) (*bounds)[t] = TapsAt(loops.reaches[window], position, loops.taps[t].count);
  }
}

// The first elements of a tile at its first taps.
template <typename T>
struct Origin {
  const T *lhs, *rhs;
  T* out;

  void Move(int64_t by, const Axis& axis) {
    lhs += by * axis.lhs;
    rhs += by * axis.rhs;
    out += by * axis.out;
  }
};

// The indices of a unit: the group of tiles changes fastest, then positions of the outer axes, then blocks of lanes,
// sections slowest.
class UnitIndex {
 public:
  UnitIndex(const Loops& loops, int64_t unit)
      : loops_(loops), blocks_(CeilDiv(loops.lanes, loops.width * loops.vectors)) {
    for (int64_t a = 0; a < loops.outer_count; ++a) counts_[a] = loops.outer[a].count;
    counts_[loops.outer_count] = std::max<int64_t>(1, CeilDiv(loops.tiles, loops.tiles_per_unit));
    counts_[0] /= loops.sections;
    for (int64_t a = loops.outer_count; a >= 0; --a) {
      index_[a] = unit % counts_[a];
      unit /= counts_[a];
    }
    block_ = unit % blocks_;
    section_ = unit / blocks_;
  }
  void Advance() {
    for (int64_t a = loops_.outer_count; a >= 0; --a) {
      if (++index_[a] < counts_[a]) return;
      index_[a] = 0;
    }
    if (++block_ < blocks_) return;
    block_ = 0;
    ++section_;
  }

  // Returns the number of positions of an outer axis, or of groups, of a section.
  int64_t CountOf(int64_t a) const { return counts_[a]; }
  // Returns the position of an outer axis, or the group of tiles, of all sections.
  int64_t At(int64_t a) const { return index_[a] + (a == 0 ? section_ * counts_[0] : 0); }
  int64_t Group() const { return At(loops_.outer_count); }
  int64_t Block() const { return block_; }

  // Moves `origin` to the positions of the outer axes, whose taps become the bounds.
  template <typename T>
  Bounds Enter(Origin<T>* origin) const {
    Bounds bounds;
    for (int64_t t = 0; t < Loops::kTaps; ++t) bounds[t] = {0, loops_.taps[t].count};
    for (int64_t a = 0; a < loops_.outer_count; ++a) {
      origin->Move(At(a), loops_.outer[a]);
      Bound(loops_, loops_.outer[a].window, At(a), &bounds);
    }
    return bounds;
  }

 private:
  const Loops& loops_;
  const int64_t blocks_;
  int64_t counts_[Loops::kMaxOuter + 1] = {};
  int64_t index_[Loops::kMaxOuter + 1] = {}, block_ = 0, section_ = 0;
};

}  // namespace hilo::cpu::convolution

#endif  // HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_UNITS_H_
