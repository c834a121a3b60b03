// Products of matrices on the calling thread: those that the library does not compute, and those that it computes more
// slowly.
#ifndef HILO_BACKENDS_CPU_GEMM_GEMM_H_
#define HILO_BACKENDS_CPU_GEMM_GEMM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/cpu/gemm/gemm_kernels.h"

namespace hilo::cpu::gemm {

// The strides of a matrix, in elements.
struct Strides {
  int64_t row, column;
};

// Sets of instructions for which the tiles are compiled; a processor that has one has those before it.
enum class Instructions { kBaseline, kAvx2, kAvx512, kAvx512BFloat16 };
// Returns the last that this processor has.
Instructions HostInstructions();

// Rows of a product that have one tile, which reads the matrix on the right in place: it is read once.
inline constexpr int64_t kFewRows = 4;

// c[m, n] = a[m, k] b[k, n]; rows of c are dense and `ldc` apart. Every element sums its products in ascending order,
// in sections of 256, or of 64 or 16 if there are few rows, that each begin at zero; the order depends on shapes and
// strides alone. The sums of integers wrap around at 32 bits; those of bfloat16 are float, and rounded once. Processors
// with AVX512-BF16 count subnormal bfloat16 factors and sums of their products as zero. T, Result: float, double,
// uint32_t, Complex<float> or Complex<double> both, int8_t or int16_t and uint32_t, BFloat16Bits and float or
// BFloat16Bits. The processor must have the `instructions`. Errors: ResourceExhausted for work space.
template <typename T, typename Result>
absl::Status Multiply(int64_t m, int64_t n, int64_t k, const T* a, Strides a_strides, const T* b, Strides b_strides,
                      Result* c, int64_t ldc, Instructions instructions = HostInstructions());

}  // namespace hilo::cpu::gemm

#endif  // HILO_BACKENDS_CPU_GEMM_GEMM_H_
