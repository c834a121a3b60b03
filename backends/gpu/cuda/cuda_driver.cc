// The runtime library keeps a current device for each thread, so every call that depends on it sets it first, which
// costs some ten nanoseconds. Memory comes from a stream-ordered pool (cuda_memory_pool.h). A library of kernels
// belongs to no context.
#include "backends/gpu/cuda/cuda_driver.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/cuda/cuda_memory_pool.h"
#include "backends/gpu/cuda/cuda_status.h"
#include "backends/gpu/cuda/graph_conditions.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/ptx/ptx.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// How often a thread that waits for loops on the device polls whether they must end. A sleep takes some 50 us longer
// than requested, so the first polls, which cover most such runs, are made without sleeping.
constexpr std::chrono::microseconds kLookAtFlag(20);
constexpr int kDirectLooks = 200;

std::string Version(int number) { return absl::StrCat(number / 1000, ".", number % 1000 / 10); }

class CudaKernel : public GpuKernel {
 public:
  // `dynamic_shared_bytes`: the most that a launch may have without a request, what static memory leaves of 48 KB.
  CudaKernel(std::string name, cudaKernel_t kernel, int dynamic_shared_bytes)
      : name_(std::move(name)), kernel_(kernel), allowed_(static_cast<uint32_t>(dynamic_shared_bytes)) {}
  const std::string& name() const override { return name_; }
  cudaKernel_t kernel() const { return kernel_; }

  absl::Status AllowShared(uint32_t bytes, int device) {
    if (bytes <= allowed_.load(std::memory_order_acquire)) return absl::OkStatus();
    std::lock_guard<std::mutex> lock(mutex_);  // a smaller request must not follow a larger one
    if (bytes <= allowed_.load(std::memory_order_relaxed)) return absl::OkStatus();
    HILO_CUDA_RETURN_IF_ERROR(cudaKernelSetAttributeForDevice(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                              static_cast<int>(bytes), device));
    allowed_.store(bytes, std::memory_order_release);
    return absl::OkStatus();
  }

 private:
  const std::string name_;
  const cudaKernel_t kernel_;
  std::mutex mutex_;
  std::atomic<uint32_t> allowed_;
};

class CudaModule : public GpuModule {
 public:
  CudaModule(cudaLibrary_t library, int device) : library_(library), device_(device) {}
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override { cudaLibraryUnload(library_); }

  absl::StatusOr<GpuKernel*> GetKernel(absl::string_view name) override {
    std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<CudaKernel>& kernel = kernels_[name];
    if (kernel == nullptr) {
      cudaKernel_t found;
      const std::string terminated(name);
      HILO_RETURN_IF_ERROR(
          CudaStatus(cudaLibraryGetKernel(&found, library_, terminated.c_str()), absl::StrCat("kernel '", name, "'")));
      // Loads its code now: the driver would load it at the first launch, which may be in a capture, where loading is
      // not allowed.
      HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
      cudaFuncAttributes attributes;
      HILO_RETURN_IF_ERROR(CudaStatus(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(found)),
                                      absl::StrCat("kernel '", name, "'")));
      kernel = std::make_unique<CudaKernel>(terminated, found, attributes.maxDynamicSharedSizeBytes);
    }
    return kernel.get();
  }

 private:
  const cudaLibrary_t library_;
  const int device_;
  std::mutex mutex_;
  absl::flat_hash_map<std::string, std::unique_ptr<CudaKernel>> kernels_;
};

class CudaEvent : public GpuEvent {
 public:
  explicit CudaEvent(cudaEvent_t event) : event_(event) {}
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() override { cudaEventDestroy(event_); }

  absl::StatusOr<bool> IsDone() override {
    const cudaError_t error = cudaEventQuery(event_);
    if (error == cudaErrorNotReady) return false;
    HILO_RETURN_IF_ERROR(CudaStatus(error, "cudaEventQuery"));
    return true;
  }
  absl::Status Synchronize() override { return CudaStatus(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  absl::StatusOr<double> MillisecondsSince(const GpuEvent& start) override {
    float milliseconds = 0;
    HILO_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&milliseconds, static_cast<const CudaEvent&>(start).event_, event_));
    return milliseconds;
  }
  cudaEvent_t event() const { return event_; }

