#include "backends/gpu/collectives/device_communicator.h"
#include "backends/gpu/collectives/emulated_communicator.h"
#include "backends/gpu/collectives/nccl_communicator.h"
#include "backends/gpu/driver/gpu_platform.h"

namespace hilo::gpu {

std::shared_ptr<DeviceCommunicatorLibrary> CommunicatorLibraryOf(absl::string_view platform) {
  return platform == kEmulatedPlatform ? CreateEmulatedCommunicatorLibrary() : CreateNcclLibrary();
}

}  // namespace hilo::gpu
