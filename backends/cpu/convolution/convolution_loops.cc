#include "backends/cpu/convolution/convolution_loops.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "backends/cpu/convolution/convolution_kernels.h"
#include "backends/cpu/convolution/convolution_units.h"
#include "backends/cpu/convolution/position_loops.h"
#include "base/aligned_buffer.h"

namespace hilo::cpu::convolution {
namespace {

// The kernel of a block of lanes is packed, which is copied into the order of the loops over taps, if at least
// kMinReuse tiles read it and it has kMinPacked to Loops::kMaxPacked bytes. In the kernel its lines are as far
// apart as there are features, so that they share few sets of the caches, and each tile would wait for the same lines
// again. Measured with 4x3 tiles of f32 (Zen 3, one thread, ms before and after): 3x3 of 256 features on 14 x 14 5.9
// and 3.8, on a batch of 8 40 and 23, of 512 on 7 x 7 10.8 and 6.0, 1x1 from 64 to 256 on 56 x 56 1.7 and 1.3; less
// than 16 KB stay in the first cache.
constexpr int64_t kMinReuse = 4, kMinPacked = 16 << 10;

template <typename T>
class UnitRunner {
 public:
  // For units [begin, end).
  UnitRunner(const Loops& loops, int64_t begin, int64_t end)
      : loops_(loops),
        lanes_(loops.width * loops.vectors),
        results_(std::min(lanes_, loops.lanes)),
        whole_(KernelOf(loops.rows)),
        single_(KernelOf(1)),
        begin_(begin),
        end_(end),
        index_(loops, begin) {
    constexpr int64_t kTermsBetweenPolls = 1 << 16;
    int64_t terms = 1;
    for (const Tap& tap : loops.taps) terms *= tap.count;
    tiles_between_polls_ = std::max<int64_t>(1, kTermsBetweenPolls / std::max<int64_t>(terms, 1));
    for (int64_t t = 0; t < Loops::kTaps; ++t) {
      if (loops.tile.window >= 0 && loops.taps[t].window == loops.tile.window) tile_tap_ = t;
      rhs_steps_[t] = loops.taps[t].rhs;
    }
    MakePanel();
  }

  RunState Run(const Origin<T>& first, const volatile int32_t* cancelled) {
    if (!has_memory_) return RunState::kOutOfMemory;
    for (int64_t unit = begin_; unit < end_; ++unit, index_.Advance()) {
      if (!RunUnit(first, cancelled)) return RunState::kStopped;
    }
    return RunState::kDone;
  }

 private:
  // Returns true if the last vector has fewer results than lanes. All of its lanes are read in a packed kernel.
  bool IsPartial() const { return results_ < lanes_; }

  // Returns false if the run was stopped.
  bool RunUnit(Origin<T> origin, const volatile int32_t* cancelled) {
    bounds_ = index_.Enter(&origin);
    // The last block of lanes overlaps the one before, and computes the same bits.
    const int64_t lane = std::min(index_.Block() * lanes_, loops_.lanes - results_);
    if (loops_.group > 0) origin.lhs += lane;
    origin.rhs += lane;
    origin.out += lane;
    if (panel_ != nullptr) {
      if (std::exchange(packed_, origin.rhs) != origin.rhs) Pack(origin.rhs);
      origin.rhs = panel_;
    }
    const int64_t first = index_.Group() * loops_.tiles_per_unit,
                  last = std::min(first + loops_.tiles_per_unit, loops_.tiles);
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
      Bound(loops_, loops_.tile.window, position, &bounds_);
      Run(SummandOf(origin, 0), position, 1, 1, single_);
      bounds_ = bounds;
    }
    return true;
  }

  // Decides whether kernels are packed, and makes the memory for that.
  void MakePanel() {
    int64_t steps[Loops::kTaps], elements = lanes_;
    for (int64_t t = Loops::kTaps - 1; t >= 0; --t) {
      steps[t] = elements;
      elements *= loops_.taps[t].count;
    }
    const int64_t bytes = elements * static_cast<int64_t>(sizeof(T));
    // Tiles that read the same kernel, in units that follow each other.
    int64_t tiles = std::min(loops_.tiles, index_.CountOf(loops_.outer_count) * loops_.tiles_per_unit);
    for (int64_t a = loops_.outer_count - 1; a >= 0 && loops_.outer[a].rhs == 0; --a) tiles *= index_.CountOf(a);
    const bool is_faster = loops_.taps[Loops::kTaps - 1].rhs != lanes_ && bytes >= kMinPacked &&
                           bytes <= Loops::kMaxPacked &&
                           std::min(tiles, (end_ - begin_) * loops_.tiles_per_unit) >= kMinReuse;
    if (!is_faster && (!IsPartial() || bytes == 0)) return;
    thread_local AlignedBuffer space;  // reused by the thread's next convolution
    if (space.size() < bytes) {
      space = AlignedBuffer();
      absl::StatusOr<AlignedBuffer> larger = AlignedBuffer::Create(bytes);
      if (!larger.ok()) {
        has_memory_ = !IsPartial();  // full vectors are slower without
        return;
      }
      space = *std::move(larger);
    }
    panel_ = reinterpret_cast<T*>(space.data());
    std::copy_n(steps, Loops::kTaps, rhs_steps_);
  }
  // `rhs`: the kernel's first element of a block of lanes.
  void Pack(const T* rhs) {
    const Tap* taps = loops_.taps;
    T* to = panel_;
    for (int64_t i = 0; i < taps[0].count; ++i) {
      for (int64_t j = 0; j < taps[1].count; ++j) {
        for (int64_t k = 0; k < taps[2].count; ++k) {
          const T* from = rhs + i * taps[0].rhs + j * taps[1].rhs + k * taps[2].rhs;
          for (int64_t l = 0; l < taps[3].count; ++l, from += taps[3].rhs, to += lanes_)
            std::fill_n(std::copy_n(from, results_, to), lanes_ - results_, T{0});
        }
      }
    }
  }

