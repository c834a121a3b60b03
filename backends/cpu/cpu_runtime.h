// Functions of the runtime that compiled code calls by name.
#ifndef HILO_BACKENDS_CPU_CPU_RUNTIME_H_
#define HILO_BACKENDS_CPU_CPU_RUNTIME_H_

#include <cstdint>

#include "absl/types/span.h"
#include "backends/cpu/cpu_abi.h"
#include "backends/llvm/host_jit.h"

namespace hilo::cpu {

// c[m, n] = a[m, k] * b[k, n] with row strides in elements; the columns of c are dense. A transposed operand is stored as [k, m] or [n, k]. One thread.
extern "C" void hilo_cpu_gemm_f32(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, int64_t transpose_a,
                                  const float* b, int64_t ldb, int64_t transpose_b, float* c, int64_t ldc);

// Less-than of a sort's computation: operands 2i and 2i+1 are pointers to the two elements of array i. Returns 0 or 1.
typedef int32_t (*HiloLess)(const uint8_t* const* operands);

// Sorts `count` lists stably. List j has `length` elements with `stride` bytes-independent positions: element e of array i is at
// arrays[i] + (outer(j) + e * stride) * sizes[i], where outer(j) = j / stride * stride * length + j % stride.
extern "C" void hilo_cpu_sort(int64_t array_count, uint8_t* const* arrays, const int64_t* sizes, int64_t first_list,
                              int64_t last_list, int64_t length, int64_t stride, HiloLess less);

// Keys of one array whose order is the plain one of its type (floats: NaNs last, -0 equal to +0 only if kind says so); any number of payload arrays that follow.
// `kind` is a SortKind. Stable.
enum class SortKind : int64_t {
  kSigned = 0,
  kUnsigned = 1,
  kFloatTotal = 2,  // total order: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN
};
extern "C" void hilo_cpu_sort_keys(int64_t array_count, uint8_t* const* arrays, const int64_t* sizes, int64_t first_list,
                                   int64_t last_list, int64_t length, int64_t stride, int64_t kind, int64_t descending);

// All of them, by name.
absl::Span<const codegen::HostSymbol> RuntimeSymbols();

// HiloCpuContext::parallel_for on the context's ThreadPool.
int32_t ParallelFor(HiloCpuContext* context, HiloChunkFunction function, uint8_t* frame, uint8_t** buffers,
                    int64_t chunks);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_CPU_RUNTIME_H_
