#include "backends/gpu/runtime/gpu_devices.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kIdleShare = 4;
// Looks at an event that end with a cancellation: as the last launches of a short run take, and then at the cost of a
// wake-up each.
constexpr int kDirectLooks = 200;
constexpr std::chrono::microseconds kBetweenLooks(20);

// Memory comes from the device's pool, in the order of streams of its own: allocating and freeing from the pool takes
// microseconds, whereas cudaFree waits for all work of the device. Memory is freed once the runs that have begun are
// done, on a stream that waits for them; allocation has another, on which nothing waits, and so has memory that any
// stream may use at once. Copies have a third, so that allocation is possible during copies.
class GpuMemory : public DeviceMemory {
 public:
  GpuMemory(std::shared_ptr<GpuDevices> devices, int device, GpuDriver* driver, std::unique_ptr<GpuStream> blocks,
            std::unique_ptr<GpuStream> frees, std::unique_ptr<GpuStream> copies)
      : devices_(std::move(devices)),
        device_(device),
        driver_(*driver),
        order_(devices_->OrderOf(device)),
        blocks_(std::move(blocks)),
        frees_(std::move(frees)),
        copies_(std::move(copies)) {}

  int64_t alignment() const override { return kDeviceAlignment; }
  absl::StatusOr<void*> Allocate(int64_t size) override {
    return devices_->Allocate(device_, [&]() -> absl::StatusOr<void*> {
      absl::StatusOr<void*> memory = AllocateNow(size);
      if (!absl::IsResourceExhausted(memory.status())) return memory;
      {
        std::lock_guard<std::mutex> lock(frees_mutex_);
        HILO_RETURN_IF_ERROR(frees_->Synchronize());
      }
      return AllocateNow(size);
    });
  }
  void Free(void* memory, int64_t) override {
    std::lock_guard<std::mutex> lock(frees_mutex_);
    // Faults of the device are returned by its runs.
    (void)order_.Follow(*frees_);
    (void)driver_.Free(memory, frees_.get());
  }
  absl::Status CopyFromHost(void* to, const void* from, int64_t size) override { return Copy(to, from, size); }
  absl::Status CopyToHost(void* to, const void* from, int64_t size) override { return Copy(to, from, size); }
  absl::Status CopyWithin(void* to, const void* from, int64_t size) override { return Copy(to, from, size); }
  absl::Status AwaitStream(void* stream) override { return driver_.AwaitNativeStream(stream); }

 private:
  absl::StatusOr<void*> AllocateNow(int64_t size) {
    std::lock_guard<std::mutex> lock(blocks_mutex_);
    HILO_ASSIGN_OR_RETURN(void* memory, driver_.Allocate(size, blocks_.get()));
    // Other streams use the memory, without an event.
    const absl::Status status = blocks_->Synchronize();
    if (status.ok()) return memory;
    (void)driver_.Free(memory, blocks_.get());
    return status;
  }
  absl::Status Copy(void* to, const void* from, int64_t size) {
    std::lock_guard<std::mutex> lock(copies_mutex_);
    HILO_RETURN_IF_ERROR(copies_->Copy(to, from, size));
    return copies_->Synchronize();
  }

  std::shared_ptr<GpuDevices> devices_;
  const int device_;
  GpuDriver& driver_;
  RunOrder& order_;
  std::mutex blocks_mutex_, frees_mutex_, copies_mutex_;
  std::unique_ptr<GpuStream> blocks_, frees_, copies_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<DeviceMemory>> GpuDevices::OpenMemory(std::shared_ptr<GpuDevices> devices, int device) {
  HILO_ASSIGN_OR_RETURN(GpuDriver * driver, devices->Get(device));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuStream> blocks, driver->CreateStream());
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuStream> frees, driver->CreateStream());
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuStream> copies, driver->CreateStream());
  return std::make_shared<GpuMemory>(std::move(devices), device, driver, std::move(blocks), std::move(frees),
                                     std::move(copies));
}