 private:
  const cudaEvent_t event_;
};

class CudaGraph : public GpuGraph {
 public:
  // `source`: the graph it was made from, if that has control flow and must be kept; else null.
  CudaGraph(cudaGraphExec_t graph, cudaGraph_t source) : graph_(graph), source_(source) {}
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() override {
    cudaGraphExecDestroy(graph_);
    if (source_ != nullptr) cudaGraphDestroy(source_);
  }
  cudaGraphExec_t graph() const { return graph_; }
  bool has_control_flow() const { return source_ != nullptr; }

 private:
  const cudaGraphExec_t graph_;
  const cudaGraph_t source_;
};

// Errors returned by host functions of a stream; Synchronize returns the first one. Calls still held by the driver keep
// it alive.
struct HostErrors {
  std::mutex mutex;
  absl::Status first;
};
struct HostCall {
  std::function<absl::Status()> function;
  std::shared_ptr<HostErrors> errors;
};
void CUDART_CB RunHostCall(void* data) {
  const std::unique_ptr<HostCall> call(static_cast<HostCall*>(data));
  absl::Status status = call->function();
  if (status.ok()) return;
  std::lock_guard<std::mutex> lock(call->errors->mutex);
  if (call->errors->first.ok()) call->errors->first = std::move(status);
}

// Created for the first stream of a device that needs them.
class LazyConditions {
 public:
  explicit LazyConditions(int device) : device_(device) {}
  const absl::StatusOr<GraphConditions>& Get() {
    std::call_once(once_, [&] { conditions_ = GraphConditions::Load(device_); });
    return conditions_;
  }

 private:
  const int device_;
  std::once_flag once_;
  absl::StatusOr<GraphConditions> conditions_;
};

class CudaStream : public GpuStream {
 public:
  CudaStream(int device, cudaStream_t stream, LazyConditions* conditions)
      : device_(device), stream_(stream), conditions_(*conditions) {}
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() override {
    if (is_borrowed_) return;
    (void)Synchronize();
    cudaStreamDestroy(stream_);
    if (end_ != nullptr) cudaFreeHost(const_cast<uint32_t*>(end_));
  }
  cudaStream_t stream() const { return stream_; }

