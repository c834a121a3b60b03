#if defined(__x86_64__)
#define HILO_CONVOLUTION_NAMESPACE avx2
#define HILO_CONVOLUTION_BYTES 32
#define HILO_CONVOLUTION_REGISTERS 16
#include "backends/cpu/convolution/convolution_kernels.inc"
#include "backends/cpu/convolution/position_kernels.inc"
#endif
