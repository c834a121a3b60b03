// Sorts of unsigned numbers of 32 or 64 bits, by several threads if there are many.
#ifndef HILO_BACKENDS_CPU_RUNTIME_NUMBER_SORT_H_
#define HILO_BACKENDS_CPU_RUNTIME_NUMBER_SORT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "backends/cpu/runtime/cpu_abi.h"

namespace hilo::cpu {

// Lists of as many numbers are work for several threads.
inline constexpr int64_t kMinForThreads = 1 << 15;

// Calls body(0) ... body(parts - 1) on the threads of a run. Returns a HiloStatus.
int32_t ForEachPart(HiloCpuContext* context, int64_t parts, absl::FunctionRef<void(int64_t)> body);

// Sorts stably by `bits` bits of the numbers from `first_bit` on; the other bits are 0, or their order is that of the
// array. Sets `result` to `numbers` or `spare`, whichever has the result. Returns a HiloStatus.
template <typename T>
int32_t SortNumbers(HiloCpuContext* context, T* numbers, T* spare, int64_t length, int first_bit, int bits, T** result);

// A key of 64 bits and its position.
struct SortItem {
  uint64_t key;
  uint64_t position;
};

// Sorts stably by the lowest `bits` bits of the keys. Returns the one of the two arrays that has the result; null if
// the run is cancelled.
SortItem* SortItems(const HiloCpuContext& context, SortItem* items, SortItem* spare, int64_t length, int bits);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_NUMBER_SORT_H_
