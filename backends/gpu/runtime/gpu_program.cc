// A run borrows a stream and an arena (frame, scratch memory and workspace) and returns them when its work is queued:
// the next run of the lane is ordered behind it. Runs that the host waits for return them at their end, so any number
// of those can be concurrent. Lanes are kept for later runs, as graphs hold the arena's address, until an allocation
// runs out of memory. Kernels are loaded and constants copied for the first run on a device.
#include "backends/gpu/runtime/gpu_program.h"

#include "backends/gpu/thunks/program_bytes.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr size_t kMaxIdle = 4;
// Of a run: launches cost more than the arithmetic of small programs.
constexpr int64_t kRunNanoseconds = 20000;

int64_t Aligned(int64_t bytes) { return CeilDiv(bytes, kDeviceAlignment) * kDeviceAlignment; }

// The graphs of a run's collectives. NCCL warns of threads that launch graphs of several communicators: there are none
// for ranks that are in more than one.
GraphAgreement GraphsOf(const CollectivePlan& plan, const GpuRun& run) {
  if (run.graphs == nullptr || plan.has_overlapping_cliques()) return {};
  const GraphCache::Addresses addresses = run.addresses();
  using Members = std::vector<std::shared_ptr<CliqueMember>>;
  return {.offer = [=, graphs = run.graphs](
                       const Members& members) { return graphs->Offer(addresses, {members.begin(), members.end()}); },
          .take =
              [=, graphs = run.graphs](int64_t generation, const Members& members) {
                graphs->Take(generation, addresses, {members.begin(), members.end()});
              }};
}

class GpuPendingRun : public PendingRun {
 public:
  GpuPendingRun(std::shared_ptr<GpuEvent> end, const CancellationToken* cancellation)
      : end_(std::move(end)), cancellation_(cancellation) {}

  absl::Status Await() override {
    HILO_RETURN_IF_ERROR(end_->Synchronize());
    return cancellation_ == nullptr ? absl::OkStatus() : cancellation_->status();
  }

 private:
  const std::shared_ptr<GpuEvent> end_;
  const CancellationToken* const cancellation_;
};

}  // namespace

GpuProgram::GpuProgram(ProgramImage image, GraphUse graphs, std::shared_ptr<GpuDevices> devices)
    : image_(std::move(image)), graphs_(graphs), devices_(std::move(devices)) {
  for (const KernelImage& one : image_.images) code_bytes_ += static_cast<int64_t>(one.bytes.size());
}

GpuProgram::~GpuProgram() {
  devices_->RemoveIdleMemory(this);
  for (auto& [number, device] : loaded_) {
    // Faults cannot be reported any longer.
    for (OnDevice::Lane& lane : device->idle) (void)ReleaseLane(*device, &lane);
    (void)device->driver->Free(device->constant_memory);
  }
}

absl::Status GpuProgram::ReleaseLane(OnDevice& device, OnDevice::Lane* lane) {
  lane->collectives = {};
  lane->graphs = {};
  const absl::Status freed = device.driver->Free(lane->arena, lane->stream.get());
  lane->stream.reset();
  return freed;
}

int64_t GpuProgram::ReleaseIdle(int device) const {
  std::vector<OnDevice::Lane> idle;
  OnDevice* loaded = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = loaded_.find(device);
    if (found == loaded_.end()) return 0;
    loaded = found->second.get();
    idle.swap(loaded->idle);
  }
  for (OnDevice::Lane& lane : idle) (void)ReleaseLane(*loaded, &lane);
  return static_cast<int64_t>(idle.size()) * ArenaBytes();
}

int64_t GpuProgram::ArenaBytes() const {
  return Aligned(image_.entry().frame_bytes) + Aligned(image_.scratch_bytes) + image_.workspace_bytes;
}

absl::Status GpuProgram::Serialize(Artifact* artifact) const {
  EncodeProgram(image_, artifact);
  return absl::OkStatus();
}

int64_t GpuProgram::estimated_nanoseconds() const { return kRunNanoseconds; }

