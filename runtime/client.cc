#include "hilo/client.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/cpu_count.h"
#include "base/errors.h"
#include "base/log_sink.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/client_core.h"
#include "runtime/device_limits.h"
#include "runtime/dynamic_program.h"
#include "runtime/fork_guard.h"
#include "runtime/guarded.h"
#include "runtime/loaded_program.h"
#include "runtime/program_run.h"
#include "runtime/runtime_access.h"
#include "runtime/saved_program.h"
#include "runtime/transfer_ops.h"
#include "shape/canonical.h"

namespace hilo {
namespace {

constexpr int64_t kMaxGlobalDevices = 1 << 20;

// A verified module to a program.
absl::StatusOr<std::shared_ptr<const LoadedProgram>> CompileModule(const ClientCore& core,
                                                                   std::unique_ptr<HloModule> module,
                                                                   DeviceAssignment assignment,
                                                                   const CompileOptions& options) {
  HILO_RETURN_IF_ERROR(PartitionModule(module.get(), options));
  ProgramEffects effects = FindEffects(*module);
  FindReplacedCalls(*options.custom_calls, core.compiler->platform(), &effects);
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program,
                        CompileProgram(core.compiler.get(), std::move(module), options, core.pool));
  return std::make_shared<const LoadedProgram>(std::move(program), std::move(assignment), std::move(effects));
}

}  // namespace

absl::StatusOr<DeviceAssignment> AssignDevices(const ClientCore& core, int64_t replicas, int64_t partitions,
                                               absl::Span<const int> devices) {
  const int64_t available = core.global_device_count();
  if (replicas < 1 || partitions < 1 || replicas > available || partitions > available / replicas) {
    return InvalidArgument("the program runs on ", replicas, " replicas and ", partitions,
                           " partitions, but the client has ", available, available == 1 ? " device" : " devices",
                           " (ClientOptions::device_count)");
  }
  if (devices.empty()) {
    // A program of one device runs wherever it is compiled.
    if (replicas * partitions == 1) return DeviceAssignment::Create(1, 1, {core.first_device});
    return DeviceAssignment(replicas, partitions);
  }
  for (int device : devices) {
    if (device < 0 || device >= available)
      return InvalidArgument("there is no device ", device, "; there are ", available);
  }
  return DeviceAssignment::Create(replicas, partitions, devices);
}

ClientCore::~ClientCore() {
  // Runs that still wait for the host would wait indefinitely.
  for (auto& queues_of_device : transfers) {
    queues_of_device->infeed.Fail(absl::CancelledError("the client is gone"));
    queues_of_device->outfeed.Fail(absl::CancelledError("the client is gone"));
  }
  if (ForkGeneration() == fork_generation) return;
  own_pool.release();
  watchdog.release();
  if (processes != nullptr) ProcessGroup::Forget(std::move(processes));
  for (auto& queue : queues) queue.release();
  for (auto& queue : completions) queue.release();
  new auto(std::move(memories));
}

absl::Status ClientCore::CheckProcess() const {
  if (ForkGeneration() == fork_generation) return absl::OkStatus();
  return FailedPrecondition(
      "this process was forked after its Hilo client was made, and the client's threads stayed in "
      "the parent; make a "
      "client in the child");
}

int64_t ClientCore::global_device_count() const {
  if (processes == nullptr) return static_cast<int64_t>(queues.size());
  int64_t count = 0;
  for (int64_t devices : processes->device_counts()) count += devices;
  return count;
}

int64_t ClientCore::ProcessOf(int global_device) const {
  int64_t process = 0;
  for (int64_t first = 0; processes != nullptr && (first += processes->device_counts()[process]) <= global_device;)
    ++process;
  return process;
}

absl::Status ClientCore::CheckDevice(int device) const {
  if (device >= 0 && device < static_cast<int>(queues.size())) return absl::OkStatus();
  return InvalidArgument("there is no device ", device, "; the client has ", queues.size());
}

