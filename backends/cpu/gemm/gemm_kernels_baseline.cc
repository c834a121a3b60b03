#define HILO_GEMM_NAMESPACE baseline
#define HILO_GEMM_BYTES 16
#define HILO_GEMM_ROWS 4
#include "backends/cpu/gemm/gemm_kernels.inc"
