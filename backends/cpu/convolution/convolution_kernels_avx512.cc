#if defined(__x86_64__)
#define HILO_CONVOLUTION_REGISTERS 32
#define HILO_CONVOLUTION_NAMESPACE avx512
#define HILO_CONVOLUTION_BYTES 64
#include "backends/cpu/convolution/convolution_kernels.inc"
#include "backends/cpu/convolution/position_kernels.inc"
#undef HILO_CONVOLUTION_NAMESPACE
#undef HILO_CONVOLUTION_BYTES
#define HILO_CONVOLUTION_NAMESPACE avx512vl
#define HILO_CONVOLUTION_BYTES 32
#include "backends/cpu/convolution/convolution_kernels.inc"
#endif
