#include "backends/gpu/gpu_devices.h"

#include "backends/gpu/gpu_platform.h"
#include "base/status_macros.h"

namespace hilo::gpu {
namespace {

// Copies have a stream of their own.
class GpuMemory : public DeviceMemory {
 public:
  GpuMemory(std::shared_ptr<GpuDevices> devices, GpuDriver* driver, std::unique_ptr<GpuStream> stream)
      : devices_(std::move(devices)), driver_(*driver), stream_(std::move(stream)) {}

  absl::StatusOr<void*> Allocate(int64_t size) override { return driver_.Allocate(size); }
  void Free(void* memory, int64_t) override {
    // A fault of the device comes out of its runs.
    (void)driver_.Free(memory);
  }
  absl::Status CopyFromHost(void* to, const void* from, int64_t size) override { return Copy(to, from, size); }
  absl::Status CopyToHost(void* to, const void* from, int64_t size) override { return Copy(to, from, size); }
  absl::Status CopyWithin(void* to, const void* from, int64_t size) override { return Copy(to, from, size); }

 private:
  absl::Status Copy(void* to, const void* from, int64_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    HILO_RETURN_IF_ERROR(stream_->Copy(to, from, size));
    return stream_->Synchronize();
  }

  std::shared_ptr<GpuDevices> devices_;
  GpuDriver& driver_;
  std::mutex mutex_;
  std::unique_ptr<GpuStream> stream_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<DeviceMemory>> GpuDevices::OpenMemory(std::shared_ptr<GpuDevices> devices, int device) {
  HILO_ASSIGN_OR_RETURN(GpuDriver * driver, devices->Get(device));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuStream> stream, driver->CreateStream());
  return std::make_shared<GpuMemory>(std::move(devices), driver, std::move(stream));
}

absl::StatusOr<GpuDriver*> GpuDevices::Get(int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<GpuDriver>& driver = drivers_[device];
  if (driver == nullptr) {
    HILO_ASSIGN_OR_RETURN(driver, OpenGpuDriver(platform_, device));
  }
  return driver.get();
}

}  // namespace hilo::gpu
