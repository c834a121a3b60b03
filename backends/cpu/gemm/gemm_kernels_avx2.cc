#if defined(__x86_64__)
#define HILO_GEMM_NAMESPACE avx2
#define HILO_GEMM_BYTES 32
#define HILO_GEMM_ROWS 4
#include "backends/cpu/gemm/gemm_kernels.inc"
#endif
