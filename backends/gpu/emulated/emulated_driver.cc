#include "backends/gpu/emulated/emulated_driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/gpu/emulated/block_run.h"
#include "backends/gpu/emulated/device_math.h"
#include "backends/gpu/emulated/emulated_memory.h"
#include "backends/gpu/emulated/emulated_queue.h"
#include "backends/gpu/emulated/emulated_stream.h"
#include "backends/gpu/emulated/gpu_module_reader.h"
#include "backends/gpu/emulated/kernel_transform.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// The properties that cudaGetDeviceProperties returns for an H200, except the memory.
GpuProperties Properties(int64_t memory_bytes) {
  return {.name = "emulated sm_90",
          .compute_major = 9,
          .compute_minor = 0,
          .multiprocessors = 132,
          .max_threads_per_block = 1024,
          .max_shared_bytes_per_block = 227 << 10,
          .l2_bytes = 60 << 20,
          .memory_bytes = memory_bytes,
          .is_emulated = true};
}

constexpr int64_t kMaxDelayMicroseconds = int64_t{60} * 1000 * 1000;
constexpr uint32_t kMaxGridYz = 65535;
// The assembler's limit; only dynamic shared memory may exceed it, up to max_shared_bytes_per_block.
constexpr int64_t kMaxStaticSharedBytes = 48 << 10;

// Kernels and their code; queued launches keep it alive.
struct ModuleState : EmulatedCode {
  std::unique_ptr<codegen::CompiledCode> code;
  std::vector<EmulatedKernel> kernels;
};

class Module : public GpuModule {
 public:
  explicit Module(std::shared_ptr<ModuleState> state) : state_(std::move(state)) {}
  absl::StatusOr<GpuKernel*> GetKernel(absl::string_view name) override {
    std::vector<std::string> names;
    for (EmulatedKernel& kernel : state_->kernels) {
      if (kernel.info.name == name) return &kernel;
      names.push_back(kernel.info.name);
    }
    return NotFound("no kernel '", name, "' in the module; it has ", absl::StrJoin(names, ", "));
  }

 private:
  std::shared_ptr<ModuleState> state_;
};

class Device : public EmulatedDriver, public EmulatedExecutor {
 public:
  Device(const EmulatedOptions& options, std::unique_ptr<codegen::HostJit> jit, std::unique_ptr<ThreadPool> pool)
      : options_(options),
        properties_(Properties(options.memory_bytes)),
        jit_(std::move(jit)),
        pool_(std::move(pool)),
        memory_(options.memory_bytes, options.check_accesses),
        queue_(options.seed, options.asynchronous) {}
  ~Device() override { queue_.Drain(); }

  const GpuProperties& properties() const override { return properties_; }
  GpuImageFormat image_format() const override { return GpuImageFormat::kBitcode; }

  absl::StatusOr<void*> Allocate(int64_t bytes, GpuStream* stream) override {
    if (stream != nullptr && stream->IsCaptured()) return Unimplemented("allocation in a captured stream");
    absl::StatusOr<void*> memory = memory_.Allocate(bytes);
    if (absl::IsResourceExhausted(memory.status())) {
      queue_.Drain();  // frees pending in streams
      memory = memory_.Allocate(bytes);
    }
    return memory;
  }

  absl::Status Free(void* memory, GpuStream* stream) override {
    if (memory == nullptr) return absl::OkStatus();
    if (stream == nullptr) {
      std::lock_guard<std::mutex> lock(launching_);
      if (const EmulatedAllocation* allocation = memory_.Near(memory);
          allocation != nullptr && allocation->base == memory) {
        queue_.Forget(memory, allocation->bytes);
      }
      return memory_.Free(memory);
    }
    if (stream->IsCaptured()) return Unimplemented("freeing memory in a captured stream");
    const EmulatedAllocation* allocation = memory_.Near(memory);
    if (allocation == nullptr || allocation->base != memory)
      return InvalidArgument("free of an address that is not allocated");
    return QueueOn(*stream, {.what = "free",
                             .slices = {GpuSlice::Write(memory, allocation->bytes)},
                             .run = [this, memory] { return Free(memory, nullptr); },
                             .always = true});
  }

  absl::StatusOr<GpuMemoryInfo> MemoryInfo() override { return memory_.info(); }

