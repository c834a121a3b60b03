#include "backends/gpu/emulated/emulated_driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/gpu/emulated/block_run.h"
#include "backends/gpu/emulated/device_math.h"
#include "backends/gpu/emulated/emulated_memory.h"
#include "backends/gpu/emulated/emulated_queue.h"
#include "backends/gpu/emulated/gpu_module_reader.h"
#include "backends/gpu/emulated/kernel_transform.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using Clock = std::chrono::steady_clock;

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

class Device;
struct ModuleState;

struct Kernel : GpuKernel {
  const std::string& name() const override { return info.name; }
  EmulatedKernelInfo info;
  KernelFunction* function = nullptr;
  std::weak_ptr<ModuleState> module;
};

// Kernels and their code; queued launches keep it alive.
struct ModuleState {
  std::unique_ptr<codegen::CompiledCode> code;
  std::vector<Kernel> kernels;
};

class Module : public GpuModule {
 public:
  explicit Module(std::shared_ptr<ModuleState> state) : state_(std::move(state)) {}
  absl::StatusOr<GpuKernel*> GetKernel(absl::string_view name) override {
    std::vector<std::string> names;
    for (Kernel& kernel : state_->kernels) {
      if (kernel.info.name == name) return &kernel;
      names.push_back(kernel.info.name);
    }
    return NotFound("no kernel '", name, "' in the module; it has ", absl::StrJoin(names, ", "));
  }

 private:
  std::shared_ptr<ModuleState> state_;
};

// State of a capture; shared by the streams that take part.
struct CaptureSession {
  bool ended = false;
  bool is_part = false;  // of control flow
  CapturedWork captured;
  StreamOrder order;
  std::map<std::pair<int, uint64_t>, size_t> node_of;  // of an operation
  std::map<int, std::vector<size_t>>
      waits;  // nodes that a stream's next operation comes after, beside the stream's last
};

struct EventState {
  StreamPoint point;
  std::shared_ptr<CaptureSession> capture;
  std::shared_ptr<Clock::time_point> time;
};

class Event : public GpuEvent {
 public:
  explicit Event(EmulatedQueue* queue) : queue_(*queue) {}
  absl::StatusOr<bool> IsDone() override {
    if (state.capture != nullptr) return FailedPrecondition("an event that was recorded while capturing is never done");
    if (state.point.stream < 0) return true;
    const bool done = queue_.Poll(state.point);
    HILO_RETURN_IF_ERROR(queue_.status());
    return done;
  }
  absl::Status Synchronize() override {
    if (state.capture != nullptr) return FailedPrecondition("an event that was recorded while capturing is never done");
    return state.point.stream < 0 ? absl::OkStatus() : queue_.Reach(state.point);
  }
  absl::StatusOr<double> MillisecondsSince(const GpuEvent& start) override {
    const EventState& from = static_cast<const Event&>(start).state;
    if (state.time == nullptr || from.time == nullptr)
      return FailedPrecondition("time between events that were not recorded");
    HILO_RETURN_IF_ERROR(Synchronize());
    return std::chrono::duration<double, std::milli>(*state.time - *from.time).count();
  }

  EventState state;

 private:
  EmulatedQueue& queue_;
};

// Ends loops that were captured on a stream; captured work keeps it alive.
using EndFlag = std::atomic<const volatile int32_t*>;

struct Graph : GpuGraph {
  std::shared_ptr<const CapturedWork> work;
};

class Stream : public GpuStream {
 public:
  Stream(Device* device, EmulatedQueue* queue) : device_(*device), queue_(*queue), number_(queue->AddStream()) {}
  ~Stream() override { queue_.RemoveStream(number_); }

  absl::Status Launch(GpuKernel* kernel, const LaunchDimensions& dimensions, absl::Span<const uint64_t> arguments,
                      absl::Span<const GpuSlice> slices) override;
  absl::Status Copy(void* to, const void* from, int64_t bytes) override;
  absl::Status Fill(void* to, uint32_t pattern, int width, int64_t bytes) override;
  absl::Status Host(std::function<absl::Status()> function, absl::Span<const GpuSlice> slices) override {
    return Add({"host", {slices.begin(), slices.end()}, std::move(function)});
  }
  absl::Status Call(std::function<absl::Status(void*)> function, absl::Span<const GpuSlice> slices) override {
    return Add(
        {"call", {slices.begin(), slices.end()}, [function = std::move(function)] { return function(nullptr); }});
  }