  absl::Status Launch(GpuKernel* kernel, const LaunchDimensions& dimensions, absl::Span<const uint64_t> arguments,
                      absl::Span<const GpuSlice>) override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    auto* const cuda = static_cast<CudaKernel*>(kernel);
    HILO_RETURN_IF_ERROR(cuda->AllowShared(dimensions.dynamic_shared_bytes, device_));
    absl::InlinedVector<void*, 16> pointers;
    for (const uint64_t& argument : arguments) pointers.push_back(const_cast<uint64_t*>(&argument));
    cudaLaunchConfig_t config{};
    config.gridDim = {dimensions.grid.x, dimensions.grid.y, dimensions.grid.z};
    config.blockDim = {dimensions.block.x, dimensions.block.y, dimensions.block.z};
    config.dynamicSmemBytes = dimensions.dynamic_shared_bytes;
    config.stream = stream_;
    cudaLaunchAttribute overlap{};
    if (dimensions.overlaps_previous) {
      overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      overlap.val.programmaticStreamSerializationAllowed = 1;
      config.attrs = &overlap;
      config.numAttrs = 1;
    }
    return CudaStatus(cudaLaunchKernelExC(&config, cuda->kernel(), pointers.data()),
                      absl::StrCat("launch of ", kernel->name()));
  }

  absl::Status Copy(void* to, const void* from, int64_t bytes) override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    if (bytes < 0) return InvalidArgument("copy: expected a number of bytes, got ", bytes);
    if (bytes == 0) return absl::OkStatus();  // a graph has no such node
    return CudaStatus(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
  }

  // The runtime fills only with bytes; wider patterns are rows of a single element, whose pitch is the element.
  absl::Status Fill(void* to, uint32_t pattern, int width, int64_t bytes) override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    if ((width != 1 && width != 2 && width != 4) || bytes < 0 || bytes % width != 0) {
      return InvalidArgument("fill: expected a width of 1, 2 or 4 that divides the bytes, got ", width, " and ", bytes);
    }
    if (bytes == 0) return absl::OkStatus();
    bool uniform = true;
    for (int byte = 1; byte < width; ++byte) uniform &= (pattern >> 8 * byte & 0xff) == (pattern & 0xff);
    if (uniform)
      return CudaStatus(cudaMemsetAsync(to, static_cast<int>(pattern & 0xff), bytes, stream_), "cudaMemsetAsync");
    for (int byte = 0; byte < width; ++byte) {
      HILO_RETURN_IF_ERROR(
          CudaStatus(cudaMemset2DAsync(static_cast<uint8_t*>(to) + byte, width,
                                       static_cast<int>(pattern >> 8 * byte & 0xff), 1, bytes / width, stream_),
                     "cudaMemset2DAsync"));
    }
    return absl::OkStatus();
  }

  absl::Status Host(std::function<absl::Status()> function, absl::Span<const GpuSlice>) override {
    auto call = std::make_unique<HostCall>(HostCall{std::move(function), errors_});
    HILO_CUDA_RETURN_IF_ERROR(cudaLaunchHostFunc(stream_, &RunHostCall, call.get()));
    call.release();  // owned by RunHostCall now
    return absl::OkStatus();
  }

  absl::Status Call(std::function<absl::Status(void*)> function, absl::Span<const GpuSlice>) override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    return function(stream_);
  }

  absl::Status Record(GpuEvent* event) override {
    return CudaStatus(cudaEventRecord(static_cast<CudaEvent*>(event)->event(), stream_), "cudaEventRecord");
  }
  absl::Status Wait(const GpuEvent& event) override {
    return CudaStatus(cudaStreamWaitEvent(stream_, static_cast<const CudaEvent&>(event).event(), 0),
                      "cudaStreamWaitEvent");
  }
  absl::Status Synchronize() override {
    // Loops on the device poll a word of host memory that is separate from the flag.
    for (int looks = 0; has_loops_ && end_flag_ != nullptr && cudaStreamQuery(stream_) == cudaErrorNotReady; ++looks) {
      if (*end_flag_ != 0) *end_ = 1;
      if (looks < kDirectLooks) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(kLookAtFlag);
      }
    }
    has_loops_ = false;
    HILO_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_));
    if (end_ != nullptr) *end_ = 0;
    std::lock_guard<std::mutex> lock(errors_->mutex);
    return errors_->first;
  }

  absl::Status BeginCapture() override {
    captures_control_flow_ = false;
    return CudaStatus(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  absl::StatusOr<std::unique_ptr<GpuGraph>> EndCapture(std::unique_ptr<GpuGraph> changed) override {
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
    if (ended != cudaSuccess) cudaGetLastError();  // not a fault of the device
    HILO_RETURN_IF_ERROR(CudaStatus(ended, "cudaStreamEndCapture"));
    if (changed != nullptr && !captures_control_flow_ && !static_cast<CudaGraph*>(changed.get())->has_control_flow()) {
      cudaGraphExecUpdateResultInfo info{};
      if (cudaGraphExecUpdate(static_cast<CudaGraph*>(changed.get())->graph(), graph, &info) == cudaSuccess) {
        cudaGraphDestroy(graph);
        return changed;
      }
      cudaGetLastError();  // a graph of another form: not a fault
    }
    cudaGraphExec_t executable = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
    if (error != cudaSuccess) cudaGetLastError();
    const bool stays = error == cudaSuccess && captures_control_flow_;
    if (!stays) cudaGraphDestroy(graph);
    HILO_RETURN_IF_ERROR(CudaStatus(error, "cudaGraphInstantiate"));
    return std::make_unique<CudaGraph>(executable, stays ? graph : nullptr);
  }
  bool IsCaptured() override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream_, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
  }
  absl::Status LaunchGraph(GpuGraph* graph) override {
    auto* const cuda = static_cast<CudaGraph*>(graph);
    has_loops_ |= cuda->has_control_flow();
    return CudaStatus(cudaGraphLaunch(cuda->graph(), stream_), "cudaGraphLaunch");
  }

  // Creates what a capture will need now, as it cannot be created in a capture.
  bool CapturesControlFlow() override { return conditions_.Get().ok() && MakeEndWord().ok(); }

  absl::Status CaptureWhile(const uint8_t* more, const Part& body) override {
    const ConditionSource source{.kind = ConditionSource::Kind::kByte, .address = more, .end = end_};
    return CaptureParts({&source, 1}, /*repeats=*/true, {&body, 1});
  }

  absl::Status CaptureBranches(const void* selector, bool is_pred, absl::Span<const Part> branches) override {
    const auto count = static_cast<int32_t>(branches.size());
    std::vector<ConditionSource> sources;
    for (int32_t branch = 0; branch < count; ++branch) {
      sources.push_back({.kind = is_pred ? ConditionSource::Kind::kPred : ConditionSource::Kind::kNumber,
                         .address = selector,
                         .branch = branch,
                         .last = count - 1});
    }
    return CaptureParts(sources, /*repeats=*/false, branches);
  }

  void EndLoopsWhen(const volatile int32_t* flag) override { end_flag_ = flag; }

 private:
  absl::Status MakeEndWord() {
    if (end_ != nullptr) return absl::OkStatus();
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    void* word = nullptr;
    HILO_CUDA_RETURN_IF_ERROR(cudaHostAlloc(&word, sizeof(uint32_t), cudaHostAllocPortable | cudaHostAllocMapped));
    end_ = static_cast<volatile uint32_t*>(word);
    *end_ = 0;
    return absl::OkStatus();
  }

  absl::Status CaptureParts(absl::Span<const ConditionSource> sources, bool repeats, absl::Span<const Part> parts) {
    if (!CapturesControlFlow()) return Unimplemented("control flow in a captured stream");
    captures_control_flow_ = true;
    return conditions_.Get()->Capture(stream_, sources, repeats, [&](size_t number, cudaStream_t stream) {
      CudaStream inner(device_, stream, &conditions_);
      inner.end_ = end_;
      inner.is_borrowed_ = true;
      return parts[number](inner);
    });
  }

  const int device_;
  const cudaStream_t stream_;
  LazyConditions& conditions_;
  bool is_borrowed_ = false;  // of a node's body: not owned
  bool captures_control_flow_ = false;
  bool has_loops_ = false;  // in the queued work
  const volatile int32_t* end_flag_ = nullptr;
  volatile uint32_t* end_ = nullptr;  // in host memory: not 0 ends loops
  const std::shared_ptr<HostErrors> errors_ = std::make_shared<HostErrors>();
};