absl::Status GpuProgram::Load(int device, OnDevice* loaded) const {
  loaded->number = device;
  HILO_ASSIGN_OR_RETURN(loaded->driver, devices_->Get(device));
  loaded->kernels.resize(image_.kernels.size());
  for (const KernelImage& one : image_.images) {
    HILO_ASSIGN_OR_RETURN(loaded->modules.emplace_back(), loaded->driver->LoadModule(one.bytes));
    for (int64_t kernel : one.kernels) {
      HILO_ASSIGN_OR_RETURN(loaded->kernels[kernel], loaded->modules.back()->GetKernel(image_.kernels[kernel].name));
    }
  }
  int64_t bytes = 0;
  std::vector<int64_t> offsets;
  for (const ProgramConstant& constant : image_.constants) {
    offsets.push_back(bytes);
    bytes += Aligned(static_cast<int64_t>(constant.bytes.size()));
  }
  HILO_ASSIGN_OR_RETURN(loaded->constant_memory,
                        devices_->Allocate(device, [&] { return loaded->driver->Allocate(bytes); }));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuStream> stream, loaded->driver->CreateStream());
  for (size_t i = 0; i < offsets.size(); ++i) {
    uint8_t* destination = static_cast<uint8_t*>(loaded->constant_memory) + offsets[i];
    const absl::Span<const uint8_t> data = image_.constants[i].bytes;
    if (!data.empty()) HILO_RETURN_IF_ERROR(stream->Copy(destination, data.data(), static_cast<int64_t>(data.size())));
    loaded->constants.push_back(destination);
  }
  return stream->Synchronize();
}

absl::StatusOr<GpuProgram::OnDevice*> GpuProgram::DeviceOf(int device) const {
  const auto find = [&]() -> OnDevice* {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = loaded_.find(device);
    return found == loaded_.end() ? nullptr : found->second.get();
  };
  if (OnDevice* const loaded = find(); loaded != nullptr) return loaded;
  std::lock_guard<std::mutex> load_lock(load_mutex_);
  if (OnDevice* const loaded = find(); loaded != nullptr) return loaded;  // by another thread
  auto fresh = std::make_unique<OnDevice>();
  if (absl::Status status = Load(device, fresh.get()); !status.ok()) {
    if (fresh->driver != nullptr) (void)fresh->driver->Free(fresh->constant_memory);
    return status;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  return loaded_.emplace(device, std::move(fresh)).first->second.get();
}

absl::StatusOr<GpuProgram::OnDevice::Lane> GpuProgram::TakeLane(OnDevice& device) const {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!device.idle.empty()) {
      OnDevice::Lane lane = std::move(device.idle.back());
      device.idle.pop_back();
      lock.unlock();
      devices_->CountIdle(device.number, this, -ArenaBytes());
      return lane;
    }
  }
  OnDevice::Lane lane;
  lane.graphs = GraphCache(graphs_ == GraphUse::kAtOnce);
  HILO_ASSIGN_OR_RETURN(lane.stream, device.driver->CreateStream());
  HILO_ASSIGN_OR_RETURN(void* arena, devices_->Allocate(device.number, [&] {
    return device.driver->Allocate(ArenaBytes(), lane.stream.get());
  }));
  lane.arena = static_cast<uint8_t*>(arena);
  return lane;
}

absl::StatusOr<std::unique_ptr<CollectiveRun>> GpuProgram::BeginCollectives(const GpuRun& run, OnDevice& device,
                                                                            OnDevice::Lane* lane) const {
  const RunContext& context = run.context;
  if (context.replica_count != image_.replica_count || context.partition_count != image_.partition_count) {
    return InvalidArgument("the program was compiled for ", image_.replica_count, " replicas and ",
                           image_.partition_count, " partitions, but is run on ", context.replica_count, " and ",
                           context.partition_count);
  }
  return CollectiveRun::Create(devices_->collectives(), image_.plan, static_cast<int64_t>(image_.collectives.size()),
                               image_.overlap_collectives, context, *device.driver, &lane->collectives,
                               GraphsOf(image_.plan, run));
}

bool GpuProgram::NeedsHost(const RunContext& context) const {
  return !image_.collectives.empty() || (context.cancellation != nullptr && HaveControlFlow(image_.entry().thunks));
}

absl::Status GpuProgram::Run(const RunContext& context, absl::Span<const void* const> parameters,
                             absl::Span<void* const> outputs) const {
  return Queue(context, parameters, outputs, nullptr);
}

