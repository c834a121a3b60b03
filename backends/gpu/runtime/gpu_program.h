// A program on its devices: each has kernels and constants of its own.
#ifndef HILO_BACKENDS_GPU_RUNTIME_GPU_PROGRAM_H_
#define HILO_BACKENDS_GPU_RUNTIME_GPU_PROGRAM_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/runtime/gpu_devices.h"
#include "backends/gpu/thunks/graph_thunk.h"
#include "backends/gpu/thunks/program_image.h"

namespace hilo::gpu {

// How the graph thunks of a program run.
enum class GraphUse {
  kNever,   // their thunks are queued one by one
  kLater,   // captured from the second run on
  kAtOnce,  // captured in the first run
};

class GpuProgram : public CompiledProgram, private IdleMemory {
 public:
  GpuProgram(ProgramImage image, GraphUse graphs, std::shared_ptr<GpuDevices> devices);
  ~GpuProgram() override;

  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override;
  bool CanBegin() const override { return true; }
  absl::StatusOr<std::unique_ptr<PendingRun>> Begin(const RunContext& context, absl::Span<const void* const> parameters,
                                                    absl::Span<void* const> outputs) const override;
  const ProgramShape& program_shape() const override { return image_.shape; }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return image_.donations; }
  int64_t temp_bytes() const override {
    return image_.entry().frame_bytes + image_.scratch_bytes + image_.workspace_bytes;
  }
  int64_t code_bytes() const override { return code_bytes_; }
  int64_t estimated_nanoseconds() const override;
  absl::Status Serialize(Artifact* artifact) const override;

 private:
  // State shared by the runs on one device.
  struct OnDevice {
    int number = 0;
    GpuDriver* driver = nullptr;
    std::vector<std::unique_ptr<GpuModule>> modules;
    std::vector<GpuKernel*> kernels;
    void* constant_memory = nullptr;
    std::vector<uint8_t*> constants;
    struct Lane {  // the resources of one run
      std::unique_ptr<GpuStream> stream;
      uint8_t* arena = nullptr;  // frame, scratch memory and workspace, allocated in stream order
      GraphCache graphs;
      CollectiveStreams collectives;
    };
    std::vector<Lane> idle;
  };

  // Frees lanes that no run uses.
  int64_t ReleaseIdle(int device) const override;
  int64_t ArenaBytes() const;
  static absl::Status ReleaseLane(OnDevice& device, OnDevice::Lane* lane);
  // Makes a lane idle, or releases it if enough are.
  absl::Status KeepLane(OnDevice* device, OnDevice::Lane lane) const;

  // Runs, and waits for the device if `pending` is null or the host takes part in the run.
  absl::Status Queue(const RunContext& context, absl::Span<const void* const> parameters,
                     absl::Span<void* const> outputs, std::unique_ptr<PendingRun>* pending) const;
  // Whether the host watches over the run while the device works: it ends collectives and loops.
  bool NeedsHost(const RunContext& context) const;

  absl::StatusOr<OnDevice*> DeviceOf(int device) const;
  absl::Status Load(int device, OnDevice* loaded) const;
  absl::StatusOr<OnDevice::Lane> TakeLane(OnDevice& device) const;
  absl::StatusOr<std::unique_ptr<CollectiveRun>> BeginCollectives(const GpuRun& run, OnDevice& device,
                                                                  OnDevice::Lane* lane) const;

  const ProgramImage image_;
  const GraphUse graphs_;
  const std::shared_ptr<GpuDevices> devices_;
  int64_t code_bytes_ = 0;
  mutable std::mutex load_mutex_;  // held while the program is loaded, which allocates
  mutable std::mutex mutex_;       // held for moments: ReleaseIdle takes it while a thread allocates
  mutable absl::flat_hash_map<int, std::unique_ptr<OnDevice>> loaded_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_RUNTIME_GPU_PROGRAM_H_