  absl::Status Record(GpuEvent* event) override {
    EventState& state = static_cast<Event*>(event)->state;
    if (IsCaptured()) {
      state = {.point = capture_->order.Record(number_), .capture = capture_};
      return absl::OkStatus();
    }
    auto time = std::make_shared<Clock::time_point>();
    HILO_RETURN_IF_ERROR(Add({.what = "record",
                              .run =
                                  [time] {
                                    *time = Clock::now();
                                    return absl::OkStatus();
                                  },
                              .always = true}));
    state = {.point = queue_.Record(number_), .time = std::move(time)};
    return absl::OkStatus();
  }

  absl::Status Wait(const GpuEvent& event) override {
    const EventState& state = static_cast<const Event&>(event).state;
    if (state.capture == nullptr && !IsCaptured()) {
      queue_.Wait(number_, state.point);
      return absl::OkStatus();
    }
    if (state.capture == nullptr)
      return FailedPrecondition("a captured stream waits for an event that was recorded outside of the capture");
    if (state.capture->ended) return FailedPrecondition("a stream waits for an event of a capture that has ended");
    if (IsCaptured() && capture_ != state.capture)
      return FailedPrecondition("a stream that is captured joins another capture");
    capture_ = state.capture;
    capture_->order.Wait(number_, state.point);
    const auto node = capture_->node_of.find({state.point.stream, state.point.sequence});
    if (node != capture_->node_of.end()) capture_->waits[number_].push_back(node->second);
    return absl::OkStatus();
  }

  absl::Status Synchronize() override {
    if (IsCaptured()) return FailedPrecondition("a stream that is captured cannot be waited for");
    return queue_.Synchronize(number_);
  }

