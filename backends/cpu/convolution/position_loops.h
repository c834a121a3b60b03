// Convolutions in F32 whose lanes are positions, for results of fewer features than a vector has lanes.
#ifndef HILO_BACKENDS_CPU_CONVOLUTION_POSITION_LOOPS_H_
#define HILO_BACKENDS_CPU_CONVOLUTION_POSITION_LOOPS_H_

#include <cstdint>

#include "backends/cpu/convolution/loop_numbers.h"

namespace hilo::cpu::convolution {

// Taps of the window of the lanes at most, and elements between lanes in the input: the offsets of all lanes of a
// vector fit in 32 bits.
inline constexpr int64_t kMaxPositionTaps = 128, kMaxLaneStride = 1 << 24;

// Run of convolution_loops.h for loops with an axis `lane`.
bool RunByPosition(const Loops& loops, const float* lhs, const float* rhs, float* out, int64_t begin, int64_t end,
                   const volatile int32_t* cancelled);

}  // namespace hilo::cpu::convolution

#endif  // HILO_BACKENDS_CPU_CONVOLUTION_POSITION_LOOPS_H_