absl::StatusOr<std::unique_ptr<Client>> RuntimeAccess::CreateClient(const ClientOptions& options,
                                                                    std::unique_ptr<Compiler> compiler) {
  return Guarded([&]() -> absl::StatusOr<std::unique_ptr<Client>> {
    if (compiler == nullptr) return InvalidArgument("a client needs a compiler, but got null");
    if (options.device_count < 1 || options.device_count > kMaxDevices) {
      return InvalidArgument("device_count: expected 1 to ", kMaxDevices, ", got ", options.device_count);
    }
    if (options.num_threads < 0 || options.num_threads > kMaxThreads) {
      return InvalidArgument("num_threads: expected 0 (as many as there are processors) to ", kMaxThreads, ", got ",
                             options.num_threads);
    }
    if (options.cache_limit < 0)
      return InvalidArgument("cache_limit: expected a number of bytes, got ", options.cache_limit);
    if (options.memory_limit < 0) {
      return InvalidArgument("memory_limit: expected a number of bytes, or 0 for none, got ", options.memory_limit);
    }
    auto core = std::make_shared<ClientCore>();
    core->fork_generation = ForkGeneration();
    core->compiler = std::move(compiler);
    const auto host = std::make_shared<HostMemory>(options.host_allocator, options.memory_limit);
    for (int device = 0; device < options.device_count; ++device) {
      HILO_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> memory, core->compiler->OpenDevice(device));
      core->memories.push_back(
          memory == nullptr ? host : std::make_shared<HostMemory>(std::move(memory), options.memory_limit));
    }
    core->default_deadline = options.default_deadline;
    core->pool = options.thread_pool;
    const char* variable = std::getenv("HILO_CACHE_DIR");
    const std::string cache_dir = options.cache_dir.value_or(variable == nullptr ? "" : variable);
    if (cache_dir.find('\0') != std::string::npos)
      return InvalidArgument("cache_dir: expected the path of a folder, got one with NUL in it");
    if (!cache_dir.empty()) core->cache = std::make_unique<DiskCache>(cache_dir, options.cache_limit);
    HILO_RETURN_IF_ERROR(NumThreadsVariable().status());
    const int threads = options.num_threads == 0 ? UsableCpuCount() : options.num_threads;
    if (core->pool == nullptr && threads > 1) {
      HILO_ASSIGN_OR_RETURN(core->own_pool, CreateThreadPool(threads));
      core->pool = core->own_pool.get();
      if (core->pool->num_threads() < threads) {
        LogWarning("the system gave ", core->pool->num_threads(), " of ", threads, " threads");
      }
    }
    for (int i = 0; i < options.device_count; ++i) {
      core->transfers.push_back(std::make_unique<TransferQueues>());
      core->completions.push_back(std::make_unique<DeviceQueue>());
      core->queues.push_back(std::make_unique<DeviceQueue>());
    }
    if (options.processes.has_value()) {
      ProcessGroupOptions processes = *options.processes;
      processes.device_count = options.device_count;
      HILO_ASSIGN_OR_RETURN(core->processes, ProcessGroup::Join(processes));
      const absl::Span<const int64_t> counts = core->processes->device_counts();
      if (core->global_device_count() > kMaxGlobalDevices)
        return InvalidArgument("the processes have ", core->global_device_count(), " devices; at most ",
                               kMaxGlobalDevices, " can work together");
      core->first_device =
          static_cast<int>(std::accumulate(counts.begin(), counts.begin() + processes.process_id, int64_t{0}));
    }
    return std::unique_ptr<Client>(new Client(std::move(core)));
  });
}

