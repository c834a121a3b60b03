#include "backends/cpu/runtime/vector_sort.h"

#include <algorithm>

namespace hilo::cpu {

#if defined(__x86_64__)

namespace {

// What vector_sort_avx512.cc is compiled for.
bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma");
}
bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // namespace

template <>
const VectorSorts<uint32_t>* FindVectorSorts() {
  static const VectorSorts<uint32_t>* const sorts = HasAvx512() ? &avx512::kSorts32
                                                    : HasAvx2() ? &avx2::kSorts32
                                                                : nullptr;
  return sorts;
}

template <>
const VectorSorts<uint64_t>* FindVectorSorts() {
  static const VectorSorts<uint64_t>* const sorts = HasAvx512() ? &avx512::kSorts64 : nullptr;
  return sorts;
}

void SortByComparison(uint32_t* numbers, int64_t length) { std::sort(numbers, numbers + length); }
void SortByComparison(uint64_t* numbers, int64_t length) { std::sort(numbers, numbers + length); }

#else

template <>
const VectorSorts<uint32_t>* FindVectorSorts() {
  return nullptr;
}
template <>
const VectorSorts<uint64_t>* FindVectorSorts() {
  return nullptr;
}

#endif

}  // namespace hilo::cpu
