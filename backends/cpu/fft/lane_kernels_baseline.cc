#define HILO_FFT_NAMESPACE baseline
#define HILO_FFT_BYTES 16
#include "backends/cpu/fft/lane_kernels.inc"
