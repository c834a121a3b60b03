// oneDNN's matrix products, and the setting of the OpenMP library that it uses.
#ifndef HILO_BACKENDS_CPU_RUNTIME_ONEDNN_LIBRARY_H_
#define HILO_BACKENDS_CPU_RUNTIME_ONEDNN_LIBRARY_H_

#include <cstdint>

namespace hilo::cpu {

// The functions by their names in oneDNN and OpenMP, with C's types: oneDNN's status is 0 for success.
struct OneDnn {
  int (*sgemm)(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
               int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
  int (*gemm_s8s8s32)(char transpose_a, char transpose_b, char offset, int64_t m, int64_t n, int64_t k, float alpha,
                      const int8_t* a, int64_t lda, int8_t a_offset, const int8_t* b, int64_t ldb, int8_t b_offset,
                      float beta, int32_t* c, int64_t ldc, const int32_t* c_offset);
  int (*get_max_threads)();
  void (*set_num_threads)(int count);
};

// Null if Hilo is built without oneDNN, or the library is not there. That of the system is opened by the first call:
// opening it takes 2 ms, and most programs do without it. May be called from any thread.
const OneDnn* OneDnnLibrary();

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_ONEDNN_LIBRARY_H_
