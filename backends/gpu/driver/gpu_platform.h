// The platforms of this backend, and how to open their devices.
#ifndef HILO_BACKENDS_GPU_DRIVER_GPU_PLATFORM_H_
#define HILO_BACKENDS_GPU_DRIVER_GPU_PLATFORM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

inline constexpr char kCudaPlatform[] = "cuda";
inline constexpr char kEmulatedPlatform[] = "cuda-emulated";
// Custom call functions on GPU memory are registered under this platform, for both platforms.
inline constexpr absl::string_view kStreamPlatform = "CUDA";

// Opens device `device` (from 0) of a platform. The emulated platform has any number of devices;
// EmulatedOptions::FromEnvironment() describes their checks. Errors: Unavailable, stating exactly what is missing: the
// library's CUDA part, a driver, a recent enough driver, a device; InvalidArgument for other platforms.
absl::StatusOr<std::unique_ptr<GpuDriver>> OpenGpuDriver(absl::string_view platform, int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_GPU_PLATFORM_H_
