#if defined(__x86_64__)
#define HILO_TRANSPOSE_NAMESPACE avx2
#define HILO_TRANSPOSE_BYTES 32
#include "backends/cpu/transpose/transpose_kernels.inc"
#endif
