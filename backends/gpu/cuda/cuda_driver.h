// The GpuDriver for CUDA devices, on the statically linked runtime library. On a machine without a driver, calls return
// an error and have no other effect.
#ifndef HILO_BACKENDS_GPU_CUDA_CUDA_DRIVER_H_
#define HILO_BACKENDS_GPU_CUDA_CUDA_DRIVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

// Returns the number of devices of this machine. Errors: Unavailable, stating the reason: no driver; a driver too old
// for this library, with both versions; no visible device.
absl::StatusOr<int> CudaDeviceCount();

// Errors: as above; InvalidArgument if there is no such device.
absl::StatusOr<std::unique_ptr<GpuDriver>> CreateCudaDriver(int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_CUDA_DRIVER_H_
