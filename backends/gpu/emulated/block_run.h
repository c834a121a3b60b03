// Runs the threads of a block, and all blocks of a launch.
#ifndef HILO_BACKENDS_GPU_EMULATED_BLOCK_RUN_H_
#define HILO_BACKENDS_GPU_EMULATED_BLOCK_RUN_H_

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/emulated/access_checker.h"
#include "backends/gpu/emulated/access_report.h"
#include "backends/gpu/emulated/async_copies.h"
#include "backends/gpu/emulated/kernel_transform.h"
#include "backends/gpu/emulated/multiply_groups.h"
#include "backends/gpu/emulated/shared_barriers.h"
#include "backends/gpu/emulated/thread_context.h"
#include "hilo/host.h"

namespace hilo::gpu {

struct EmulatedLaunch {
  const EmulatedKernelInfo* kernel = nullptr;
  KernelFunction* function = nullptr;
  LaunchDimensions dimensions;
  absl::Span<const uint64_t> arguments;
  absl::Span<const GpuSlice> slices;
  uint32_t seed = 0;                 // as EmulatedOptions
  EmulatedMemory* memory = nullptr;  // null: unchecked
  uint32_t number = 1;               // of the launch, from 1
  bool count_accesses = false;
  int64_t counted_blocks = 0;
  ThreadPool* pool = nullptr;  // for blocks of unchecked launches; null: this thread
};

// Runs the launch to completion, and sums up accesses by site. Faults of the kernel are added to `reports`.
void RunLaunch(const EmulatedLaunch& launch, LaunchReports* reports, std::map<uint32_t, AccessCount>* counts);

// The blocks of one worker, run sequentially. Kernels call it back through ThreadContext::run.
class BlockRun {
 public:
  // `slot` of `slots`: of the runs of this host thread whose blocks take turns, each has stacks of its own.
  BlockRun(const EmulatedLaunch& launch, AccessChecker* checker, AccessCounter* counter, LaunchReports* reports,
           int64_t slot = 0, int64_t slots = 1);
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;

  // Runs a block to its end.
  void Run(int64_t block);
  // The same in steps, between those of other blocks. A step that returns kWaits changed nothing: all threads that are
  // not at a barrier or in a warp operation wait for other blocks.
  enum class Progress { kRan, kWaits, kEnded };
  void Start(int64_t block);
  Progress Step();

  AccessChecker* checker() const { return checker_; }
  LaunchReports* reports() const { return reports_; }
  // Called by the running thread: suspends it until it may continue.
  void Yield(ThreadContext* thread);
  // Called when a thread has waited for its multiplications.
  void EndGroupReads(const ThreadContext& thread);
  // Called by the running thread at a barrier in shared memory, and to start a copy that completes at one.
  void AtSharedBarrier(ThreadContext* thread, BarrierStep step, int64_t at, uint32_t value, uint32_t site);
  void CopyTensor(const ThreadContext& thread, int64_t to, const TensorMap& map, const int32_t* coordinates,
                  int64_t barrier, uint32_t site);

 private:
  static void Entry();
  void SetBlock(int64_t block, ThreadContext* thread) const;
  void SetThread(int64_t linear, ThreadContext* thread) const;
  bool StartThreads();
  void RunAlone();
  bool RunReady();
  void ReleaseWarp(ThreadContext& waiting);
  void RunMatrix(ThreadContext* warp, int lanes);
  void ReleaseGroup(ThreadContext& waiting);
  void MultiplyGroup(ThreadContext* group);
  bool LeavesSharedBarrier(const ThreadContext& thread);
  void Land(const TensorCopy& copy);
  uint32_t WarpResult(const ThreadContext* warp, int lane, uint32_t members);
  bool ReleaseBarrier();

  const EmulatedLaunch& launch_;
  AccessChecker* const checker_;
  AccessCounter* const counter_;
  LaunchReports* const reports_;
  const int64_t thread_count_;
  const int64_t slot_, slots_;
  int64_t block_ = 0;
  const int64_t shared_bytes_;
  std::vector<uint8_t> shared_storage_;
  uint8_t* shared_ = nullptr;
  std::vector<ThreadContext> threads_;
  std::vector<AsyncCopies> copies_;     // by thread
  std::vector<MultiplyGroups> groups_;  // by thread
  // Of multiplications that a warp has not waited for, by warp.
  struct GroupRead {
    int64_t group;  // of the warp's first thread
    uint8_t* address;
    int64_t bytes;
  };
  std::vector<std::vector<GroupRead>> group_reads_;
  SharedBarriers barriers_;
  std::vector<uint32_t> order_;
  std::minstd_rand random_;
  void* scheduler_ = nullptr;
  ThreadContext* running_ = nullptr;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_BLOCK_RUN_H_
