#include "backends/cpu/convolution/position_loops.h"

#include <algorithm>
#include <bit>

#include "backends/cpu/convolution/convolution_units.h"
#include "backends/cpu/convolution/position_kernels.h"
#include "base/math.h"

namespace hilo::cpu::convolution {
namespace {

class PositionRunner {
 public:
  explicit PositionRunner(const Loops& loops) : loops_(loops), gathers_(loops.lane.lhs != 1) {
    tiles_.lhs_lane = loops.lane.lhs;
    tiles_.out_lane = loops.lane.out;
    tiles_.rhs_row = loops.tile.rhs;
    tiles_.out_row = loops.tile.out;
    tiles_.met = met_;
    met_[0] = {0, loops.lane.count};
    for (int64_t t = 0; loops.lane.window >= 0 && t < Loops::kTaps; ++t) {
      if (loops.taps[t].window != loops.lane.window) continue;
      tiles_.met_steps[t] = 1;
      const Reach& reach = loops.reaches[loops.lane.window];
      for (int64_t tap = 0; tap < std::min(loops.taps[t].count, kMaxPositionTaps); ++tap) {
        const int64_t at = tap * reach.dilation + reach.offset;
        const auto position_at = [&](int64_t element) {
          return std::min(CeilDiv(std::max<int64_t>(element - at, 0), reach.stride), loops.lane.count);
        };
        met_[tap] = {position_at(0), position_at(reach.size)};
      }
    }
  }

  // Returns false if the run was stopped.
  bool Run(const Origin<float>& first, int64_t begin, int64_t end, const volatile int32_t* cancelled) {
    UnitIndex index(loops_, begin);
    for (int64_t unit = begin; unit < end; ++unit, index.Advance()) {
      if (!RunUnit(index, first, cancelled)) return false;
    }
    return true;
  }

 private:
  bool RunUnit(const UnitIndex& index, Origin<float> origin, const volatile int32_t* cancelled) {
    const Bounds bounds = index.Enter(&origin);
    for (int64_t t = 0; t < Loops::kTaps; ++t) {
      const Tap& tap = loops_.taps[t];
      tiles_.taps[t] = {bounds[t].last - bounds[t].first, tap.lhs, tap.rhs};
      origin.lhs += bounds[t].first * tap.lhs;
      origin.rhs += bounds[t].first * tap.rhs;
    }
    const int64_t position = index.Block() * loops_.width * loops_.vectors,
                  lanes = std::min(loops_.width * loops_.vectors, loops_.lanes - position),
                  vectors = std::bit_ceil(static_cast<uint64_t>(CeilDiv(lanes, loops_.width)));
    origin.Move(position, loops_.lane);
    const int64_t first = index.Group() * loops_.tiles_per_unit,
                  last = std::min(first + loops_.tiles_per_unit, loops_.tiles);
    for (int64_t tile = first; tile < last; ++tile) {
      if (*cancelled != 0) return false;
      const int64_t row = tile * loops_.rows, rows = std::min(loops_.rows, loops_.positions - row);
      Origin<float> at = origin;
      at.Move(row, loops_.tile);
      KernelOf(rows, vectors)(tiles_, at.lhs, at.rhs, at.out, position, lanes);
    }
    return true;
  }

  PositionKernel KernelOf(int64_t rows, int64_t vectors) const {
#if defined(__x86_64__)
    const bool is_wide = loops_.width * static_cast<int64_t>(sizeof(float)) == 64;
    return (is_wide ? avx512::PositionKernelOf : avx2::PositionKernelOf)(rows, vectors, gathers_);
#else
    return nullptr;  // other processors have no such vectors
#endif
  }

  const Loops& loops_;
  const bool gathers_;
  PositionTiles tiles_;
  PositionRange met_[kMaxPositionTaps];  // by each tap of the window of the lanes
};

}  // namespace

bool RunByPosition(const Loops& loops, const float* lhs, const float* rhs, float* out, int64_t begin, int64_t end,
                   const volatile int32_t* cancelled) {
  return PositionRunner(loops).Run({lhs + loops.lhs, rhs + loops.rhs, out + loops.out}, begin, end, cancelled);
}

}  // namespace hilo::cpu::convolution
