#define HILO_LANE_NAMESPACE baseline
#define HILO_LANE_BYTES 16
#include "runtime/lapack/lane_kernels.inc"