  absl::Status BeginCapture() override {
    if (IsCaptured()) return FailedPrecondition("the stream is being captured already");
    capture_ = std::make_shared<CaptureSession>();
    is_origin_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<GpuGraph>> EndCapture(std::unique_ptr<GpuGraph> changed) override {
    if (capture_ == nullptr || !is_origin_) return FailedPrecondition("the capture did not begin on this stream");
    const std::shared_ptr<CaptureSession> session = std::exchange(capture_, nullptr);
    session->ended = true;
    is_origin_ = false;
    const StreamClock& known = session->order.clock(number_);
    for (const auto& [operation, node] : session->node_of) {
      const auto it = known.find(operation.first);
      if (it == known.end() || it->second < operation.second)
        return FailedPrecondition("a stream that joined the capture has not come back");
    }
    if (RefusesCapture()) return Unimplemented("the capture is refused, as HILO_EMULATED says");
    std::unique_ptr<GpuGraph> graph = changed != nullptr ? std::move(changed) : std::make_unique<Graph>();
    static_cast<Graph*>(graph.get())->work = std::make_shared<CapturedWork>(std::move(session->captured));
    return graph;
  }

  absl::Status LaunchGraph(GpuGraph* graph) override {
    std::shared_ptr<const CapturedWork> work = static_cast<Graph*>(graph)->work;
    const auto run = std::make_shared<CapturedRun>(work);
    QueuedWork all{.what = "graph", .run = [queue = &queue_, run] { return queue->Advance(*run); }};
    all.is_ready = [run] { return run->IsReady() || run->IsDone(); };
    all.is_done = [run] { return run->IsDone(); };
    AddSlices(*work, &all.slices);
    return Add(std::move(all));
  }

  bool CapturesControlFlow() override;

  absl::Status CaptureWhile(const uint8_t* more, const Part& body) override {
    HILO_RETURN_IF_ERROR(CheckDeviceRange("the condition of a loop", more, 1));
    HILO_ASSIGN_OR_RETURN(const std::shared_ptr<const CapturedWork> turn, CapturePart(body));
    QueuedWork work{.what = "while", .slices = {GpuSlice::Read(more, 1)}};
    AddSlices(*turn, &work.slices);
    work.run = [queue = &queue_, more, turn, flag = end_flag_]() -> absl::Status {
      const auto ends = [&] {
        const volatile int32_t* word = flag->load();
        return word != nullptr && *word != 0;
      };
      while (*more != 0 && !ends()) HILO_RETURN_IF_ERROR(RunPart(*queue, turn));
      return absl::OkStatus();
    };
    return Add(std::move(work));
  }

  absl::Status CaptureBranches(const void* selector, bool is_pred, absl::Span<const Part> branches) override {
    const int64_t bytes = is_pred ? 1 : sizeof(int32_t);
    HILO_RETURN_IF_ERROR(CheckDeviceRange("the selector of branches", selector, bytes));
    if (branches.empty() || (is_pred && branches.size() != 2))
      return InvalidArgument("expected ", is_pred ? "two branches" : "branches", ", got ", branches.size());
    QueuedWork work{.what = "branches", .slices = {GpuSlice::Read(selector, bytes)}};
    std::vector<std::shared_ptr<const CapturedWork>> parts;
    for (const Part& branch : branches) {
      HILO_ASSIGN_OR_RETURN(parts.emplace_back(), CapturePart(branch));
      AddSlices(*parts.back(), &work.slices);
    }
    work.run = [queue = &queue_, selector, is_pred, parts] {
      size_t branch = parts.size() - 1;
      if (is_pred) {
        branch = *static_cast<const uint8_t*>(selector) != 0 ? 0 : 1;
      } else {
        int32_t number;
        std::memcpy(&number, selector, sizeof(number));
        if (number >= 0) branch = std::min(branch, static_cast<size_t>(number));
      }
      return RunPart(*queue, parts[branch]);
    };
    return Add(std::move(work));
  }

  void EndLoopsWhen(const volatile int32_t* flag) override { end_flag_->store(flag); }

  bool IsCaptured() override {
    if (capture_ != nullptr && capture_->ended) capture_ = nullptr;
    return capture_ != nullptr;
  }
  absl::Status Add(QueuedWork work);
  absl::Status AddWhenReady(QueuedWork work) {
    if (IsCaptured() && capture_->is_part) return Unimplemented(work.what, " in captured control flow");
    if (!IsCaptured()) work.is_ready = std::exchange(work.begin, nullptr)();
    return Add(std::move(work));
  }

 private:
  absl::Status Capture(QueuedWork work);
  // Captures what the part queues, as work of its own.
  absl::StatusOr<std::shared_ptr<const CapturedWork>> CapturePart(const Part& part) {
    if (!CapturesControlFlow()) return Unimplemented("control flow in a captured stream");
    if (!IsCaptured()) return FailedPrecondition("control flow is for streams that are being captured");
    Stream stream(&device_, &queue_);
    stream.end_flag_ = end_flag_;
    HILO_RETURN_IF_ERROR(stream.BeginCapture());
    stream.capture_->is_part = true;
    HILO_RETURN_IF_ERROR(part(stream));
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<GpuGraph> graph, stream.EndCapture(nullptr));
    return static_cast<const Graph&>(*graph).work;
  }
  static void AddSlices(const CapturedWork& work, std::vector<GpuSlice>* slices) {
    for (const CapturedWork::Node& node : work.nodes)
      slices->insert(slices->end(), node.work.slices.begin(), node.work.slices.end());
  }
  static absl::Status RunPart(EmulatedQueue& queue, const std::shared_ptr<const CapturedWork>& work) {
    CapturedRun run(work);
    return queue.Advance(run);
  }
  absl::Status CheckDeviceRange(const char* what, const void* address, int64_t bytes) const;
  bool RefusesCapture();

  Device& device_;
  EmulatedQueue& queue_;
  const int number_;
  std::shared_ptr<CaptureSession> capture_;
  bool is_origin_ = false;
  std::shared_ptr<EndFlag> end_flag_ = std::make_shared<EndFlag>(nullptr);
};

class Device : public EmulatedDriver {
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
    if (stream != nullptr && static_cast<Stream*>(stream)->IsCaptured())
      return Unimplemented("allocation in a captured stream");
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
    if (static_cast<Stream*>(stream)->IsCaptured()) return Unimplemented("freeing memory in a captured stream");
    const EmulatedAllocation* allocation = memory_.Near(memory);
    if (allocation == nullptr || allocation->base != memory)
      return InvalidArgument("free of an address that is not allocated");
    return static_cast<Stream*>(stream)->Add({.what = "free",
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
      Kernel& kernel = state->kernels.emplace_back();
      kernel.info = info;
      kernel.function = state->code->LookupFunction<KernelFunction>(info.name + kEmulatedSuffix);
      kernel.module = state;
      HILO_RET_CHECK(kernel.function != nullptr) << info.name;
    }
    return std::make_unique<Module>(std::move(state));
  }

