// Runtime functions that compiled code calls by name. None throws; those that can fail return a HiloStatus.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CPU_RUNTIME_H_
#define HILO_BACKENDS_CPU_RUNTIME_CPU_RUNTIME_H_

#include <cstdint>

#include "absl/types/span.h"
#include "backends/cpu/runtime/cpu_abi.h"
#include "backends/llvm/jit/host_jit.h"

// Of the functions that have no declaration here, as code has only their names (RuntimeSymbols):
//
// hilo_cpu_gemm_TYPE, hilo_cpu_convolution_TYPE and hilo_cpu_transpose are HiloChunkFunctions. buffers[0] points to
// numbers: those of gemm/gemm_calls.h, the number of phases of a convolution and the loops of each
// (convolution/convolution_loops.h), for bytes convolution/patches.h, or the loops of transpose/transpose_loops.h. The
// operands follow, then the result. Chunks are calls or units. They run on the calling thread, and poll the context for
// cancellation.

extern "C" {

// The comparator of a sort: operands 2i and 2i+1 point to the two elements of array i; the last operand points to
// HiloCpuContext::cancelled, which its loops poll. Returns 1 if the first element comes before the second.
typedef int32_t (*HiloLess)(const uint8_t* const* operands);
// Writes the key of each of `length` elements of a list, an unsigned number: a uint32_t if the word has at most 32
// bits, else a uint64_t. The elements of array i are steps[i] bytes apart from lists[i] on.
typedef void (*HiloSortKeys)(const uint8_t* const* lists, const int64_t* steps, int64_t length, void* keys);
// Writes the elements, adjacent ones of one array, whose keys would be `keys` if the elements were compared as they
// are.
typedef void (*HiloSortElements)(const void* keys, int64_t length, uint8_t* elements);
// A word of the keys, of at most 64 bits, whose order is the order of the sort.
struct HiloSortWord {
  HiloSortKeys write;
  int64_t bits;
  HiloSortElements read;  // null unless the word is the key of elements of the only array
};

// Sorts lists [first_list, last_list) stably, a long one by several threads. Element e of list j of array i is at
// arrays[i] + (j / stride * stride * length + j % stride + e * stride) * sizes[i]. The context is polled for
// cancellation. If there are no words, `less` tells the order, otherwise the words, the most significant first.
int32_t hilo_cpu_sort(HiloCpuContext* context, int64_t array_count, uint8_t* const* arrays, const int64_t* sizes,
                      int64_t first_list, int64_t last_list, int64_t length, int64_t stride, HiloLess less,
                      const HiloSortWord* words, int64_t word_count);

}  // extern "C"

namespace hilo::cpu {

// All functions above, by name.
absl::Span<const codegen::HostSymbol> RuntimeSymbols();

// ParallelFor splits more chunks than this into at least this many parts.
inline constexpr int kMinParts = 8;

// HiloCpuContext::parallel_for on the context's ThreadPool.
int32_t ParallelFor(HiloCpuContext* context, HiloChunkFunction function, uint8_t* frame, uint8_t** buffers,
                    int64_t chunks);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CPU_RUNTIME_H_
