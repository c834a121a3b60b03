#if defined(__x86_64__)
#define HILO_LANE_NAMESPACE avx2
#define HILO_LANE_BYTES 32
#include "runtime/lapack/lane_kernels.inc"
#endif