  absl::StatusOr<std::unique_ptr<GpuStream>> CreateStream(int) override {
    return std::make_unique<Stream>(this, &queue_);
  }
  absl::StatusOr<std::unique_ptr<GpuEvent>> CreateEvent() override { return std::make_unique<Event>(&queue_); }

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
  absl::Status CheckLaunch(const Kernel& kernel, const LaunchDimensions& dimensions, size_t arguments) const {
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

  absl::Status RunKernel(const Kernel& kernel, const LaunchDimensions& dimensions, absl::Span<const uint64_t> arguments,
                         absl::Span<const GpuSlice> slices) {
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

  EmulatedMemory& memory() { return memory_; }
  bool captures_control_flow() const { return options_.captures_control_flow; }
  bool RefusesCapture() {
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

absl::Status Stream::Add(QueuedWork work) {
  if (IsCaptured()) return Capture(std::move(work));
  queue_.Queue(number_, std::move(work));
  return absl::OkStatus();
}

absl::Status Stream::Capture(QueuedWork work) {
  std::vector<EmulatedReport> races;
  const uint64_t sequence = capture_->order.Queue(number_, work.what, work.slices, &races);
  for (EmulatedReport& race : races) queue_.Report(std::move(race));
  CapturedWork::Node node{.work = std::move(work), .after = std::exchange(capture_->waits[number_], {})};
  const auto before = capture_->node_of.find({number_, sequence - 1});
  if (before != capture_->node_of.end()) node.after.push_back(before->second);
  capture_->node_of[{number_, sequence}] = capture_->captured.nodes.size();
  capture_->captured.nodes.push_back(std::move(node));
  return absl::OkStatus();
}

bool Stream::RefusesCapture() { return device_.RefusesCapture(); }
bool Stream::CapturesControlFlow() { return device_.captures_control_flow(); }

absl::Status Stream::CheckDeviceRange(const char* what, const void* address, int64_t bytes) const {
  return device_.memory().CheckRange(what, address, bytes);
}

absl::Status Stream::Launch(GpuKernel* kernel, const LaunchDimensions& dimensions, absl::Span<const uint64_t> arguments,
                            absl::Span<const GpuSlice> slices) {
  HILO_RETURN_IF_ERROR(queue_.status());
  auto* const emulated = static_cast<Kernel*>(kernel);
  HILO_RETURN_IF_ERROR(device_.CheckLaunch(*emulated, dimensions, arguments.size()));
  return Add({kernel->name(),
              {slices.begin(), slices.end()},
              [device = &device_, emulated, module = emulated->module.lock(), dimensions,
               values = std::vector<uint64_t>(arguments.begin(), arguments.end()),
               touched = std::vector<GpuSlice>(slices.begin(), slices.end())] {
                return device->RunKernel(*emulated, dimensions, values, touched);
              }});
}

absl::Status Stream::Copy(void* to, const void* from, int64_t bytes) {
  if (bytes < 0) return InvalidArgument("copy: expected a number of bytes, got ", bytes);
  HILO_RETURN_IF_ERROR(device_.memory().CheckRange("copy to", to, bytes));
  HILO_RETURN_IF_ERROR(device_.memory().CheckRange("copy from", from, bytes));
  if (bytes == 0) return absl::OkStatus();
  return Add({"copy", {GpuSlice::Write(to, bytes), GpuSlice::Read(from, bytes)}, [=] {
                std::memmove(to, from, bytes);
                return absl::OkStatus();
              }});
}

absl::Status Stream::Fill(void* to, uint32_t pattern, int width, int64_t bytes) {
  if ((width != 1 && width != 2 && width != 4) || bytes < 0 || bytes % width != 0) {
    return InvalidArgument("fill: expected a width of 1, 2 or 4 that divides the bytes, got ", width, " and ", bytes);
  }
  HILO_RETURN_IF_ERROR(device_.memory().CheckRange("fill", to, bytes));
  if (bytes == 0) return absl::OkStatus();
  return Add({"fill", {GpuSlice::Write(to, bytes)}, [=] {
                for (int64_t at = 0; at < bytes; at += width)
                  std::memcpy(static_cast<uint8_t*>(to) + at, &pattern, width);
                return absl::OkStatus();
              }});
}

}  // namespace

absl::Status QueueWhenReady(GpuStream& stream, absl::string_view what, absl::Span<const GpuSlice> slices,
                            std::function<std::function<bool()>()> begin) {
  QueuedWork work{
      .what = std::string(what), .slices = {slices.begin(), slices.end()}, .run = [] { return absl::OkStatus(); }};
  work.begin = std::move(begin);
  return static_cast<Stream&>(stream).AddWhenReady(std::move(work));
}

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