absl::StatusOr<std::unique_ptr<PendingRun>> GpuProgram::Begin(const RunContext& context,
                                                              absl::Span<const void* const> parameters,
                                                              absl::Span<void* const> outputs) const {
  std::unique_ptr<PendingRun> pending;
  HILO_RETURN_IF_ERROR(Queue(context, parameters, outputs, &pending));
  return pending;
}

absl::Status GpuProgram::Queue(const RunContext& context, absl::Span<const void* const> parameters,
                               absl::Span<void* const> outputs, std::unique_ptr<PendingRun>* pending) const {
  const ThunkScope& entry = image_.entry();
  if (parameters.size() != entry.parameter_bytes.size() || outputs.size() != entry.output_bytes.size()) {
    return InvalidArgument("the program takes ", entry.parameter_bytes.size(), " parameter and ",
                           entry.output_bytes.size(), " output leaves, but got ", parameters.size(), " and ",
                           outputs.size());
  }
  HILO_ASSIGN_OR_RETURN(OnDevice * device, DeviceOf(context.device));
  HILO_ASSIGN_OR_RETURN(OnDevice::Lane lane, TakeLane(*device));
  RunOrder& order = devices_->OrderOf(context.device);
  const bool ends_loops = context.cancellation != nullptr && HaveControlFlow(entry.thunks);
  // Runs before may still read what this one writes, such as an argument that was given to them first and then donated.
  // The host waits for those before a run whose loops end early: what ends them is the stream's, on which a run before
  // may have loops that nothing ends, and the host then waits for conditions, which must not wait for other runs.
  const auto followed = ends_loops ? order.Await(*context.cancellation) : order.Follow(*lane.stream);
  if (!followed.ok()) {
    (void)KeepLane(device, std::move(lane));  // has no work of this run
    return followed.status();
  }
  if (ends_loops) lane.stream->EndLoopsWhen(context.cancellation->flag());
  GpuRun run{.context = context, .stream = *lane.stream, .kernels = device->kernels, .constants = device->constants};
  for (const void* parameter : parameters)
    run.parameters.push_back(static_cast<uint8_t*>(const_cast<void*>(parameter)));
  for (void* output : outputs) run.outputs.push_back(static_cast<uint8_t*>(output));
  run.frame = lane.arena;
  if (lane.arena != nullptr) {
    run.scratch = lane.arena + Aligned(entry.frame_bytes);
    run.workspace = run.scratch + Aligned(image_.scratch_bytes);
  }
  run.graphs = graphs_ == GraphUse::kNever ? nullptr : &lane.graphs;
  run.driver = device->driver;
  absl::Status status;
  std::unique_ptr<CollectiveRun> collectives;
  if (!image_.collectives.empty()) {
    absl::StatusOr<std::unique_ptr<CollectiveRun>> begun = BeginCollectives(run, *device, &lane);
    status = begun.status();
    if (begun.ok()) collectives = *std::move(begun);
    run.collectives = collectives.get();
  }
  if (status.ok()) status = RunThunks(entry.thunks, run);
  if (collectives != nullptr) status = collectives->Finish(status, *lane.stream);
  if (status.ok() && pending != nullptr && !NeedsHost(context)) {
    auto end = order.Add(*device->driver, *lane.stream, *followed);
    status = end.status();
    if (end.ok()) *pending = std::make_unique<GpuPendingRun>(*std::move(end), context.cancellation);
  }
  if (pending == nullptr || *pending == nullptr) {
    const absl::Status done = lane.stream->Synchronize();
    if (status.ok()) status = done;
    // A loop may have ended early.
    if (status.ok() && context.cancellation != nullptr) status = context.cancellation->status();
  }
  lane.stream->EndLoopsWhen(nullptr);
  if (status.ok()) return KeepLane(device, std::move(lane));
  (void)ReleaseLane(*device, &lane);
  return status;
}

absl::Status GpuProgram::KeepLane(OnDevice* device, OnDevice::Lane lane) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (device->idle.size() < kMaxIdle) {
      device->idle.push_back(std::move(lane));
      lane.stream = nullptr;
    }
  }
  if (lane.stream != nullptr) return ReleaseLane(*device, &lane);
  devices_->CountIdle(device->number, this, ArenaBytes());
  return absl::OkStatus();
}

}  // namespace hilo::gpu
