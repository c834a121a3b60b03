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
// Under which custom calls' functions for the memory of a GPU are registered, for both.
inline constexpr absl::string_view kStreamPlatform = "CUDA";

// Opens device `device` (from 0) of a platform. The emulated one has any number of devices; how they check themselves
// is in EmulatedOptions::FromEnvironment(). Errors: Unavailable, saying exactly what is missing: the library's CUDA
// part, a driver, the driver's age, a device; InvalidArgument for other platforms.
absl::StatusOr<std::unique_ptr<GpuDriver>> OpenGpuDriver(absl::string_view platform, int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_GPU_PLATFORM_H_
