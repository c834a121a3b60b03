// The innermost parts of a matrix product, compiled once per instruction set.
#ifndef HILO_BACKENDS_CPU_GEMM_GEMM_KERNELS_H_
#define HILO_BACKENDS_CPU_GEMM_GEMM_KERNELS_H_

#include <cstdint>

namespace hilo::cpu::gemm {

// Two int16_t that are adjacent along k, the first in the low bits. Machines have instructions for the sum of their
// products.
enum class Int16Pair : uint32_t {};
// The same of bfloat16.
enum class BFloat16Pair : uint32_t {};
// A bfloat16, by its bits.
enum class BFloat16Bits : uint16_t {};

template <typename Real>
struct Complex {
  Real real, imag;

  friend Complex operator+(Complex x, Complex y) { return {x.real + y.real, x.imag + y.imag}; }
};

// The number of steps of k in an element of a tile's operands, and the type of the sums.
template <typename T>
struct Step {
  using Sum = T;
  static constexpr int kLength = 1;
};
template <>
struct Step<Int16Pair> {
  using Sum = uint32_t;
  static constexpr int kLength = 2;
};
template <>
struct Step<BFloat16Pair> {
  using Sum = float;
  static constexpr int kLength = 2;
};

// An element of a tile's operand from those of a matrix, of which `second` is a step after `first`.
template <typename T, typename Element>
[[gnu::always_inline]] inline T Packed(Element first, Element second) {
  if constexpr (sizeof(T) == sizeof(Element))
    return first;
  else if constexpr (Step<T>::kLength == 1)
    return __builtin_bit_cast(T, uint32_t{static_cast<uint16_t>(first)} << 16);
  else
    return T{static_cast<uint16_t>(first) | uint32_t{static_cast<uint16_t>(second)} << 16};
}

// c (+)= a b for a tile of rows of vectors that stays in registers. Element (r, l) of `a` is at a[r * a_row + l *
// a_step], row l of b at b + l * b_step; rows of c are `ldc` elements apart. Of the last vector of a row only the first
// `last` elements, at least one, are columns: those of c behind them are not accessed, those of b not if the kernel has
// masks.
template <typename T>
using Tile = void (*)(int64_t k, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_step,
                      typename Step<T>::Sum* c, int64_t ldc, int64_t last, bool accumulate);

// Tiles of T, packed from matrices of Element.
template <typename T, typename Element>
struct Kernel {
  static constexpr int64_t kMaxVectors = 4;

  // Of the largest tile, which has three vectors in a row, and of a vector.
  int64_t rows, lanes;
  bool has_masks;
  // Returns the tile of up to `rows` rows of up to MaxVectors(rows) vectors, the last of which is whole or partial.
  Tile<T> (*tile)(int64_t rows, int64_t vectors, bool partial);
  // Copies `along` rows of `across` contiguous elements, `stride` apart, into strips of `widest` columns, the last one
  // perhaps of fewer `lanes`: step l of column i of a strip is at l * strip + i. Zeros are where there is no element.
  void (*pack_rows)(const Element* from, int64_t across, int64_t along, int64_t stride, int64_t widest, T* to);

  constexpr int64_t MaxVectors(int64_t tile_rows) const { return kMaxVectors * tile_rows <= 3 * rows ? 4 : 3; }
};

// KernelOf<T, Element>() for each row; BFloat16Pair, BFloat16Bits in avx512bf16 alone. RoundToBFloat16 rounds `count`
// numbers to nearest, ties to even.
#define HILO_GEMM_KERNELS(KERNEL)        \
  KERNEL(float, float)                   \
  KERNEL(float, BFloat16Bits)            \
  KERNEL(double, double)                 \
  KERNEL(uint32_t, uint32_t)             \
  KERNEL(Int16Pair, int16_t)             \
  KERNEL(Int16Pair, int8_t)              \
  KERNEL(Complex<float>, Complex<float>) \
  KERNEL(Complex<double>, Complex<double>)

#define HILO_GEMM_INSTRUCTIONS(instructions)                                \
  namespace instructions {                                                  \
  template <typename T, typename Element>                                   \
  Kernel<T, Element> KernelOf();                                            \
  void RoundToBFloat16(const float* from, int64_t count, BFloat16Bits* to); \
  }
HILO_GEMM_INSTRUCTIONS(baseline)
#if defined(__x86_64__)
HILO_GEMM_INSTRUCTIONS(avx2)
HILO_GEMM_INSTRUCTIONS(avx512)
HILO_GEMM_INSTRUCTIONS(avx512bf16)
#endif
#undef HILO_GEMM_INSTRUCTIONS

}  // namespace hilo::cpu::gemm

#endif  // HILO_BACKENDS_CPU_GEMM_GEMM_KERNELS_H_
