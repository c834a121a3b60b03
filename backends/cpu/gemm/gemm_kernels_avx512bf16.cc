// Products of bfloat16 by the processor's own instruction.
#if defined(__x86_64__)
#define HILO_GEMM_NAMESPACE avx512bf16
#define HILO_GEMM_BYTES 64
#define HILO_GEMM_ROWS 8
#include "backends/cpu/gemm/gemm_kernels.inc"
#endif
