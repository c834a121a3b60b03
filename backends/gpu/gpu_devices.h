// The devices of a platform, opened once each.
#ifndef HILO_BACKENDS_GPU_GPU_DEVICES_H_
#define HILO_BACKENDS_GPU_GPU_DEVICES_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/gpu_driver.h"
#include "runtime/device_memory.h"

namespace hilo::gpu {

// Somebody who keeps memory of devices that is not in use.
class IdleMemory {
 public:
  virtual ~IdleMemory() = default;
  // Frees it. Called on any thread; must not wait for one that allocates.
  virtual void ReleaseIdle(int device) = 0;
};

// Thread-safe.
class GpuDevices {
 public:
  // `communicators` null: the platform's.
  explicit GpuDevices(absl::string_view platform, std::shared_ptr<DeviceCommunicatorLibrary> communicators = nullptr)
      : platform_(platform), collectives_(communicators != nullptr ? std::move(communicators) : CommunicatorLibraryOf(platform)) {}

  const std::string& platform() const { return platform_; }
  // Lives as long as this. Errors: those of OpenGpuDriver, which are tried anew each time.
  absl::StatusOr<GpuDriver*> Get(int device);
  // Has `driver` for device `device`, which nobody has asked for yet.
  void Use(int device, std::unique_ptr<GpuDriver> driver);
  CollectiveContext& collectives() { return collectives_; }
  // The memory of device `device`, which keeps `devices` alive.
  static absl::StatusOr<std::shared_ptr<DeviceMemory>> OpenMemory(std::shared_ptr<GpuDevices> devices, int device);

  // What `allocate` gives. If that is ResourceExhausted, all idle memory of the device goes first, and it is asked again.
  absl::StatusOr<void*> Allocate(int device, absl::FunctionRef<absl::StatusOr<void*>()> allocate);
  void AddIdleMemory(IdleMemory* owner);
  // Afterwards the owner is not called any more.
  void RemoveIdleMemory(IdleMemory* owner);

 private:
  const std::string platform_;
  std::mutex owners_mutex_;
  absl::flat_hash_set<IdleMemory*> owners_;
  std::mutex mutex_;
  absl::flat_hash_map<int, std::unique_ptr<GpuDriver>> drivers_;
  CollectiveContext collectives_;  // goes before the devices
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_GPU_DEVICES_H_
