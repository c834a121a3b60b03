// The interface between the GPU backend and a device: CUDA's (backends/gpu/cuda) or the emulated one
// (backends/gpu/emulated), which runs the same kernels on the host.
//
// Addresses are device addresses; only copies connect host and device memory. Work is queued on streams: work on one
// stream runs in order, work on several is ordered by events alone. Every queued operation lists the slices of memory
// that it accesses, as its thunk has them from buffer assignment. CUDA does not need them; the emulated device reports
// two operations that access the same slice, at least one writing, without an event between them.
//
// Errors: a call with invalid arguments fails at once (InvalidArgument, ResourceExhausted). Faults of queued work are
// sticky, as in CUDA: every later Synchronize and Launch of the device returns the first one (Internal).
#ifndef HILO_BACKENDS_GPU_DRIVER_GPU_DRIVER_H_
#define HILO_BACKENDS_GPU_DRIVER_GPU_DRIVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/gpu/driver/gpu_image.h"

namespace hilo::gpu {

// Device memory is aligned to this many bytes.
inline constexpr int64_t kDeviceAlignment = 256;
inline constexpr int kWarpSize = 32;

// Bytes that an operation accesses, on the device or (for copies) on the host.
struct GpuSlice {
  const void* address = nullptr;
  int64_t bytes = 0;
  bool is_written = false;

  static GpuSlice Read(const void* address, int64_t bytes) { return {address, bytes, false}; }
  static GpuSlice Write(const void* address, int64_t bytes) { return {address, bytes, true}; }
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  int64_t count() const { return int64_t{x} * y * z; }
};

struct LaunchDimensions {
  Dim3 grid;                          // blocks
  Dim3 block;                         // threads per block
  uint32_t dynamic_shared_bytes = 0;  // in addition to the kernel's static shared memory
  bool overlaps_previous = false;     // programmatic dependent launch: the kernel waits for its predecessor
};

struct GpuProperties {
  std::string name;
  int compute_major = 0, compute_minor = 0;  // 9 and 0 for sm_90
  int multiprocessors = 0;
  int64_t max_threads_per_block = 0;
  int64_t max_shared_bytes_per_block = 0;  // with opt-in
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  bool is_emulated = false;  // libraries are emulated on the host

  std::string arch() const { return "sm_" + std::to_string(compute_major) + std::to_string(compute_minor); }
};

struct GpuMemoryInfo {
  int64_t free_bytes = 0, total_bytes = 0;
};

// A function of a module; lives as long as the module.
class GpuKernel {
 public:
  virtual ~GpuKernel() = default;
  virtual const std::string& name() const = 0;
};

// Thread-safe.
class GpuModule {
 public:
  virtual ~GpuModule() = default;
  // Errors: NotFound, listing the available kernels if the image provides them.
  virtual absl::StatusOr<GpuKernel*> GetKernel(absl::string_view name) = 0;
};

// A point on a stream. Recording again moves it, and must not be concurrent with other calls; those may be.
class GpuEvent {
 public:
  virtual ~GpuEvent() = default;
  // Returns true if the stream has reached this point, or if nothing was recorded.
  virtual absl::StatusOr<bool> IsDone() = 0;
  // Waits on the host.
  virtual absl::Status Synchronize() = 0;
  // Returns the milliseconds since `start`; both must be done and of streams of one device. The emulated device
  // measures host time.
  virtual absl::StatusOr<double> MillisecondsSince(const GpuEvent& start) = 0;
};

// Captured work that can be queued repeatedly as a unit, on the same addresses.
class GpuGraph {
 public:
  virtual ~GpuGraph() = default;
};

// Not thread-safe, but different threads may use different streams. The destructor waits for queued work.
class GpuStream {
 public:
  virtual ~GpuStream() = default;

  // An argument is an address or a scalar of at most 8 bytes in the low bytes; values are copied by the call. Errors:
  // InvalidArgument if their number or the dimensions do not match the kernel.
  virtual absl::Status Launch(GpuKernel* kernel, const LaunchDimensions& dimensions,
                              absl::Span<const uint64_t> arguments, absl::Span<const GpuSlice> slices) = 0;
  // In any direction; host memory must not change until the copy is done.
  virtual absl::Status Copy(void* to, const void* from, int64_t bytes) = 0;
  // Repeats the low `width` bytes (1, 2 or 4) of `pattern`; `bytes` is a multiple of width.
  virtual absl::Status Fill(void* to, uint32_t pattern, int width, int64_t bytes) = 0;
  // Calls a function on some host thread once all earlier work of the stream is done. It must not use the device.
  virtual absl::Status Host(std::function<absl::Status()> function, absl::Span<const GpuSlice> slices) = 0;
  // For library calls: `function` receives the native stream (cudaStream_t) and queues work on it; it is called at
  // once. The emulated device queues `function` itself, which then does the work on the host: native stream null.
  virtual absl::Status Call(std::function<absl::Status(void* native_stream)> function,
                            absl::Span<const GpuSlice> slices) = 0;

