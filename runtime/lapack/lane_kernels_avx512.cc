#if defined(__x86_64__)
#define HILO_LANE_NAMESPACE avx512
#define HILO_LANE_BYTES 64
#include "runtime/lapack/lane_kernels.inc"
#endif
