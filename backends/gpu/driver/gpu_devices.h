// The devices of a platform, opened once each.
#ifndef HILO_BACKENDS_GPU_DRIVER_GPU_DEVICES_H_
#define HILO_BACKENDS_GPU_DRIVER_GPU_DEVICES_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "runtime/device_memory.h"

namespace hilo::gpu {

// An owner of memory of devices that is not in use between its runs.
class IdleMemory {
 public:
  virtual ~IdleMemory() = default;
  // Frees it, and returns its bytes. Called on any thread; must not wait for one that allocates.
  virtual int64_t ReleaseIdle(int device) const = 0;
};

// Thread-safe.
class GpuDevices {
 public:
  // `communicators` null: the platform's.
  explicit GpuDevices(absl::string_view platform, std::shared_ptr<DeviceCommunicatorLibrary> communicators = nullptr)
      : platform_(platform),
        collectives_(communicators != nullptr ? std::move(communicators) : CommunicatorLibraryOf(platform)) {}

  const std::string& platform() const { return platform_; }
  // Lives as long as this. Errors: those of OpenGpuDriver, which are tried anew each time.
  absl::StatusOr<GpuDriver*> Get(int device);
  // Has `driver` for device `device`, which nobody has asked for yet.
  void Use(int device, std::unique_ptr<GpuDriver> driver);
  CollectiveContext& collectives() { return collectives_; }
  // The memory of device `device`, which keeps `devices` alive.
  static absl::StatusOr<std::shared_ptr<DeviceMemory>> OpenMemory(std::shared_ptr<GpuDevices> devices, int device);

  // What `allocate` returns. If that is ResourceExhausted, all idle memory of the device is freed, and it is called
  // once more.
  absl::StatusOr<void*> Allocate(int device, absl::FunctionRef<absl::StatusOr<void*>()> allocate);
  // `owner` has `bytes` of idle memory more (or fewer, if negative). While all of it is more than a quarter of the
  // device's, so that too little is left to other users of the device (NCCL, cuDNN, another framework in the process),
  // the owners that have run least recently free theirs; the memory of `owner` stays, since its graphs hold the
  // addresses.
  void CountIdle(int device, const IdleMemory* owner, int64_t bytes);
  // Afterwards the owner is not called any more.
  void RemoveIdleMemory(const IdleMemory* owner);

 private:
  const std::string platform_;
  struct Idle {
    int64_t bytes = 0;
    int64_t last_use = 0;
  };
  std::mutex idle_mutex_;
  absl::flat_hash_map<int, absl::flat_hash_map<const IdleMemory*, Idle>> idle_;  // by device
  int64_t uses_ = 0;
  std::mutex mutex_;
  absl::flat_hash_map<int, std::unique_ptr<GpuDriver>> drivers_;
  CollectiveContext collectives_;  // goes before the devices
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_GPU_DEVICES_H_
