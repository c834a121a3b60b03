#include "backends/cpu/convolution/convolution_loops.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "backends/cpu/convolution/convolution_kernels.h"

namespace hilo::cpu::convolution {
namespace {

struct Range {
  int64_t first, last;

  friend bool operator==(const Range&, const Range&) = default;
};

// ConvolutionReach::TapsAt.
Range TapsAt(const Reach& reach, int64_t position, int64_t taps) {
  const int64_t at = position * reach.stride + reach.offset;
  const auto quotient = [&](int64_t distance) {
    const int64_t positive = std::max<int64_t>(distance, 0);
    return reach.dilation == 1 ? positive : (positive + reach.dilation - 1) / reach.dilation;
  };
  return {quotient(-at), std::min(quotient(reach.size - at), taps)};
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

template <typename T>
class UnitRunner {
 public:
  explicit UnitRunner(const Loops& loops)
      : loops_(loops),
        whole_(KernelOf(loops.rows)),
        single_(KernelOf(1)),
        groups_(std::max<int64_t>(1, CeilDiv(loops.tiles, loops.tiles_per_unit))) {
    constexpr int64_t kTermsBetweenPolls = 1 << 16;
    int64_t terms = 1;
    for (const Tap& tap : loops.taps) terms *= tap.count;
    tiles_between_polls_ = std::max<int64_t>(1, kTermsBetweenPolls / terms);
    for (int64_t t = 0; t < Loops::kTaps; ++t) {
      if (loops.tile.window >= 0 && loops.taps[t].window == loops.tile.window) tile_tap_ = t;
    }
  }

  // Returns false if the run was stopped.
  bool Run(const Origin<T>& first, int64_t begin, int64_t end, const volatile int32_t* cancelled) {
    Start(begin);
    for (int64_t unit = begin; unit < end; ++unit, Advance()) {
      if (!RunUnit(first, cancelled)) return false;
    }
    return true;
  }

 private:
  using Bounds = std::array<Range, Loops::kTaps>;

  static int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

  // Sets the indices to those of a unit: the group of tiles changes fastest, the block of lanes slowest.
  void Start(int64_t unit) {
    group_ = unit % groups_;
    unit /= groups_;
    for (int64_t a = loops_.outer_count - 1; a >= 0; --a) {
      outer_[a] = unit % loops_.outer[a].count;
      unit /= loops_.outer[a].count;
    }
    block_ = unit;
  }
  void Advance() {
    if (++group_ < groups_) return;
    group_ = 0;
    for (int64_t a = loops_.outer_count - 1; a >= 0; --a) {
      if (++outer_[a] < loops_.outer[a].count) return;
      outer_[a] = 0;
    }
    ++block_;
  }

  bool RunUnit(Origin<T> origin, const volatile int32_t* cancelled) {
    for (int64_t t = 0; t < Loops::kTaps; ++t) bounds_[t] = {0, loops_.taps[t].count};
    for (int64_t a = 0; a < loops_.outer_count; ++a) {
      origin.Move(outer_[a], loops_.outer[a]);
      Bound(loops_.outer[a].window, outer_[a]);
    }
    // The last block of lanes overlaps the one before, and computes the same bits.
    const int64_t lanes = loops_.width * loops_.vectors, lane = std::min(block_ * lanes, loops_.lanes - lanes);
    if (loops_.group > 0) origin.lhs += lane;
    origin.rhs += lane;
    origin.out += lane;
    const int64_t first = group_ * loops_.tiles_per_unit, last = std::min(first + loops_.tiles_per_unit, loops_.tiles);
    const Summand summand = SummandOf(origin, 0);
    // The last tile overlaps the one before, unless it is the first.
    const int64_t overlapping = loops_.positions % loops_.rows == 0 ? loops_.tiles : loops_.tiles - 1;
    for (int64_t tile = first; tile < last;) {
      if (*cancelled != 0) return false;
      const bool overlaps = tile == overlapping;
      const int64_t position = loops_.first_position + (overlaps ? loops_.positions - loops_.rows : tile * loops_.rows);
      const int64_t inside = position < loops_.first_inside ? 0 : (loops_.last_inside - position) / loops_.rows;
      if (inside <= 0) {
        RunAcrossBorder(origin, position);
        ++tile;
        continue;
      }
      const int64_t count = overlaps ? 1 : std::min({last - tile, overlapping - tile, inside, tiles_between_polls_});
      Run(summand, position, count, loops_.rows, whole_);
      tile += count;
    }
    // Positions before and after all tiles.
    const int64_t singles = loops_.tile.count - loops_.positions;
    const int64_t end = last == loops_.tiles ? singles : loops_.first_position;
    for (int64_t single = first == 0 ? 0 : loops_.first_position; single < end; ++single) {
      if (*cancelled != 0) return false;
      const int64_t position = single < loops_.first_position ? single : single + loops_.positions;
      const Bounds bounds = bounds_;
      Bound(loops_.tile.window, position);
      Run(SummandOf(origin, 0), position, 1, 1, single_);
      bounds_ = bounds;
    }
    return true;
  }

  TileKernel<T> KernelOf(int64_t rows) const {
#if defined(__x86_64__)
    const bool is_wide = loops_.width * static_cast<int64_t>(sizeof(T)) == 64;
    const Lanes lanes = LanesOf(loops_.group);
    const auto choose = [&](auto wide, auto many, auto few) {
      return (is_wide ? wide : loops_.rows * loops_.vectors > MostSums(16) ? many : few)(lanes, rows, loops_.vectors);
    };
    if constexpr (std::is_same_v<T, float>)
      return choose(avx512::FloatKernel, avx512vl::FloatKernel, avx2::FloatKernel);
    else
      return choose(avx512::DoubleKernel, avx512vl::DoubleKernel, avx2::DoubleKernel);
#else
    return nullptr;  // other processors have no such vectors
#endif
  }

  // Bounds the taps of a window at a position.
  void Bound(int64_t window, int64_t position) {
    for (int64_t t = 0; window >= 0 && t < Loops::kTaps; ++t) {
      if (loops_.taps[t].window == window) bounds_[t] = TapsAt(loops_.reaches[window], position, loops_.taps[t].count);
    }
  }

  // Operands of the products of the loops over taps from `loop` on, and where their sums go, at a position.
  struct Summand {
    Origin<T> origin;
    TapLoop taps[Loops::kTaps];
  };
  Summand SummandOf(const Origin<T>& origin, int64_t loop) const {
    Summand summand{.origin = origin};
    for (int64_t t = 0; t < Loops::kTaps; ++t) {
      const Tap& tap = loops_.taps[t];
      summand.taps[t] = {t < loop ? 1 : bounds_[t].last - bounds_[t].first, tap.lhs, tap.rhs};
      if (t < loop) continue;
      summand.origin.lhs += bounds_[t].first * tap.lhs;
      summand.origin.rhs += bounds_[t].first * tap.rhs;
    }
    // Loops that are one stride over both arrays are one, in the same order, unless the inner one is so short that
    // processors predict its end.
    constexpr int64_t kPredicted = 4;
    TapLoop& inner = summand.taps[Loops::kTaps - 1];
    for (int64_t t = Loops::kTaps - 2; t >= 0 && inner.count > kPredicted; --t) {
      TapLoop& outer = summand.taps[t];
      if (outer.count > 1 && (outer.lhs != inner.count * inner.lhs || outer.rhs != inner.count * inner.rhs)) break;
      inner.count *= std::max<int64_t>(outer.count, 0);
      outer.count = 1;
    }
    return summand;
  }

  // Runs the kernel of tiles with `rows` rows on `count` tiles that follow each other.
  void Run(const Summand& summand, int64_t position, int64_t count, int64_t rows, TileKernel<T> kernel) {
    Origin<T> first = summand.origin;
    first.Move(position, loops_.tile);
    if (summand.taps[0].count == 1) {
      kernel(summand.taps + 1, count, first.lhs, loops_.tile.lhs, first.rhs, first.out, loops_.tile.out, loops_.group,
             false);
      return;
    }
    const int64_t lanes = loops_.width * loops_.vectors;
    for (int64_t tile = 0; tile < count; ++tile, first.Move(rows, loops_.tile)) {
      std::fill_n(sums_, rows * lanes, T{0});
      Add(summand.taps, first.lhs, first.rhs, sums_, kernel);
      CopySums(rows, first.out);
    }
  }

  // Kernels have a loop less than there are: adds the products of one tile to what `to` has, for each iteration of the
  // outermost. Threads that compute the same results do so elsewhere.
  void Add(const TapLoop* taps, const T* lhs, const T* rhs, T* to, TileKernel<T> kernel) const {
    for (int64_t t = 0; t < taps[0].count; ++t) {
      kernel(taps + 1, 1, lhs + t * taps[0].lhs, loops_.tile.lhs, rhs + t * taps[0].rhs, to,
             loops_.width * loops_.vectors, loops_.group, /*adds=*/true);
    }
  }
  void CopySums(int64_t rows, T* out) const {
    const int64_t lanes = loops_.width * loops_.vectors;
    for (int64_t r = 0; r < rows; ++r) std::copy_n(sums_ + r * lanes, lanes, out + r * loops_.tile.out);
  }

  // A tile whose rows meet different taps: the sums of each run of taps that the same rows meet are added to those
  // before, in memory.
  void RunAcrossBorder(const Origin<T>& origin, int64_t position) {
    const int64_t lanes = loops_.width * loops_.vectors;
    std::fill_n(sums_, loops_.rows * lanes, T{0});
    for (int64_t r = 0; r < loops_.rows; ++r)
      met_[r] = TapsAt(loops_.reaches[loops_.tile.window], position + r, loops_.taps[tile_tap_].count);
    Origin<T> first = origin;
    first.Move(position, loops_.tile);
    AddAcrossBorder(first, 0);
    CopySums(loops_.rows, first.out);
  }
  void AddAcrossBorder(const Origin<T>& first, int64_t loop) {
    const Tap& tap = loops_.taps[loop];
    const Range bounds = bounds_[loop];
    for (int64_t t = bounds.first; loop < tile_tap_ && t < bounds.last; ++t) {
      Origin<T> here = first;
      here.lhs += t * tap.lhs;
      here.rhs += t * tap.rhs;
      AddAcrossBorder(here, loop + 1);
    }
    if (loop < tile_tap_) return;
    const int64_t lanes = loops_.width * loops_.vectors;
    for (int64_t t = bounds.first, next = t; t < bounds.last; t = next) {
      const Range rows = RowsThatMeet(t);
      while (next < bounds.last && RowsThatMeet(next) == rows) ++next;
      if (rows.first == rows.last) continue;
      bounds_[loop] = {t, next};
      const Summand summand = SummandOf(first, loop);
      Add(summand.taps, summand.origin.lhs + rows.first * loops_.tile.lhs, summand.origin.rhs,
          sums_ + rows.first * lanes, KernelOf(rows.last - rows.first));
    }
    bounds_[loop] = bounds;
  }
  // Of the tile at a border. Rows that meet a tap are contiguous.
  Range RowsThatMeet(int64_t tap) const {
    const auto meets = [&](int64_t row) { return met_[row].first <= tap && tap < met_[row].last; };
    Range rows{0, loops_.rows};
    while (rows.first < rows.last && !meets(rows.first)) ++rows.first;
    while (rows.first < rows.last && !meets(rows.last - 1)) --rows.last;
    return rows;
  }

  const Loops& loops_;
  const TileKernel<T> whole_, single_;
  const int64_t groups_;
  int64_t tiles_between_polls_;
  int64_t tile_tap_ = 0;  // the loop over the taps of the tile's window
  // The tile at a border: the taps that each row meets, and its sums.
  Range met_[kMostRows];
  alignas(64) T sums_[MostSums(32) * 64 / sizeof(T)];
  // The unit that runs.
  int64_t group_ = 0, outer_[Loops::kMostOuter] = {}, block_ = 0;
  Bounds bounds_{};
};

template <typename T>
bool RunUnits(const Loops& loops, const T* lhs, const T* rhs, T* out, int64_t begin, int64_t end,
              const volatile int32_t* cancelled) {
  return UnitRunner<T>(loops).Run({lhs + loops.lhs, rhs + loops.rhs, out + loops.out}, begin, end, cancelled);
}

}  // namespace

bool Run(const Loops& loops, const float* lhs, const float* rhs, float* out, int64_t begin, int64_t end,
         const volatile int32_t* cancelled) {
  return RunUnits(loops, lhs, rhs, out, begin, end, cancelled);
}
bool Run(const Loops& loops, const double* lhs, const double* rhs, double* out, int64_t begin, int64_t end,
         const volatile int32_t* cancelled) {
  return RunUnits(loops, lhs, rhs, out, begin, end, cancelled);
}

}  // namespace hilo::cpu::convolution