  virtual absl::Status Record(GpuEvent* event) = 0;
  // Orders later work of this stream after what preceded `event` when it was last recorded.
  virtual absl::Status Wait(const GpuEvent& event) = 0;
  // Waits on the host.
  virtual absl::Status Synchronize() = 0;

  // Work queued between the two calls does not run: it is captured. Other streams join by waiting for an event that was
  // recorded in between, and must rejoin the same way. Cannot be captured: Synchronize, and Allocate and Free without a
  // stream (FailedPrecondition).
  virtual absl::Status BeginCapture() = 0;
  // With `changed`, a graph of this device that is no longer needed in its current form, that graph is updated, which
  // costs less than a new one.
  virtual absl::StatusOr<std::unique_ptr<GpuGraph>> EndCapture(std::unique_ptr<GpuGraph> changed = nullptr) = 0;
  // Returns true if queued work is being captured, because the stream began a capture or takes part in one.
  virtual bool IsCaptured() = 0;
  virtual absl::Status LaunchGraph(GpuGraph* graph) = 0;

  // Control flow executed by the device, in a stream that is being captured. The work that a part queues on the stream
  // passed to it is the body of a node.
  using Part = std::function<absl::Status(GpuStream& stream)>;
  // Returns true if the two calls below are supported.
  virtual bool CapturesControlFlow() = 0;
  // Repeats `body` while the byte at `more`, which the body may change, is not 0.
  virtual absl::Status CaptureWhile(const uint8_t* more, const Part& body) = 0;
  // Runs one of `branches`. By the pred at `selector`: the first if it is true, else the second; by the s32 there: the
  // one with this index, or the last if there is none.
  virtual absl::Status CaptureBranches(const void* selector, bool is_pred, absl::Span<const Part> branches) = 0;
  // From now on all captured loops end early once the word is not 0 and a host thread waits for the stream; null: they
  // do not.
  virtual void EndLoopsWhen(const volatile int32_t* flag) = 0;
};

// A device. Thread-safe. Must outlive the objects that it created.
class GpuDriver {
 public:
  virtual ~GpuDriver() = default;
  virtual const GpuProperties& properties() const = 0;
  // The format of the kernel images that LoadModule accepts.
  virtual GpuImageFormat image_format() const = 0;

  // The memory is not initialized (the emulated device fills it with 0xFF). At least kDeviceAlignment aligned; null for
  // 0 bytes. With a stream: allocated in its order, and usable on other streams once an event orders them. Errors:
  // ResourceExhausted with the requested, free and total bytes.
  virtual absl::StatusOr<void*> Allocate(int64_t bytes, GpuStream* stream = nullptr) = 0;
  // Work queued on `stream` may still use the memory; without a stream no queued work may.
  virtual absl::Status Free(void* memory, GpuStream* stream = nullptr) = 0;
  virtual absl::StatusOr<GpuMemoryInfo> MemoryInfo() = 0;

  // Allocates host memory for fast copies.
  virtual absl::StatusOr<void*> AllocateHost(int64_t bytes) = 0;
  virtual void FreeHost(void* memory) = 0;

  // Errors: InvalidArgument if the image is not in image_format() or not for this device.
  virtual absl::StatusOr<std::unique_ptr<GpuModule>> LoadModule(absl::string_view image) = 0;
  // Smaller priorities are more urgent; 0 is the default.
  virtual absl::StatusOr<std::unique_ptr<GpuStream>> CreateStream(int priority = 0) = 0;
  virtual absl::StatusOr<std::unique_ptr<GpuEvent>> CreateEvent() = 0;
  // Waits for the work that is queued on a stream of another library: a cudaStream_t, or the emulated device's
  // GpuStream.
  virtual absl::Status AwaitNativeStream(void* stream) = 0;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_GPU_DRIVER_H_
