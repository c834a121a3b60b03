// The emulated device: runs the very kernels that a GPU would get, as host code, and checks them against CUDA's rules.
//
// Input is bitcode after the NVPTX pipeline (CompileGpuModule). Threads of a block that meet at barriers or in warp
// operations are fibers; others are a plain loop. Streams run nothing until somebody waits, and then in a random order
// that their events allow. Beside the faults that GpuDriver names, these are reported with every option off: streams
// that race or wait for each other for ever, copies and fills out of bounds, launches past the limits.
#ifndef HILO_BACKENDS_GPU_EMULATED_EMULATED_DRIVER_H_
#define HILO_BACKENDS_GPU_EMULATED_EMULATED_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

struct EmulatedOptions {
  // Checks every access to memory: bounds, alignment, races in shared and global memory, shared memory that nobody
  // wrote, slices that the launch did not declare. Twenty times slower, one block after the other.
  bool check_accesses = false;
  // With check_accesses: counts sectors and bank passes of the first `counted_blocks` blocks of every launch.
  bool count_accesses = false;
  int64_t counted_blocks = 4;
  // In which order threads, blocks and streams take their turns. 0: forward; 1: backward; others: random.
  uint32_t seed = 2;
  // Whether streams capture control flow, as drivers do from CUDA 12.4 on.
  bool captures_control_flow = true;
  // So many captures are refused at their end, as a driver may for reasons of its own.
  int64_t refused_captures = 0;
  int host_threads = 1;  // that run the blocks of an unchecked launch
  int64_t memory_bytes = int64_t{16} << 30;

  // HILO_EMULATED, a list as in "check,count,no-conditions,refuse-captures=1,seed=7,threads=2,memory=1000000". Errors:
  // InvalidArgument.
  static absl::StatusOr<EmulatedOptions> FromEnvironment();
};

// A fault, with what it is called in short ("race-shared", "global-out-of-bounds" ...) and in words.
struct EmulatedReport {
  std::string kind;
  std::string text;
};

// Accesses of one instruction of a kernel, added up over warps.
struct AccessCount {
  enum class Kind { kLoad, kStore, kAtomic };
  std::string kernel;
  uint32_t site = 0;  // the instruction: numbered in the order of the code
  Kind kind = Kind::kLoad;
  bool shared = false;
  int64_t bytes = 0;     // of one thread's access
  int64_t requests = 0;  // of warps
  int64_t threads = 0;   // of these
  int64_t units = 0;     // sectors of 32 bytes (global), passes over the banks (shared)
  int64_t ideal = 0;     // the fewest units that these bytes can take
};

class EmulatedDriver : public GpuDriver {
 public:
  // What was found since the last call; runs what is queued first. At most 4 of a kind a launch.
  virtual std::vector<EmulatedReport> TakeReports() = 0;
  // Since the last call, by kernel and site.
  virtual std::vector<AccessCount> TakeAccessCounts() = 0;
};

// Queues work on a stream of an emulated device that is done once others have come: `begin` is called when the work is
// queued, or for each launch of the graph that captures it, and what it returns is asked again and again until it says
// so. That may not use the device. Errors: Unimplemented in captured control flow.
absl::Status QueueWhenReady(GpuStream& stream, absl::string_view what, absl::Span<const GpuSlice> slices,
                            std::function<std::function<bool()>()> begin);

absl::StatusOr<std::unique_ptr<EmulatedDriver>> CreateEmulatedDriver(const EmulatedOptions& options = {});

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_EMULATED_DRIVER_H_
