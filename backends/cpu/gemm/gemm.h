// Products of large matrices on the calling thread, for types that no library here supports.
#ifndef HILO_BACKENDS_CPU_GEMM_GEMM_H_
#define HILO_BACKENDS_CPU_GEMM_GEMM_H_

#include <cstdint>

#include "absl/status/status.h"

namespace hilo::cpu::gemm {

// The strides of a matrix, in elements.
struct Strides {
  int64_t row, column;
};

// c[m, n] = a[m, k] b[k, n], T float, double or uint32_t; rows of c are dense and `ldc` apart. Every element sums its
// products in ascending order, in sections of 256 that each begin at zero; the order depends on the shape alone.
// Errors: ResourceExhausted for work space.
template <typename T>
absl::Status Multiply(int64_t m, int64_t n, int64_t k, const T* a, Strides a_strides, const T* b, Strides b_strides,
                      T* c, int64_t ldc);

// The same for integers of 8 and 16 bits; sums wrap around at 32 bits.
absl::Status Multiply(int64_t m, int64_t n, int64_t k, const int8_t* a, Strides a_strides, const int8_t* b,
                      Strides b_strides, uint32_t* c, int64_t ldc);
absl::Status Multiply(int64_t m, int64_t n, int64_t k, const int16_t* a, Strides a_strides, const int16_t* b,
                      Strides b_strides, uint32_t* c, int64_t ldc);

// The same for bfloat16, given by their bits. Processors with AVX512-BF16 count subnormal factors and sums as zero.
enum class BFloat16Bits : uint16_t {};
absl::Status Multiply(int64_t m, int64_t n, int64_t k, const BFloat16Bits* a, Strides a_strides, const BFloat16Bits* b,
                      Strides b_strides, float* c, int64_t ldc);

}  // namespace hilo::cpu::gemm

#endif  // HILO_BACKENDS_CPU_GEMM_GEMM_H_