  absl::StatusOr<void*> AllocateHost(int64_t bytes) override {
    if (bytes <= 0)
      return bytes == 0 ? absl::StatusOr<void*>(nullptr) : InvalidArgument("expected a number of bytes, got ", bytes);
    void* memory =
        std::aligned_alloc(kDeviceAlignment, (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment);
    if (memory == nullptr) return ResourceExhausted("the host has no ", bytes, " bytes");
    return memory;
  }
  void FreeHost(void* memory) override { std::free(memory); }

  absl::StatusOr<std::unique_ptr<GpuModule>> LoadModule(absl::string_view image) override {
    HILO_ASSIGN_OR_RETURN(codegen::HostModule module, ReadGpuModule(image));
    HILO_ASSIGN_OR_RETURN(const std::vector<EmulatedKernelInfo> infos,
                          TransformKernels(&module, options_.check_accesses));
    std::vector<codegen::HostSymbol> symbols = ThreadSymbols();
    for (codegen::HostSymbol& symbol : GroupSymbols()) symbols.push_back(std::move(symbol));
    for (codegen::HostSymbol& symbol : SharedBarrierSymbols()) symbols.push_back(std::move(symbol));
    for (codegen::HostSymbol& symbol : DeviceMathSymbols()) symbols.push_back(std::move(symbol));
    auto state = std::make_shared<ModuleState>();
    std::vector<codegen::HostModule> modules;
    modules.push_back(std::move(module));
    HILO_ASSIGN_OR_RETURN(state->code, jit_->CompileModules(std::move(modules), symbols));
    for (const EmulatedKernelInfo& info : infos) {
      if (info.shared_bytes > kMaxStaticSharedBytes) {
        return InvalidArgument("kernel ", info.name, " declares ", info.shared_bytes,
                               " bytes of shared memory, expected at most ", kMaxStaticSharedBytes);
      }
      EmulatedKernel& kernel = state->kernels.emplace_back();
      kernel.info = info;
      kernel.function = state->code->LookupFunction<KernelFunction>(info.name + kEmulatedSuffix);
      kernel.code = state;
      HILO_RET_CHECK(kernel.function != nullptr) << info.name;
    }
    return std::make_unique<Module>(std::move(state));
  }

  absl::StatusOr<std::unique_ptr<GpuStream>> CreateStream(int) override { return CreateEmulatedStream(this, &queue_); }
  absl::StatusOr<std::unique_ptr<GpuEvent>> CreateEvent() override { return CreateEmulatedEvent(&queue_); }
  absl::Status AwaitNativeStream(void* stream) override { return static_cast<GpuStream*>(stream)->Synchronize(); }

  std::vector<EmulatedReport> TakeReports() override {
    queue_.Drain();
    return queue_.TakeReports();
  }

  void SetPaused(bool paused) override { queue_.SetPaused(paused); }
  int64_t PendingCount() override { return queue_.PendingCount(); }

  std::vector<AccessCount> TakeAccessCounts() override {
    queue_.Drain();
    std::vector<AccessCount> all;
    std::lock_guard<std::mutex> lock(launching_);
    for (auto& [kernel, counts] : counts_) {
      for (auto& [site, count] : counts) {
        all.push_back(count);
        all.back().kernel = kernel;
      }
    }
    counts_.clear();
    return all;
  }

  // The launch limits that the driver of a real device checks.
  absl::Status CheckLaunch(const EmulatedKernel& kernel, const LaunchDimensions& dimensions,
                           size_t arguments) const override {
    const auto bad = [&](const auto&... what) {
      return InvalidArgument("launch of ", kernel.info.name, ": ", what...);
    };
    if (static_cast<int64_t>(arguments) != kernel.info.parameter_count) {
      return bad("expected ", kernel.info.parameter_count, " arguments, got ", arguments);
    }
    const int64_t threads = dimensions.block.count(),
                  most = std::min<int64_t>(kernel.info.max_threads, properties_.max_threads_per_block);
    if (threads < 1 || threads > most) return bad("expected 1 to ", most, " threads a block, got ", threads);
    if (dimensions.grid.count() < 1 || dimensions.grid.x > INT32_MAX || dimensions.grid.y > kMaxGridYz ||
        dimensions.grid.z > kMaxGridYz) {
      return bad("expected a grid of 1 to 2147483647 by 65535 by 65535 blocks, got ", dimensions.grid.x, " by ",
                 dimensions.grid.y, " by ", dimensions.grid.z);
    }
    const int64_t shared = kernel.info.shared_bytes + dimensions.dynamic_shared_bytes;
    if (shared > properties_.max_shared_bytes_per_block)
      return bad("expected at most ", properties_.max_shared_bytes_per_block, " bytes of shared memory, got ", shared);
    return absl::OkStatus();
  }

  absl::Status RunKernel(const EmulatedKernel& kernel, const LaunchDimensions& dimensions,
                         absl::Span<const uint64_t> arguments, absl::Span<const GpuSlice> slices) override {
    if (options_.delay_microseconds > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(options_.delay_microseconds));
    EmulatedLaunch launch{.kernel = &kernel.info,
                          .function = kernel.function,
                          .dimensions = dimensions,
                          .arguments = arguments,
                          .slices = slices,
                          .seed = options_.seed,
                          .count_accesses = options_.count_accesses,
                          .counted_blocks = options_.counted_blocks,
                          .pool = pool_.get()};
    LaunchReports reports;
    std::map<uint32_t, AccessCount> counts;
    if (options_.check_accesses) {
      std::lock_guard<std::mutex> lock(launching_);  // the shadow of memory serves one launch at a time
      launch.memory = &memory_;
      launch.number = ++launches_;
      RunLaunch(launch, &reports, options_.count_accesses ? &counts_[kernel.info.name] : &counts);
    } else {
      RunLaunch(launch, &reports, &counts);
    }
    for (const EmulatedReport& report : reports.all())
      queue_.Report({report.kind, absl::StrCat(kernel.info.name, ": ", report.text)});
    return absl::OkStatus();
  }

  EmulatedMemory& memory() override { return memory_; }
  bool captures_control_flow() const override { return options_.captures_control_flow; }
  bool RefusesCapture() override {
    return refused_captures_.load() < options_.refused_captures && refused_captures_++ < options_.refused_captures;
  }

 private:
  const EmulatedOptions options_;
  const GpuProperties properties_;
  const std::unique_ptr<codegen::HostJit> jit_;
  const std::unique_ptr<ThreadPool> pool_;
  EmulatedMemory memory_;
  std::atomic<int64_t> refused_captures_{0};
  std::mutex launching_;
  uint32_t launches_ = 0;
  std::map<std::string, std::map<uint32_t, AccessCount>> counts_;
  EmulatedQueue queue_;
};

}  // namespace

