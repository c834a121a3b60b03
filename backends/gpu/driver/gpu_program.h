// A compiled module: thunks, and each device's own kernels and constants.
#ifndef HILO_BACKENDS_GPU_DRIVER_GPU_PROGRAM_H_
#define HILO_BACKENDS_GPU_DRIVER_GPU_PROGRAM_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/compile/program_emitter.h"
#include "backends/gpu/compile/ptx.h"
#include "backends/gpu/driver/gpu_devices.h"
#include "backends/gpu/thunks/graph_thunk.h"

namespace hilo::gpu {

struct ProgramSource;

// Properties of a compiled module other than its thunks.
struct ProgramFacts {
  ProgramShape shape;
  std::vector<std::pair<int64_t, int64_t>> donations;
  int64_t frame_bytes = 0;
  int64_t scratch_bytes = 0;
  int64_t parameter_leaves = 0;
  int64_t output_leaves = 0;
  int64_t replica_count = 1, partition_count = 1;
  CollectivePlan collectives;
  bool overlap_collectives = true;
  bool capture_at_once = false;  // capture graphs in the first run
};

class GpuProgram : public CompiledProgram, private IdleMemory {
 public:
  // `source` is the input of Serialize (gpu_artifact.h).
  GpuProgram(ProgramFacts facts, EmittedProgram program, std::vector<KernelImage> images,
             std::unique_ptr<const ProgramSource> source, std::shared_ptr<GpuDevices> devices);
  ~GpuProgram() override;

  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override;
  const ProgramShape& program_shape() const override { return facts_.shape; }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return facts_.donations; }
  int64_t temp_bytes() const override { return facts_.frame_bytes + facts_.scratch_bytes; }
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
      uint8_t* arena = nullptr;  // allocated in stream order
      GraphCache graphs;
      CollectiveStreams collectives;
    };
    std::vector<Lane> idle;
  };

  // Frees lanes that no run uses.
  int64_t ReleaseIdle(int device) const override;
  int64_t ArenaBytes() const;
  static absl::Status ReleaseLane(OnDevice& device, OnDevice::Lane* lane);

  absl::StatusOr<OnDevice*> DeviceOf(int device) const;
  absl::Status Load(int device, OnDevice* loaded) const;
  absl::StatusOr<OnDevice::Lane> TakeLane(OnDevice& device) const;
  absl::StatusOr<std::unique_ptr<CollectiveRun>> BeginCollectives(const GpuRun& run, OnDevice& device,
                                                                  OnDevice::Lane* lane) const;

  ProgramFacts facts_;
  EmittedProgram program_;
  std::vector<KernelImage> images_;
  std::unique_ptr<const ProgramSource> source_;
  std::shared_ptr<GpuDevices> devices_;
  int64_t code_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable absl::flat_hash_map<int, std::unique_ptr<OnDevice>> loaded_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_GPU_PROGRAM_H_