std::string Client::platform() const { return core_->compiler->platform(); }
int Client::device_count() const { return static_cast<int>(core_->queues.size()); }
int64_t Client::process_id() const { return core_->processes == nullptr ? 0 : core_->processes->process_id(); }
int64_t Client::process_count() const { return core_->processes == nullptr ? 1 : core_->processes->process_count(); }
int64_t Client::global_device_count() const { return core_->global_device_count(); }
int64_t Client::first_device() const { return core_->first_device; }
int64_t Client::process_of(int device) const { return core_->ProcessOf(device); }
void Client::UpdateProcesses(absl::Span<const ProcessState> states) {
  if (core_->processes != nullptr) core_->processes->Update(states);
}
bool Client::memory_is_on_host() const { return core_->memories[0]->device() == nullptr; }
MemoryStats Client::memory_stats(int device) const {
  return core_->CheckDevice(device).ok() ? core_->memories[device]->stats() : MemoryStats();
}
absl::Status Client::ResetPeakMemory(int device) {
  HILO_RETURN_IF_ERROR(core_->CheckDevice(device));
  core_->memories[device]->ResetPeak();
  return absl::OkStatus();
}
Compiler* RuntimeAccess::CompilerOf(const Client& client) { return client.core_->compiler.get(); }
DiskCacheStats Client::cache_stats() const {
  return core_->cache == nullptr ? DiskCacheStats() : core_->cache->stats();
}
CustomCallRegistry* Client::custom_call_registry() const { return &core_->custom_calls; }

absl::StatusOr<std::unique_ptr<Executable>> RuntimeAccess::Compile(Client* client, std::unique_ptr<HloModule> module,
                                                                   const CompileOptions& options) {
  const std::shared_ptr<ClientCore>& core = client->core_;
  return Guarded([&]() -> absl::StatusOr<std::unique_ptr<Executable>> {
    HILO_RETURN_IF_ERROR(core->CheckProcess());
    if (module == nullptr) return InvalidArgument("there is no module to compile, but null");
    const RunLimits limits(core.get(), options.cancellation, options.deadline);
    if (limits.token() != nullptr) HILO_RETURN_IF_ERROR(limits.token()->status("compilation"));
    if (options.replica_count != 0) module->set_replica_count(options.replica_count);
    if (options.num_partitions != 0) module->set_num_partitions(options.num_partitions);
    HILO_ASSIGN_OR_RETURN(DeviceAssignment assignment,
                          AssignDevices(*core, module->replica_count(), module->num_partitions(), options.devices));
    HILO_RETURN_IF_ERROR(VerifyHloModule(*module, HloStage::kInput));
    CompileOptions complete = options;
    if (complete.custom_calls == nullptr) complete.custom_calls = &core->custom_calls;
    HILO_ASSIGN_OR_RETURN(const std::string key, CacheKey(*core, *module, assignment, complete));
    complete.cancellation = limits.token();
    if (limits.token() != nullptr) HILO_RETURN_IF_ERROR(limits.token()->status("compilation"));
    std::shared_ptr<const LoadedProgram> program = FindInCache(core.get(), key, complete);
    if (program == nullptr) {
      HILO_ASSIGN_OR_RETURN(program, CompileModule(*core, std::move(module), std::move(assignment), complete));
      PutIntoCache(core.get(), key, *program);
    }
    return RuntimeAccess::MakeExecutable(core, std::move(program));
  });
}

absl::StatusOr<std::unique_ptr<Executable>> Client::Load(absl::string_view bytes, const LoadOptions& options) {
  return Guarded([&]() -> absl::StatusOr<std::unique_ptr<Executable>> {
    HILO_RETURN_IF_ERROR(core_->CheckProcess());
    HILO_ASSIGN_OR_RETURN(const Artifact artifact, DecodeArtifact(bytes));
    CompileOptions complete{
        .devices = options.devices, .perf_jitdump = options.perf_jitdump, .custom_calls = options.custom_calls};
    if (complete.custom_calls == nullptr) complete.custom_calls = &core_->custom_calls;
    HILO_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedProgram> program, LoadArtifact(*core_, artifact, complete));
    return RuntimeAccess::MakeExecutable(core_, std::move(program));
  });
}

