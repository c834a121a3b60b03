// Sorts of lists whose elements are what their keys say: the keys are sorted alone and become the elements.
#ifndef HILO_BACKENDS_CPU_RUNTIME_SORT_ALONE_H_
#define HILO_BACKENDS_CPU_RUNTIME_SORT_ALONE_H_

#include <cstdint>

#include "backends/cpu/runtime/cpu_runtime.h"

namespace hilo::cpu {

// Sorts a list of `length` adjacent elements of `size` bytes. Sets `is_told` to false, and leaves the list as it is, if
// an element is not what its key says: zeros of two signs that compare equal are not. Returns a HiloStatus.
int32_t SortAlone(HiloCpuContext* context, const HiloSortWord& word, uint8_t* list, int64_t size, int64_t length,
                  bool* is_told);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_SORT_ALONE_H_