absl::StatusOr<EmulatedOptions> EmulatedOptions::FromEnvironment() {
  EmulatedOptions options;
  const char* text = std::getenv("HILO_EMULATED");
  if (text == nullptr) return options;
  for (absl::string_view item : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(item, absl::MaxSplits('=', 1));
    int64_t number = 0;
    const bool has_number = absl::SimpleAtoi(parts.second, &number) && number >= 0;
    if (item == "check") {
      options.check_accesses = true;
    } else if (item == "count") {
      options.check_accesses = options.count_accesses = true;
    } else if (item == "async") {
      options.asynchronous = true;
    } else if (parts.first == "delay" && has_number && number <= kMaxDelayMicroseconds) {
      options.delay_microseconds = number;
    } else if (item == "no-conditions") {
      options.captures_control_flow = false;
    } else if (parts.first == "seed" && has_number && number <= UINT32_MAX) {
      options.seed = static_cast<uint32_t>(number);
    } else if (parts.first == "threads" && has_number && number >= 1 && number <= 1024) {
      options.host_threads = static_cast<int>(number);
    } else if (parts.first == "memory" && has_number) {
      options.memory_bytes = number;
    } else if (parts.first == "refuse-captures" && has_number) {
      options.refused_captures = number;
    } else {
      return InvalidArgument(
          "HILO_EMULATED: expected async, check, count, delay=MICROSECONDS (at most a minute), no-conditions, "
          "refuse-captures=N, seed=N, threads=N and memory=BYTES with commas between, got ",
          item);
    }
  }
  return options;
}

absl::StatusOr<std::unique_ptr<EmulatedDriver>> CreateEmulatedDriver(const EmulatedOptions& options) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::HostJit> jit, codegen::HostJit::Create());
  std::unique_ptr<ThreadPool> pool;
  if (options.host_threads > 1) {
    HILO_ASSIGN_OR_RETURN(pool, CreateThreadPool(options.host_threads));
  }
  return std::make_unique<Device>(options, std::move(jit), std::move(pool));
}

}  // namespace hilo::gpu
