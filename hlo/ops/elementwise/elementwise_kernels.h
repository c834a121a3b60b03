// Loops of the element-wise ops in the wide types (wide_elements.h). Private to hlo/ops.
#ifndef HILO_HLO_OPS_ELEMENTWISE_ELEMENTWISE_KERNELS_H_
#define HILO_HLO_OPS_ELEMENTWISE_ELEMENTWISE_KERNELS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "hilo/primitive_type.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo {

// `bits` is the width of the element type before widening; integer ops use it.
template <typename W>
using UnaryKernel = void (*)(int bits, const W* x, W* out, int64_t n);
template <typename W>
using BinaryKernel = void (*)(int bits, const W* x, const W* y, W* out, int64_t n);

// The loop of `opcode` in W: bool, int64_t, uint64_t, float, double, complex64 or complex128. Null
// if the op does not take such elements, or its result is of another type. (GCC applies -fvisibility=hidden to no
// specialization for a built-in type.)
template <typename W>
[[gnu::visibility("hidden")]] UnaryKernel<W> FindUnaryKernel(HloOpcode opcode);
template <typename W>
[[gnu::visibility("hidden")]] BinaryKernel<W> FindBinaryKernel(HloOpcode opcode);

#define HILO_DECLARE_ELEMENTWISE_KERNELS(W)            \
  template <>                                          \
  UnaryKernel<W> FindUnaryKernel<W>(HloOpcode opcode); \
  template <>                                          \
  BinaryKernel<W> FindBinaryKernel<W>(HloOpcode opcode);
HILO_DECLARE_ELEMENTWISE_KERNELS(bool)
HILO_DECLARE_ELEMENTWISE_KERNELS(int64_t)
HILO_DECLARE_ELEMENTWISE_KERNELS(uint64_t)
HILO_DECLARE_ELEMENTWISE_KERNELS(float)
HILO_DECLARE_ELEMENTWISE_KERNELS(double)
HILO_DECLARE_ELEMENTWISE_KERNELS(complex64)
HILO_DECLARE_ELEMENTWISE_KERNELS(complex128)
#undef HILO_DECLARE_ELEMENTWISE_KERNELS

// A loop over the stateless function f(x) or f(x, bits), f(x, y) or f(x, y, bits).
template <typename W, typename F>
constexpr UnaryKernel<W> LoopOver1(F) {
  return [](int bits, const W* x, W* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_invocable_v<F, W, int>) {
        out[i] = F{}(x[i], bits);
      } else {
        out[i] = F{}(x[i]);
      }
    }
    static_cast<void>(bits);
  };
}
template <typename W, typename F>
constexpr BinaryKernel<W> LoopOver2(F) {
  return [](int bits, const W* x, const W* y, W* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_invocable_v<F, W, W, int>) {
        out[i] = F{}(x[i], y[i], bits);
      } else {
        out[i] = F{}(x[i], y[i]);
      }
    }
    static_cast<void>(bits);
  };
}

// Maximum and minimum. A NaN in either operand is the result; -0 is less than +0; complex numbers
// compare by real part, then imaginary part.
template <typename W>
bool HasNan(const W& x) {
  if constexpr (is_complex<W>) {
    return std::isnan(x.real()) || std::isnan(x.imag());
  } else if constexpr (std::is_floating_point_v<W>) {
    return x != x;
  } else {
    return false;
  }
}
template <typename W>
bool IsBelow(const W& x, const W& y) {
  if constexpr (is_complex<W>) {
    return x.real() < y.real() || (x.real() == y.real() && x.imag() < y.imag());
  } else if constexpr (std::is_floating_point_v<W>) {
    return x < y || (x == y && std::signbit(x) && !std::signbit(y));
  } else {
    return x < y;
  }
}
template <typename W>
W MaximumOf(W x, W y) {
  return HasNan(x) ? x : HasNan(y) || IsBelow(x, y) ? y : x;
}
template <typename W>
W MinimumOf(W x, W y) {
  return HasNan(x) ? x : HasNan(y) || IsBelow(y, x) ? y : x;
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_ELEMENTWISE_ELEMENTWISE_KERNELS_H_
