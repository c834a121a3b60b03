// Reports all properties of a device that the CUDA runtime provides.
#ifndef HILO_BACKENDS_GPU_CUDA_CUDA_REPORT_H_
#define HILO_BACKENDS_GPU_CUDA_CUDA_REPORT_H_

#include <string>

namespace hilo::gpu {

// Lines: versions of driver and runtime, the attributes by number, and cudaDeviceProp as hexadecimal digits. Values
// that cannot be queried are omitted.
std::string CudaDeviceReport(int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_CUDA_REPORT_H_
