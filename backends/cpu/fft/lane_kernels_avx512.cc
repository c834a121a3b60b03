#if defined(__x86_64__)
#define HILO_FFT_NAMESPACE avx512
#define HILO_FFT_BYTES 64
#include "backends/cpu/fft/lane_kernels.inc"
#endif
