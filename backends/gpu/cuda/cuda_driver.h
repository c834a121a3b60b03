// CUDA's devices behind the seam, on the runtime library that is linked statically. A process on a machine without a
// driver gets an error and nothing else.
#ifndef HILO_BACKENDS_GPU_CUDA_CUDA_DRIVER_H_
#define HILO_BACKENDS_GPU_CUDA_CUDA_DRIVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

// Devices of this machine. Errors: Unavailable, saying which of these it is: no driver; a driver too old for this
// library, with both versions; no device visible.
absl::StatusOr<int> CudaDeviceCount();

// Errors: as above; InvalidArgument if there is no such device.
absl::StatusOr<std::unique_ptr<GpuDriver>> CreateCudaDriver(int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_CUDA_DRIVER_H_
