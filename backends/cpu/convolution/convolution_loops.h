// A convolution as the loops of convolution_plan.h, computed by tiles of registers that were compiled with Hilo: what
// LLVM would make of such a loop takes most of a small program's compilation, and is the same for all of them.
#ifndef HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_LOOPS_H_
#define HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_LOOPS_H_

#include <cstdint>

#include "backends/cpu/convolution/loop_numbers.h"

namespace hilo::cpu::convolution {

// kOutOfMemory: there is none for the kernel of a partial vector.
enum class RunState { kDone, kStopped, kOutOfMemory };

// Computes units [begin, end) of a phase (ConvolutionUnits). Polls `cancelled`.
RunState Run(const Loops& loops, const float* lhs, const float* rhs, float* out, int64_t begin, int64_t end,
             const volatile int32_t* cancelled);
RunState Run(const Loops& loops, const double* lhs, const double* rhs, double* out, int64_t begin, int64_t end,
             const volatile int32_t* cancelled);

}  // namespace hilo::cpu::convolution

#endif  // HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_LOOPS_H_
