// The innermost part of a matrix product, compiled once per instruction set.
#ifndef HILO_BACKENDS_CPU_GEMM_GEMM_KERNELS_H_
#define HILO_BACKENDS_CPU_GEMM_GEMM_KERNELS_H_

#include <cstdint>

namespace hilo::cpu::gemm {

// Two int16_t that are adjacent along k, the first in the low bits. Machines have instructions for the sum of their
// products.
enum class Int16Pair : uint32_t {};
// The same of bfloat16.
enum class BFloat16Pair : uint32_t {};

// The number of steps of k in a packed element, and the type of the sums.
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

// c (+)= a b for a tile of `rows` rows of one to kMostVectors vectors of `lanes` elements that stays in registers. `a`
// holds k columns of `rows` elements, `b` k rows of the tile's vectors, both dense, `b` aligned to 64 bytes. Rows of c
// are `ldc` elements apart.
constexpr int kMostVectors = 3;
template <typename T>
struct TileKernel {
  int64_t rows, lanes;
  // By the number of vectors, less one.
  void (*run[kMostVectors])(int64_t k, const T* a, const T* b, typename Step<T>::Sum* c, int64_t ldc, bool accumulate);

  int64_t columns() const { return kMostVectors * lanes; }
};

namespace baseline {
extern const TileKernel<float> kFloat;
extern const TileKernel<double> kDouble;
extern const TileKernel<uint32_t> kUint32;
extern const TileKernel<Int16Pair> kInt16Pair;
}  // namespace baseline
#if defined(__x86_64__)
namespace avx2 {
extern const TileKernel<float> kFloat;
extern const TileKernel<double> kDouble;
extern const TileKernel<uint32_t> kUint32;
extern const TileKernel<Int16Pair> kInt16Pair;
}  // namespace avx2
namespace avx512 {
extern const TileKernel<float> kFloat;
extern const TileKernel<double> kDouble;
extern const TileKernel<uint32_t> kUint32;
extern const TileKernel<Int16Pair> kInt16Pair;
}  // namespace avx512
namespace avx512bf16 {
extern const TileKernel<BFloat16Pair> kBFloat16Pair;
}  // namespace avx512bf16
#endif

}  // namespace hilo::cpu::gemm

#endif  // HILO_BACKENDS_CPU_GEMM_GEMM_KERNELS_H_
