// Sorts of unsigned numbers, many at once.
#ifndef HILO_BACKENDS_CPU_RUNTIME_VECTOR_SORT_H_
#define HILO_BACKENDS_CPU_RUNTIME_VECTOR_SORT_H_

#include <cstdint>

namespace hilo::cpu {

// The sorts of one instruction set, for numbers of 32 or of 64 bits.
template <typename T>
struct VectorSorts {
  // Sorts `length` numbers in ascending order, into `spare` if `into_spare`, which has room for as many. Equal numbers
  // are not told apart. The time is O(length * log(length)) for all inputs.
  void (*sort)(T* numbers, T* spare, int64_t length, bool into_spare);
  // Moves the numbers up to `pivot` to the front of `to`, the others to its end. Returns how many the first ones are.
  int64_t (*partition)(const T* from, T* to, int64_t length, T pivot);
};

// Returns the best ones of this machine, or null if it has none: those of 32 bits need AVX2, those of 64 AVX-512.
template <typename T>
const VectorSorts<T>* FindVectorSorts();

#if defined(__x86_64__)
namespace avx2 {
extern const VectorSorts<uint32_t> kSorts32;
}
namespace avx512 {
extern const VectorSorts<uint32_t> kSorts32;
extern const VectorSorts<uint64_t> kSorts64;
}  // namespace avx512

// What the sorts call if they have split a list too often: the instructions of this function are any machine's.
void SortByComparison(uint32_t* numbers, int64_t length);
void SortByComparison(uint64_t* numbers, int64_t length);
#endif

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_VECTOR_SORT_H_