class CudaDriver : public GpuDriver {
 public:
  CudaDriver(int device, GpuProperties properties, GpuImageFormat format, CudaMemoryPool pool)
      : device_(device), properties_(std::move(properties)), format_(format), pool_(std::move(pool)) {}

  const GpuProperties& properties() const override { return properties_; }
  GpuImageFormat image_format() const override { return format_; }

  absl::StatusOr<void*> Allocate(int64_t bytes, GpuStream* stream) override {
    if (bytes == 0) return nullptr;
    if (bytes < 0) return InvalidArgument("expected a number of bytes, got ", bytes);
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    void* memory = nullptr;
    const auto allocate = [&] {
      return stream != nullptr && pool_.exists()
                 ? cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), static_cast<CudaStream*>(stream)->stream())
                 : cudaMalloc(&memory, bytes);
    };
    cudaError_t error = allocate();
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // out of memory is not a device fault
      pool_.ReleaseUnused();
      error = allocate();
    }
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      HILO_ASSIGN_OR_RETURN(const GpuMemoryInfo info, MemoryInfo());
      return ResourceExhausted("cannot allocate ", bytes, " bytes: ", info.free_bytes, " of the device's ",
                               info.total_bytes, " are free");
    }
    HILO_RETURN_IF_ERROR(CudaStatus(error, "cudaMalloc"));
    return memory;
  }

  absl::Status Free(void* memory, GpuStream* stream) override {
    if (memory == nullptr) return absl::OkStatus();
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    if (stream != nullptr && pool_.exists())
      return CudaStatus(cudaFreeAsync(memory, static_cast<CudaStream*>(stream)->stream()), "cudaFreeAsync");
    if (stream != nullptr) HILO_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(static_cast<CudaStream*>(stream)->stream()));
    return CudaStatus(cudaFree(memory), "cudaFree");
  }

  absl::StatusOr<GpuMemoryInfo> MemoryInfo() override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    size_t free = 0, total = 0;
    HILO_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free, &total));
    return GpuMemoryInfo{.free_bytes = static_cast<int64_t>(free), .total_bytes = static_cast<int64_t>(total)};
  }

  absl::StatusOr<void*> AllocateHost(int64_t bytes) override {
    if (bytes == 0) return nullptr;
    if (bytes < 0) return InvalidArgument("expected a number of bytes, got ", bytes);
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    void* memory = nullptr;
    HILO_CUDA_RETURN_IF_ERROR(cudaMallocHost(&memory, bytes));
    return memory;
  }
  void FreeHost(void* memory) override { cudaFreeHost(memory); }

  absl::StatusOr<std::unique_ptr<GpuModule>> LoadModule(absl::string_view image) override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    const std::string bytes(image);  // PTX must be zero-terminated
    cudaLibrary_t library = nullptr;
    std::string log(8192, '\0');
    cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    const cudaError_t error = cudaLibraryLoadData(&library, bytes.c_str(), options, values, 2, nullptr, nullptr, 0);
    if (error != cudaSuccess) return CudaStatus(error, absl::StrCat("cudaLibraryLoadData (", log.c_str(), ")"));
    return std::make_unique<CudaModule>(library, device_);
  }

  absl::StatusOr<std::unique_ptr<GpuStream>> CreateStream(int priority) override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    cudaStream_t stream = nullptr;
    HILO_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    return std::make_unique<CudaStream>(device_, stream, &conditions_);
  }

  absl::StatusOr<std::unique_ptr<GpuEvent>> CreateEvent() override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    cudaEvent_t event = nullptr;
    HILO_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(&event, cudaEventDefault));
    return std::make_unique<CudaEvent>(event);
  }
  absl::Status AwaitNativeStream(void* stream) override {
    HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    return CudaStatus(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
  }

 private:
  const int device_;
  const GpuProperties properties_;
  const GpuImageFormat format_;
  LazyConditions conditions_{device_};
  const CudaMemoryPool pool_;
};

