// Opens what the platforms of this backend implement: devices, and the libraries that communicate between them.
#ifndef HILO_BACKENDS_GPU_RUNTIME_GPU_PLATFORM_H_
#define HILO_BACKENDS_GPU_RUNTIME_GPU_PLATFORM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/collectives/device_communicator.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/driver/platform_names.h"

namespace hilo::gpu {

// Opens device `device` (from 0) of a platform. The emulated platform has any number of devices;
// EmulatedOptions::FromEnvironment() describes their checks. Errors: Unavailable, stating exactly what is missing: the
// library's CUDA part, a driver, a recent enough driver, a device; InvalidArgument for other platforms.
absl::StatusOr<std::unique_ptr<GpuDriver>> OpenGpuDriver(absl::string_view platform, int device);

// Returns the library of collectives of a platform.
std::shared_ptr<DeviceCommunicatorLibrary> CommunicatorLibraryOf(absl::string_view platform);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_RUNTIME_GPU_PLATFORM_H_
