// Sorts of unsigned numbers, many at once.
#ifndef HILO_BACKENDS_CPU_RUNTIME_VECTOR_SORT_H_
#define HILO_BACKENDS_CPU_RUNTIME_VECTOR_SORT_H_

#include <cstdint>

namespace hilo::cpu {

// Returns true if this machine has the instructions of VectorSort: AVX-512.
bool HasVectorSort();

// Sorts `length` numbers in ascending order. `spare` has room for as many. Equal numbers are not told apart. The time
// is O(length * log(length)) for all inputs.
void VectorSort(uint64_t* numbers, uint64_t* spare, int64_t length);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_VECTOR_SORT_H_
