// The devices of a platform, opened once each.
#ifndef HILO_BACKENDS_GPU_RUNTIME_GPU_DEVICES_H_
#define HILO_BACKENDS_GPU_RUNTIME_GPU_DEVICES_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/host.h"
#include "runtime/device_memory.h"

namespace hilo::gpu {

// An owner of device memory that is not in use between its runs.
class IdleMemory {
 public:
  virtual ~IdleMemory() = default;
  // Frees it, and returns its bytes. Called on any thread; must not wait for a thread that allocates.
  virtual int64_t ReleaseIdle(int device) const = 0;
};

// The order of the runs of a device that the host does not wait for: each begins after the previous ones have ended, on
// whichever streams they are. Thread-safe.
class RunOrder {
 public:
  // Orders later work of `stream` after all runs that have been added. Returns the end of the last; null: none.
  absl::StatusOr<std::shared_ptr<const GpuEvent>> Follow(GpuStream& stream);
  // Like Follow, but waits on the host, and until `cancellation` at most. Errors: the device's; that of `cancellation`.
  absl::StatusOr<std::shared_ptr<const GpuEvent>> Await(const CancellationToken& cancellation);
  // Adds a run that is queued on `stream`, after `followed`. Returns its end.
  absl::StatusOr<std::shared_ptr<GpuEvent>> Add(GpuDriver& driver, GpuStream& stream,
                                                const std::shared_ptr<const GpuEvent>& followed);

 private:
  std::mutex mutex_;
  std::shared_ptr<GpuEvent> last_;
};

// Thread-safe.
class GpuDevices {
 public:
  // `communicators` null: the platform's library.
  explicit GpuDevices(absl::string_view platform, std::shared_ptr<DeviceCommunicatorLibrary> communicators = nullptr)
      : platform_(platform),
        collectives_(communicators != nullptr ? std::move(communicators) : CommunicatorLibraryOf(platform)) {}

  const std::string& platform() const { return platform_; }
  // The result lives as long as this object. Errors: those of OpenGpuDriver, which is retried on each call.
  absl::StatusOr<GpuDriver*> Get(int device);
  // Sets `driver` for device `device`, which must not have been requested before.
  void Use(int device, std::unique_ptr<GpuDriver> driver);
  CollectiveContext& collectives() { return collectives_; }
  // Lives as long as this object.
  RunOrder& OrderOf(int device);
  // Returns the memory of device `device`, which keeps `devices` alive.
  static absl::StatusOr<std::shared_ptr<DeviceMemory>> OpenMemory(std::shared_ptr<GpuDevices> devices, int device);

  // Returns the result of `allocate`. If that is ResourceExhausted, frees all idle memory of the device and calls it
  // once more.
  absl::StatusOr<void*> Allocate(int device, absl::FunctionRef<absl::StatusOr<void*>()> allocate);
  // Adds `bytes` (which may be negative) to the idle memory of `owner`. While the total is more than a quarter of the
  // device's memory, leaving too little to other users of the device (NCCL, cuDNN, another framework in the process),
  // the owners that have run least recently free theirs; the memory of `owner` is kept, since its graphs hold the
  // addresses.
  void CountIdle(int device, const IdleMemory* owner, int64_t bytes);
  // The owner is not called after this returns.
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
  absl::flat_hash_map<int, std::unique_ptr<RunOrder>> orders_;  // destroyed before the devices
  CollectiveContext collectives_;                               // destroyed before the devices
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_RUNTIME_GPU_DEVICES_H_
