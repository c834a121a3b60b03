// sin, cos and tan of numbers of any magnitude, for the few arguments of compiled code that are too large for its own
// reduction (backends/llvm/math/vector_math_trig.cc).
#ifndef HILO_BACKENDS_LLVM_JIT_CIRCULAR_H_
#define HILO_BACKENDS_LLVM_JIT_CIRCULAR_H_

namespace hilo::codegen {

// Return the function of x, in radians, within 0.501 units of the last place; NaN for infinities and NaN.
float Sin(float x);
float Cos(float x);
float Tan(float x);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_CIRCULAR_H_
