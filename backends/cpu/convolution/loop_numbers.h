// A convolution as the loops of convolution_plan.h, in numbers alone.
#ifndef HILO_BACKENDS_CPU_CONVOLUTION_LOOP_NUMBERS_H_
#define HILO_BACKENDS_CPU_CONVOLUTION_LOOP_NUMBERS_H_

#include <cstdint>

namespace hilo::cpu::convolution {

// Numbers are of elements. `window`: as in ConvolutionAxis and ConvolutionTap.
struct Axis {
  int64_t count = 1, lhs = 0, rhs = 0, out = 0, window = -1;
};
struct Tap {
  int64_t count = 1, lhs = 0, rhs = 0, window = -1;
};
struct Reach {
  int64_t stride = 1, dilation = 1, offset = 0, size = 0;
};

// A phase and its plan, in numbers alone: generated code has those of all phases as a constant. Lanes, of which a
// vector has 32 bytes, or 64 with 32 registers, are either features or positions.
//
// Features are adjacent in the kernel and in the result. They read the same element of the input if `group` is 0, else
// adjacent ones: at iteration i of the last tap, which has `group` of them, all lanes of a group of `group` read the
// i-th element of the group. There are at least `vectors` full vectors of them; if `group` is 0 and the kernel has at
// most kMaxPacked bytes, the last one may be partial.
//
// Positions of an axis `lane`, only in F32, read the same element of the kernel. The rows of a tile, if it has more
// than one, are features that read the same elements of the input.
struct Loops {
  static constexpr int64_t kMaxOuter = 5, kTaps = 4, kMaxReaches = 4, kMaxPacked = 4 << 20;

  int64_t lhs = 0, rhs = 0, out = 0;          // the elements of the first position and tap
  int64_t width = 1, vectors = 1, rows = 1;   // of a tile; no more rows than positions that tiles cover
  int64_t first_position = 0, positions = 0;  // of `tile`, that tiles cover; the others are computed one at a time
  int64_t first_inside = 0, last_inside = 0;  // of those, that meet the same taps
  int64_t tiles = 0, tiles_per_unit = 1, units = 0;
  int64_t sections = 1;  // of the positions of the first of `outer`, or of the groups of tiles: a divisor
  int64_t lanes = 1, group = 0;
  Axis lane{.count = 0};  // 0: lanes are features
  Axis tile;
  int64_t outer_count = 0;
  Axis outer[kMaxOuter];
  Tap taps[kTaps];             // the innermost last; those that there are not have one iteration
  Reach reaches[kMaxReaches];  // by window
};

}  // namespace hilo::cpu::convolution

#endif  // HILO_BACKENDS_CPU_CONVOLUTION_LOOP_NUMBERS_H_
