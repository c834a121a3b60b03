#if defined(__x86_64__)
#define HILO_FFT_NAMESPACE avx2
#define HILO_FFT_BYTES 32
#include "backends/cpu/fft/lane_kernels.inc"
#endif