absl::StatusOr<std::shared_ptr<const GpuEvent>> RunOrder::Follow(GpuStream& stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (last_ != nullptr) HILO_RETURN_IF_ERROR(stream.Wait(*last_));
  return last_;
}

absl::StatusOr<std::shared_ptr<const GpuEvent>> RunOrder::Await(const CancellationToken& cancellation) {
  std::shared_ptr<GpuEvent> last;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    last = last_;
  }
  if (last == nullptr) return last;
  for (int looks = 0;; ++looks) {
    HILO_ASSIGN_OR_RETURN(const bool is_done, last->IsDone());
    if (is_done) break;
    HILO_RETURN_IF_ERROR(cancellation.status());
    if (looks < kDirectLooks) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }
  HILO_RETURN_IF_ERROR(last->Synchronize());
  return last;
}

absl::StatusOr<std::shared_ptr<GpuEvent>> RunOrder::Add(GpuDriver& driver, GpuStream& stream,
                                                        const std::shared_ptr<const GpuEvent>& followed) {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<GpuEvent> end, driver.CreateEvent());
  std::lock_guard<std::mutex> lock(mutex_);
  // Another run may have been added while this one was queued: the end is that of all.
  if (last_ != followed) HILO_RETURN_IF_ERROR(stream.Wait(*last_));
  HILO_RETURN_IF_ERROR(stream.Record(end.get()));
  last_ = end;
  return end;
}

RunOrder& GpuDevices::OrderOf(int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<RunOrder>& order = orders_[device];
  if (order == nullptr) order = std::make_unique<RunOrder>();
  return *order;
}

void GpuDevices::Use(int device, std::unique_ptr<GpuDriver> driver) {
  std::lock_guard<std::mutex> lock(mutex_);
  drivers_[device] = std::move(driver);
}

absl::StatusOr<GpuDriver*> GpuDevices::Get(int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<GpuDriver>& driver = drivers_[device];
  if (driver == nullptr) {
    HILO_ASSIGN_OR_RETURN(driver, OpenGpuDriver(platform_, device));
  }
  return driver.get();
}

absl::StatusOr<void*> GpuDevices::Allocate(int device, absl::FunctionRef<absl::StatusOr<void*>()> allocate) {
  absl::StatusOr<void*> memory = allocate();
  if (!absl::IsResourceExhausted(memory.status())) return memory;
  {
    std::lock_guard<std::mutex> lock(idle_mutex_);
    for (auto& [owner, idle] : idle_[device]) idle.bytes -= owner->ReleaseIdle(device);
  }
  return allocate();
}

void GpuDevices::CountIdle(int device, const IdleMemory* owner, int64_t bytes) {
  const absl::StatusOr<GpuDriver*> driver = Get(device);
  if (!driver.ok()) return;
  const int64_t most = (*driver)->properties().memory_bytes / kIdleShare;
  std::lock_guard<std::mutex> lock(idle_mutex_);
  auto& owners = idle_[device];
  owners[owner].bytes += bytes;
  owners[owner].last_use = ++uses_;
  int64_t total = 0;
  std::vector<std::pair<int64_t, const IdleMemory*>> others;
  for (const auto& [other, idle] : owners) {
    total += idle.bytes;
    if (other != owner && idle.bytes > 0) others.emplace_back(idle.last_use, other);
  }
  if (total <= most) return;
  std::sort(others.begin(), others.end());
  for (const auto& [last_use, other] : others) {
    if (total <= most) break;
    const int64_t freed = other->ReleaseIdle(device);
    owners[other].bytes -= freed;
    total -= freed;
  }
}

void GpuDevices::RemoveIdleMemory(const IdleMemory* owner) {
  std::lock_guard<std::mutex> lock(idle_mutex_);
  for (auto& [device, owners] : idle_) owners.erase(owner);
}

}  // namespace hilo::gpu