  TileKernel<T> KernelOf(int64_t rows) const {
#if defined(__x86_64__)
    const bool is_wide = loops_.width * static_cast<int64_t>(sizeof(T)) == 64;
    const Lanes lanes = LanesOf(loops_.group);
    const auto choose = [&](auto wide, auto many, auto few) {
      return (is_wide ? wide : loops_.rows * loops_.vectors > MaxSums(16) ? many : few)(lanes, rows, loops_.vectors);
    };
    if constexpr (std::is_same_v<T, float>)
      return choose(avx512::FloatKernel, avx512vl::FloatKernel, avx2::FloatKernel);
    else
      return choose(avx512::DoubleKernel, avx512vl::DoubleKernel, avx2::DoubleKernel);
#else
    return nullptr;  // other processors have no such vectors
#endif
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
      summand.taps[t] = {t < loop ? 1 : bounds_[t].last - bounds_[t].first, tap.lhs, rhs_steps_[t]};
      if (t < loop) continue;
      summand.origin.lhs += bounds_[t].first * tap.lhs;
      summand.origin.rhs += bounds_[t].first * rhs_steps_[t];
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
             /*adds=*/false, results_ - lanes_ + loops_.width);
      return;
    }
    for (int64_t tile = 0; tile < count; ++tile, first.Move(rows, loops_.tile)) {
      std::fill_n(sums_, rows * lanes_, T{0});
      Add(summand.taps, first.lhs, first.rhs, sums_, kernel);
      CopySums(rows, first.out);
    }
  }

  // Kernels have a loop less than there are: adds the products of one tile to what `to` has, for each iteration of the
  // outermost. Threads that compute the same results do so elsewhere.
  void Add(const TapLoop* taps, const T* lhs, const T* rhs, T* to, TileKernel<T> kernel) const {
    for (int64_t t = 0; t < taps[0].count; ++t) {
      kernel(taps + 1, 1, lhs + t * taps[0].lhs, loops_.tile.lhs, rhs + t * taps[0].rhs, to, lanes_, loops_.group,
             /*adds=*/true, loops_.width);
    }
  }
  void CopySums(int64_t rows, T* out) const {
    for (int64_t r = 0; r < rows; ++r) std::copy_n(sums_ + r * lanes_, results_, out + r * loops_.tile.out);
  }

  // A tile whose rows meet different taps: the sums of each run of taps that the same rows meet are added to those
  // before, in memory.
  void RunAcrossBorder(const Origin<T>& origin, int64_t position) {
    std::fill_n(sums_, loops_.rows * lanes_, T{0});
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
      here.rhs += t * rhs_steps_[loop];
      AddAcrossBorder(here, loop + 1);
    }
    if (loop < tile_tap_) return;
    for (int64_t t = bounds.first, next = t; t < bounds.last; t = next) {
      const Range rows = RowsThatMeet(t);
      while (next < bounds.last && RowsThatMeet(next) == rows) ++next;
      if (rows.first == rows.last) continue;
      bounds_[loop] = {t, next};
      const Summand summand = SummandOf(first, loop);
      Add(summand.taps, summand.origin.lhs + rows.first * loops_.tile.lhs, summand.origin.rhs,
          sums_ + rows.first * lanes_, KernelOf(rows.last - rows.first));
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
  const int64_t lanes_, results_;  // of a row of a tile
  const TileKernel<T> whole_, single_;
  const int64_t begin_, end_;
  int64_t tiles_between_polls_;
  int64_t tile_tap_ = 0;             // the loop over the taps of the tile's window
  T* panel_ = nullptr;               // a kernel that is packed; null: none is
  const T* packed_ = nullptr;        // which one
  bool has_memory_ = true;           // for a kernel that must be packed
  int64_t rhs_steps_[Loops::kTaps];  // from an iteration of a loop to the next, in the kernel that tiles read
  // The tile at a border: the taps that each row meets, and its sums.
  Range met_[kMaxRows];
  alignas(64) T sums_[MaxSums(32) * 64 / sizeof(T)];
  UnitIndex index_;  // of the unit that runs
  Bounds bounds_{};
};

template <typename T>
RunState RunUnits(const Loops& loops, const T* lhs, const T* rhs, T* out, int64_t begin, int64_t end,
                  const volatile int32_t* cancelled) {
  return UnitRunner<T>(loops, begin, end).Run({lhs + loops.lhs, rhs + loops.rhs, out + loops.out}, cancelled);
}

}  // namespace

RunState Run(const Loops& loops, const float* lhs, const float* rhs, float* out, int64_t begin, int64_t end,
             const volatile int32_t* cancelled) {
  if (loops.lane.count > 0) {
    return RunByPosition(loops, lhs, rhs, out, begin, end, cancelled) ? RunState::kDone : RunState::kStopped;
  }
  return RunUnits(loops, lhs, rhs, out, begin, end, cancelled);
}
RunState Run(const Loops& loops, const double* lhs, const double* rhs, double* out, int64_t begin, int64_t end,
             const volatile int32_t* cancelled) {
  return RunUnits(loops, lhs, rhs, out, begin, end, cancelled);
}

}  // namespace hilo::cpu::convolution