absl::StatusOr<GpuProperties> ReadProperties(int device) {
  cudaDeviceProp read;
  HILO_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&read, device));
  return GpuProperties{.name = read.name,
                       .compute_major = read.major,
                       .compute_minor = read.minor,
                       .multiprocessors = read.multiProcessorCount,
                       .max_threads_per_block = read.maxThreadsPerBlock,
                       .max_shared_bytes_per_block = static_cast<int64_t>(read.sharedMemPerBlockOptin),
                       .l2_bytes = read.l2CacheSize,
                       .memory_bytes = static_cast<int64_t>(read.totalGlobalMem)};
}

}  // namespace

absl::StatusOr<int> CudaDeviceCount() {
  int driver = 0, runtime = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaRuntimeGetVersion(&runtime));
  const cudaError_t asked = cudaDriverGetVersion(&driver);
  if (asked == cudaSuccess && driver == 0) {
    return Unavailable(
        "platform 'cuda': there is no NVIDIA driver on this machine (libcuda.so.1 was not found); this library was "
        "built with CUDA ",
        Version(runtime));
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    return Unavailable("platform 'cuda': the NVIDIA driver is too old: it supports CUDA ", Version(driver),
                       ", and this library was built with CUDA ", Version(runtime));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
    return Unavailable("platform 'cuda': the NVIDIA driver sees no device");
  HILO_RETURN_IF_ERROR(CudaStatus(error, "platform 'cuda'"));
  return count;
}

absl::StatusOr<std::unique_ptr<GpuDriver>> CreateCudaDriver(int device) {
  HILO_ASSIGN_OR_RETURN(const int count, CudaDeviceCount());
  if (device < 0 || device >= count)
    return InvalidArgument("platform 'cuda': there is no device ", device, "; this machine has ", count);
  HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device));
  HILO_ASSIGN_OR_RETURN(GpuProperties properties, ReadProperties(device));
  HILO_ASSIGN_OR_RETURN(CudaMemoryPool pool, CudaMemoryPool::Create(device));
  const GpuImageFormat format = CheckAssembler().ok() ? GpuImageFormat::kCubin : GpuImageFormat::kPtx;
  return std::make_unique<CudaDriver>(device, std::move(properties), format, std::move(pool));
}

}  // namespace hilo::gpu