absl::StatusOr<std::unique_ptr<Executable>> Client::Compile(const XlaComputation& computation,
                                                            const CompileOptions& options) {
  if (computation.IsNull()) return InvalidArgument("there is no computation to compile: it is null");
  return Guarded([&] { return RuntimeAccess::Compile(this, computation.module()->Clone(), options); });
}

namespace {

// Compiles what `read` returns; its time counts for the deadline.
absl::StatusOr<std::unique_ptr<Executable>> CompileWhatIsRead(
    Client* client, const CompileOptions& options,
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<HloModule>>()> read) {
  return Guarded([&]() -> absl::StatusOr<std::unique_ptr<Executable>> {
    const auto start = std::chrono::steady_clock::now();
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, read());
    CompileOptions rest = options;
    rest.deadline -= absl::FromChrono(std::chrono::steady_clock::now() - start);
    return RuntimeAccess::Compile(client, std::move(module), rest);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executable>> Client::CompileHloText(absl::string_view text,
                                                                   const CompileOptions& options) {
  return CompileWhatIsRead(this, options, [&] { return ParseHloModule(text, {.verify = false}); });
}

absl::StatusOr<std::unique_ptr<Executable>> Client::CompileHloProto(absl::string_view bytes,
                                                                    const CompileOptions& options) {
  return CompileWhatIsRead(this, options, [&] { return HloModuleFromProto(bytes, {.verify = false}); });
}

absl::StatusOr<std::shared_ptr<MemoryBlock>> MakeBlock(const Literal& literal, const Shape& shape, HostMemory* memory) {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<MemoryBlock> block, memory->Allocate(ShapeUtil::ByteSizeOf(shape)));
  if (block->size() == 0) return block;
  if (block->on_host()) {
    LiteralToBytes(literal, shape, block->data());
    return block;
  }
  std::vector<uint8_t> bytes(block->size());
  LiteralToBytes(literal, shape, bytes.data());
  HILO_RETURN_IF_ERROR(block->CopyFromHost(bytes.data()));
  return block;
}

absl::StatusOr<std::unique_ptr<Buffer>> ClientCore::BufferFromLiteral(const Literal& literal, int device,
                                                                      const Shape& shape) const {
  HILO_RETURN_IF_ERROR(CheckDevice(device));
  if (!shape.IsArray() && !shape.IsToken()) {
    return InvalidArgument("a buffer holds one array or token, not ", shape.ToString());
  }
  HILO_RETURN_IF_ERROR(ShapeUtil::ValidateWithLayout(shape));
  if (!ShapeUtil::Compatible(literal.shape(), shape)) {
    return InvalidArgument("expected a layout for ", literal.shape().ToString(), ", got one for ", shape.ToString());
  }
  auto value = std::make_shared<BufferValue>();
  if (shape.IsArray()) {
    HILO_ASSIGN_OR_RETURN(value->memory, MakeBlock(literal, shape, memories[device].get()));
  }
  return RuntimeAccess::MakeBuffer(std::make_shared<const Shape>(shape), device, std::move(value));
}

absl::StatusOr<std::unique_ptr<Buffer>> Client::BufferFromLiteral(const Literal& literal, int device,
                                                                  const Shape* layout) {
  return Guarded([&] {
    if (layout != nullptr) return core_->BufferFromLiteral(literal, device, *layout);
    Shape shape = literal.shape();
    ShapeUtil::SetToDefaultLayout(&shape);
    return core_->BufferFromLiteral(literal, device, shape);
  });
}

namespace {

// The shape, with layout, of a buffer that is one array. Errors: InvalidArgument.
absl::StatusOr<std::shared_ptr<const Shape>> ArrayShape(const Shape& given, absl::string_view what) {
  auto shape = std::make_shared<Shape>(given);
  ShapeUtil::AddMissingLayouts(shape.get());
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(*shape));
  if (!shape->IsArray()) return InvalidArgument("a buffer ", what, " is an array, not ", shape->ToString());
  return shape;
}

absl::Status CheckMemory(const void* data, int64_t bytes, absl::string_view whose) {
  if (data == nullptr && bytes > 0)
    return InvalidArgument("expected ", bytes, " bytes of ", whose, " memory, got null");
  return absl::OkStatus();
}

// Returns a copy of host memory in the form that kernels expect: frameworks leave other bits above those of elements of
// fewer than 8.
absl::StatusOr<std::shared_ptr<MemoryBlock>> CopyOf(const void* data, const Shape& shape, HostMemory* memory) {
  const int64_t bytes = ShapeUtil::ByteSizeOf(shape);
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<MemoryBlock> block, memory->Allocate(bytes));
  const auto canonicalize = [&](uint8_t* copy) {
    Canonicalize(shape.element_type(), absl::MakeSpan(copy, static_cast<size_t>(ShapeUtil::ElementBytesOf(shape))));
  };
  if (bytes == 0 || !IsSubByteType(shape.element_type())) {
    HILO_RETURN_IF_ERROR(block->CopyFromHost(data));
  } else if (block->on_host()) {
    HILO_RETURN_IF_ERROR(block->CopyFromHost(data));
    canonicalize(block->data());
  } else {
    std::vector<uint8_t> staged(static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + bytes);
    canonicalize(staged.data());
    HILO_RETURN_IF_ERROR(block->CopyFromHost(staged.data()));
  }
  return block;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Buffer>> Client::BufferFromHostMemory(const void* data, const Shape& given, int device,
                                                                     std::function<void()> release) {
  return Guarded([&]() -> absl::StatusOr<std::unique_ptr<Buffer>> {
    HILO_RETURN_IF_ERROR(core_->CheckDevice(device));
    HILO_ASSIGN_OR_RETURN(std::shared_ptr<const Shape> shape, ArrayShape(given, "of host memory"));
    const int64_t bytes = ShapeUtil::ByteSizeOf(*shape);
    HILO_RETURN_IF_ERROR(CheckMemory(data, bytes, "host"));
    auto value = std::make_shared<BufferValue>();
    // Before `release` may be called: after that nothing fails.
    auto buffer = RuntimeAccess::MakeBuffer(shape, device, value);
    HostMemory* const memory = core_->memories[device].get();
    if (memory->device() == nullptr && release != nullptr && !IsSubByteType(shape->element_type()) &&
        reinterpret_cast<uintptr_t>(data) % kBufferAlignment == 0) {
      value->memory = memory->Lend(data, bytes, std::move(release));
    } else {
      HILO_ASSIGN_OR_RETURN(value->memory, CopyOf(data, *shape, memory));
      if (release != nullptr) release();
    }
    return buffer;
  });
}

absl::StatusOr<std::unique_ptr<Buffer>> Client::BufferFromDeviceMemory(const void* data, const Shape& given, int device,
                                                                       std::function<void()> release) {
  if (memory_is_on_host()) {
    return BufferFromHostMemory(data, given, device, release != nullptr ? std::move(release) : [] {});
  }
  return Guarded([&]() -> absl::StatusOr<std::unique_ptr<Buffer>> {
    HILO_RETURN_IF_ERROR(core_->CheckDevice(device));
    HILO_ASSIGN_OR_RETURN(std::shared_ptr<const Shape> shape, ArrayShape(given, "of device memory"));
    const int64_t bytes = ShapeUtil::ByteSizeOf(*shape);
    HILO_RETURN_IF_ERROR(CheckMemory(data, bytes, "device"));
    HostMemory* const memory = core_->memories[device].get();
    auto value = std::make_shared<BufferValue>();
    auto buffer = RuntimeAccess::MakeBuffer(shape, device, value);
    if (bytes > 0 && IsSubByteType(shape->element_type())) {
      std::vector<uint8_t> staged(static_cast<size_t>(bytes));
      HILO_RETURN_IF_ERROR(memory->Lend(data, bytes, nullptr)->CopyToHost(staged.data()));
      HILO_ASSIGN_OR_RETURN(value->memory, CopyOf(staged.data(), *shape, memory));
      if (release != nullptr) release();
    } else if (reinterpret_cast<uintptr_t>(data) % memory->alignment() == 0) {
      value->memory = memory->Lend(data, bytes, std::move(release));
    } else {
      HILO_ASSIGN_OR_RETURN(value->memory, memory->Allocate(bytes));
      HILO_RETURN_IF_ERROR(value->memory->CopyFrom(*memory->Lend(data, bytes, nullptr)));
      if (release != nullptr) release();
    }
    return buffer;
  });
}

absl::Status RuntimeAccess::AwaitStream(Client* client, int device, void* stream) {
  ClientCore* const core = client->core_.get();
  return Guarded([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(core->CheckDevice(device));
    DeviceMemory* const memory = core->memories[device]->device();
    if (memory == nullptr) return Unimplemented("the platform ", client->platform(), " has no streams");
    return memory->AwaitStream(stream);
  });
}

absl::StatusOr<std::unique_ptr<Buffer>> RuntimeAccess::UninitializedBuffer(Client* client, const Shape& given,
                                                                           int device) {
  ClientCore* const core = client->core_.get();
  return Guarded([&]() -> absl::StatusOr<std::unique_ptr<Buffer>> {
    HILO_RETURN_IF_ERROR(core->CheckDevice(device));
    HILO_ASSIGN_OR_RETURN(std::shared_ptr<const Shape> shape, ArrayShape(given, "to be filled"));
    auto value = std::make_shared<BufferValue>();
    HILO_ASSIGN_OR_RETURN(value->memory, core->memories[device]->Allocate(ShapeUtil::ByteSizeOf(*shape)));
    return RuntimeAccess::MakeBuffer(std::move(shape), device, std::move(value));
  });
}

namespace {

absl::Time DeadlineOf(const TransferOptions& options) { return absl::Now() + options.deadline; }

}  // namespace

absl::Status Client::TransferToInfeed(const Literal& literal, int device, const TransferOptions& options) {
  return Guarded([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(core_->CheckDevice(device));
    const Shape& shape = literal.shape();
    const bool is_flat = shape.IsTuple() && std::all_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(),
                                                        [](const Shape& element) { return element.IsArray(); });
    if (!shape.IsArray() && !is_flat)
      return InvalidArgument("an infeed takes an array or a tuple of arrays, not ", shape.ToString());
    Literal copy = literal.Clone();
    if (!ShapeUtil::Compatible(copy.shape(), shape))
      return ResourceExhausted("no memory for an item of the infeed: ", shape.ToString());
    return core_->transfers[device]->infeed.Push(std::move(copy), DeadlineOf(options), options.cancellation.get());
  });
}

absl::StatusOr<Literal> Client::TransferFromOutfeed(const Shape& shape, int device, const TransferOptions& options) {
  return Guarded([&]() -> absl::StatusOr<Literal> {
    HILO_RETURN_IF_ERROR(core_->CheckDevice(device));
    return core_->transfers[device]->outfeed.Pop(&shape, DeadlineOf(options), options.cancellation.get());
  });
}

absl::StatusOr<Literal> Client::TransferFromOutfeed(int device, const TransferOptions& options) {
  return Guarded([&]() -> absl::StatusOr<Literal> {
    HILO_RETURN_IF_ERROR(core_->CheckDevice(device));
    return core_->transfers[device]->outfeed.Pop(nullptr, DeadlineOf(options), options.cancellation.get());
  });
}

}  // namespace hilo
