// Tiles of convolution_loops.h in F32 whose lanes are positions, compiled once per instruction set.
#ifndef HILO_BACKENDS_CPU_CONVOLUTION_POSITION_KERNELS_H_
#define HILO_BACKENDS_CPU_CONVOLUTION_POSITION_KERNELS_H_

#include <cstdint>

#include "backends/cpu/convolution/convolution_kernels.h"

namespace hilo::cpu::convolution {

// Positions [first, last).
struct PositionRange {
  int64_t first = 0, last = 0;
};

// What the tiles of a unit have in common. Numbers are of elements.
struct PositionTiles {
  static constexpr int kTaps = 4;

  TapLoop taps[kTaps];  // the outermost first
  // The positions of the axis of the lanes that meet a tap, and the entries from an iteration of each loop to the next.
  const PositionRange* met = nullptr;
  int64_t met_steps[kTaps] = {};
  int64_t lhs_lane = 0, out_lane = 0, rhs_row = 0, out_row = 0;
};

// Rows, which are features that read the same input, and vectors of a tile.
inline constexpr int64_t kMaxFeatureRows = 4;
constexpr int64_t MaxPositionVectors(int64_t rows) { return rows <= 2 ? 4 : 2; }

// Computes one tile: `lhs`, `rhs` and `out` are its first elements, `position` is that of its first lane; the first
// `lanes` lanes are results.
using PositionKernel = void (*)(const PositionTiles& tiles, const float* lhs, const float* rhs, float* out,
                                int64_t position, int64_t lanes);

#if defined(__x86_64__)
// Return the kernel of `rows` rows, up to kMaxFeatureRows, of 1, 2 or 4 vectors, up to MaxPositionVectors. `gathers`:
// lanes are not adjacent in the input.
namespace avx2 {
PositionKernel PositionKernelOf(int64_t rows, int64_t vectors, bool gathers);
}
namespace avx512 {
PositionKernel PositionKernelOf(int64_t rows, int64_t vectors, bool gathers);
}
#endif

}  // namespace hilo::cpu::convolution

#endif  // HILO_BACKENDS_CPU_CONVOLUTION_POSITION_KERNELS_H_
