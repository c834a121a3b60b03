// Streams, events and captured graphs of the emulated device.
#ifndef HILO_BACKENDS_GPU_EMULATED_EMULATED_STREAM_H_
#define HILO_BACKENDS_GPU_EMULATED_EMULATED_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/emulated/block_run.h"
#include "backends/gpu/emulated/emulated_memory.h"
#include "backends/gpu/emulated/emulated_queue.h"
#include "backends/gpu/emulated/kernel_transform.h"

namespace hilo::gpu {

// The code of kernels; queued launches keep it alive.
struct EmulatedCode {};

struct EmulatedKernel : GpuKernel {
  const std::string& name() const override { return info.name; }
  EmulatedKernelInfo info;
  KernelFunction* function = nullptr;
  std::weak_ptr<EmulatedCode> code;
};

// What streams need of their device.
class EmulatedExecutor {
 public:
  virtual ~EmulatedExecutor() = default;
  // Errors: InvalidArgument for launches that a real driver refuses.
  virtual absl::Status CheckLaunch(const EmulatedKernel& kernel, const LaunchDimensions& dimensions,
                                   size_t arguments) const = 0;
  virtual absl::Status RunKernel(const EmulatedKernel& kernel, const LaunchDimensions& dimensions,
                                 absl::Span<const uint64_t> arguments, absl::Span<const GpuSlice> slices) = 0;
  virtual EmulatedMemory& memory() = 0;
  virtual bool captures_control_flow() const = 0;
  // Counts the capture that ends, and returns true if it must fail.
  virtual bool RefusesCapture() = 0;
};

// The device and the queue outlive streams and events.
std::unique_ptr<GpuStream> CreateEmulatedStream(EmulatedExecutor* device, EmulatedQueue* queue);
std::unique_ptr<GpuEvent> CreateEmulatedEvent(EmulatedQueue* queue);

// Queues work on an emulated stream, or captures it.
absl::Status QueueOn(GpuStream& stream, QueuedWork work);

// Queues work on a stream of an emulated device that completes when other ranks are ready. `begin` is called when the
// work is queued, or for each launch of the graph that captures it; the function that it returns is polled until it
// returns true, and may not use the device. Errors: Unimplemented in captured control flow.
absl::Status QueueWhenReady(GpuStream& stream, absl::string_view what, absl::Span<const GpuSlice> slices,
                            std::function<std::function<bool()>()> begin);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_EMULATED_STREAM_H_
