// The devices of a platform, opened once each.
#ifndef HILO_BACKENDS_GPU_GPU_DEVICES_H_
#define HILO_BACKENDS_GPU_GPU_DEVICES_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/gpu_driver.h"
#include "runtime/device_memory.h"

namespace hilo::gpu {

// Thread-safe.
class GpuDevices {
 public:
  // `communicators` null: the platform's.
  explicit GpuDevices(absl::string_view platform, std::shared_ptr<DeviceCommunicatorLibrary> communicators = nullptr)
      : platform_(platform), collectives_(communicators != nullptr ? std::move(communicators) : CommunicatorLibraryOf(platform)) {}

  const std::string& platform() const { return platform_; }
  // Lives as long as this. Errors: those of OpenGpuDriver, which are tried anew each time.
  absl::StatusOr<GpuDriver*> Get(int device);
  CollectiveContext& collectives() { return collectives_; }
  // The memory of device `device`, which keeps `devices` alive.
  static absl::StatusOr<std::shared_ptr<DeviceMemory>> OpenMemory(std::shared_ptr<GpuDevices> devices, int device);

 private:
  const std::string platform_;
  std::mutex mutex_;
  absl::flat_hash_map<int, std::unique_ptr<GpuDriver>> drivers_;
  CollectiveContext collectives_;  // goes before the devices
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_GPU_DEVICES_H_
