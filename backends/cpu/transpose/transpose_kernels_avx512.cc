#if defined(__x86_64__)
#define HILO_TRANSPOSE_NAMESPACE avx512
#define HILO_TRANSPOSE_BYTES 64
#include "backends/cpu/transpose/transpose_kernels.inc"
#endif
