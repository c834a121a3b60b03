#include "backends/gpu/runtime/gpu_platform.h"

#include "backends/gpu/collectives/emulated_communicator.h"
#include "backends/gpu/collectives/nccl_communicator.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

#ifdef HILO_HAVE_CUDA
#include "backends/gpu/cuda/cuda_driver.h"
#endif

namespace hilo::gpu {

absl::StatusOr<std::unique_ptr<GpuDriver>> OpenGpuDriver(absl::string_view platform, int device) {
  if (device < 0) return InvalidArgument("expected the number of a device, got ", device);
  if (platform == kEmulatedPlatform) {
    HILO_ASSIGN_OR_RETURN(const EmulatedOptions options, EmulatedOptions::FromEnvironment());
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<EmulatedDriver> driver, CreateEmulatedDriver(options));
    return std::unique_ptr<GpuDriver>(std::move(driver));
  }
  if (platform != kCudaPlatform)
    return InvalidArgument("expected the platform ", kCudaPlatform, " or ", kEmulatedPlatform, ", got ", platform);
#ifdef HILO_HAVE_CUDA
  return CreateCudaDriver(device);
#else
  return Unavailable("platform '", kCudaPlatform,
                     "': this library was built without the CUDA toolkit's headers and static runtime");
#endif
}

std::shared_ptr<DeviceCommunicatorLibrary> CommunicatorLibraryOf(absl::string_view platform) {
  return platform == kEmulatedPlatform ? CreateEmulatedCommunicatorLibrary() : CreateNcclLibrary();
}

}  // namespace hilo::gpu
