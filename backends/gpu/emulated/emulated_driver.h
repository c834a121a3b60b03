// The emulated device: runs the kernels that a GPU would run as host code, and checks them against CUDA's rules.
//
// Input is bitcode after the NVPTX pipeline (CompileGpuModule). Threads of a block that synchronize at barriers or in
// warp operations are fibers; others are a plain loop. Streams run nothing until a caller waits, and then in a random
// order that their events allow; with EmulatedOptions::asynchronous, threads of their own run them. In addition to the
// faults that GpuDriver lists, these are reported with every option off: races and deadlocks of streams, copies and
// fills out of bounds, launches beyond the limits.
#ifndef HILO_BACKENDS_GPU_EMULATED_EMULATED_DRIVER_H_
#define HILO_BACKENDS_GPU_EMULATED_EMULATED_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/emulated/access_report.h"

namespace hilo::gpu {

struct EmulatedOptions {
  // Checks every memory access: bounds, alignment, races in shared and global memory, reads of uninitialized shared
  // memory, slices that the launch did not declare. Twenty times slower; blocks run one after the other.
  bool check_accesses = false;
  // With check_accesses: counts sectors and bank passes of the first `counted_blocks` blocks of every launch.
  bool count_accesses = false;
  int64_t counted_blocks = 4;
  // The execution order of threads, blocks and streams. 0: forward; 1: backward; others: random.
  uint32_t seed = 2;
  // Whether streams can capture control flow, as drivers can since CUDA 12.4.
  bool captures_control_flow = true;
  // The number of captures that fail at their end, as a driver may fail them for internal reasons.
  int64_t refused_captures = 0;
  // Each stream has a thread that runs its work as it is queued.
  bool asynchronous = false;
  int64_t delay_microseconds = 0;  // that every launch takes in addition
  int host_threads = 1;            // that run the blocks of an unchecked launch
  int64_t memory_bytes = int64_t{16} << 30;

  // Parses HILO_EMULATED, a list as in "async,check,count,delay=100,no-conditions,refuse-captures=1,seed=7,threads=2".
  // Errors: InvalidArgument.
  static absl::StatusOr<EmulatedOptions> FromEnvironment();
};

class EmulatedDriver : public GpuDriver {
 public:
  // Runs queued work, and returns the reports since the last call. At most 4 of each kind per launch.
  virtual std::vector<EmulatedReport> TakeReports() = 0;
  // While paused, no queued operation begins, and callers that wait for one wait until this ends.
  virtual void SetPaused(bool paused) = 0;
  // Returns the number of queued operations that have not begun.
  virtual int64_t PendingCount() = 0;
  // Returns the counts since the last call, by kernel and site.
  virtual std::vector<AccessCount> TakeAccessCounts() = 0;
};

absl::StatusOr<std::unique_ptr<EmulatedDriver>> CreateEmulatedDriver(const EmulatedOptions& options = {});

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_EMULATED_DRIVER_H_
