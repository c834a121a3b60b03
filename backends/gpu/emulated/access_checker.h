// Checks every memory access of a kernel against CUDA's rules: proves that a kernel has no races, independent of the
// order in which it happened to run.
//
// Two accesses to a byte, at least one writing and not both atomic, are ordered by: being of one thread; a block
// barrier between them (within a block); a warp barrier between them (within a warp; a shuffle is not one). Different
// blocks of a launch are never ordered. What is reported is a fault for these inputs in any order of threads, with one
// approximation: several readers of a byte collapse into "many", which belong to no warp; of shared memory, only if
// they are of several warps.
#ifndef HILO_BACKENDS_GPU_EMULATED_ACCESS_CHECKER_H_
#define HILO_BACKENDS_GPU_EMULATED_ACCESS_CHECKER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/gpu/emulated/access_report.h"
#include "backends/gpu/emulated/async_copies.h"
#include "backends/gpu/emulated/emulated_memory.h"
#include "backends/gpu/emulated/thread_context.h"

namespace hilo::gpu {

// The reports of one launch, at most four of each kind.
class LaunchReports {
 public:
  void Add(const char* kind, std::string text);
  const std::vector<EmulatedReport>& all() const { return all_; }

 private:
  std::vector<EmulatedReport> all_;
};

// Formats a thread: "block (1,0,0) thread (3,0,0)".
std::string Who(const ThreadContext& thread);

// Counts sectors and bank passes of a block. The n-th executions of an instruction by a warp's lanes are one request.
class AccessCounter {
 public:
  void Note(const ThreadContext& thread, uint64_t address, int64_t bytes, AccessKind kind, uint32_t site, bool shared);
  // Adds what was noted to `counts`, by site.
  void FinishBlock(std::map<uint32_t, AccessCount>* counts);

 private:
  struct Request {
    uint64_t address[kWarpSize];
    uint32_t lanes = 0;
    int64_t bytes = 0;
    AccessKind kind = AccessKind::kLoad;
    bool shared = false;
  };
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> access_counts_;       // of (site, thread)
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Request> requests_;  // of (site, warp, instance)
};

// Checks one launch.
class AccessChecker {
 public:
  AccessChecker(EmulatedMemory* memory, absl::Span<const GpuSlice> slices, uint32_t launch, LaunchReports* reports)
      : memory_(*memory), slices_(slices), launch_(launch), reports_(*reports) {}

  // Call before each block, with its index and shared memory.
  void BeginBlock(uint32_t block, uint8_t* shared, int64_t shared_bytes, AccessCounter* counter);
  // Call at each block barrier.
  void NextEpoch() { ++epoch_; }

  // Returns the address to access.
  void* Access(const ThreadContext& thread, uint8_t* address, int64_t bytes, uint32_t alignment, AccessKind kind,
               uint32_t site);
  // Called when a thread starts an asynchronous copy; returns whether it may be made. It writes its destination from
  // now on until it lands: nothing may access those bytes in between.
  bool StartCopy(const ThreadContext& thread, const AsyncCopy& copy);
  void LandCopy(const ThreadContext& thread, const AsyncCopy& copy);
  int64_t Range(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind, uint32_t site);
  // Called when a multiplication of the thread's warp group begins to read shared memory; returns whether it may. The
  // bytes must not be written until each of its warps has called EndGroupRead for them.
  bool BeginGroupRead(const ThreadContext& thread, uint8_t* address, int64_t bytes, uint32_t site);
  void EndGroupRead(const uint8_t* address, int64_t bytes);
  // Called when the thread starts a copy of a tensor; returns whether it may. Nothing may access the bytes until
  // EndTensorCopy: what is then there was written by no thread, and is ordered by the barrier at which it completes.
  bool BeginTensorCopy(const ThreadContext& thread, uint8_t* address, int64_t bytes, uint32_t site);
  void EndTensorCopy(const uint8_t* address, int64_t bytes);
  // The thread's accesses to shared memory so far are before those by asynchronous multiplications that follow.
  void ProxyFence(const ThreadContext& thread);

 private:
  struct SharedShadow {
    uint32_t write_thread, write_epoch, write_warp_epoch;
    uint32_t read_thread, read_epoch, read_warp_epoch;
    uint32_t copying_thread;  // of an asynchronous copy that has not landed, from 1; 0 for none
    bool read_by_warp;        // by other threads of its warp too
    bool atomic_write, written;
    uint32_t write_fences;  // of the writing thread, when it wrote
    uint16_t group_warps;   // that have not ended reading it for a multiplication
  };

  // The proxy fences of a thread, and the epoch of the last one.
  struct ProxyFences {
    uint32_t count = 0, epoch = 0;
  };

  ProxyFences& FencesOf(uint32_t thread);
  bool IsFenced(const SharedShadow& at);
  void ReportMultiplied(const ThreadContext& thread, int64_t byte, uint32_t site);
  bool IsAligned(const ThreadContext& thread, const uint8_t* address, int64_t bytes, uint32_t alignment, uint32_t site);
  bool IsInBounds(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind, uint32_t site);
  bool IsShared(const uint8_t* address) const;
  bool CheckShared(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind, uint32_t site);
  bool CheckGlobal(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind, uint32_t site);
  bool IsDeclared(const uint8_t* address, int64_t bytes, AccessKind kind);
  static bool SameWarp(const ThreadContext& thread, uint32_t other);
  // `by_warp`: of several threads of the other thread's warp.
  bool Ordered(const ThreadContext& thread, uint32_t other, uint32_t epoch, uint32_t warp_epoch,
               bool by_warp = false) const;

  EmulatedMemory& memory_;
  const absl::Span<const GpuSlice> slices_;
  const uint32_t launch_;
  LaunchReports& reports_;
  EmulatedAllocation* last_allocation_ = nullptr;
  const GpuSlice* last_slice_ = nullptr;
  // State of the block.
  uint32_t block_ = 0, epoch_ = 1;
  uint8_t* shared_ = nullptr;
  int64_t shared_bytes_ = 0;
  std::vector<SharedShadow> shadow_;
  std::vector<ProxyFences> fences_;  // by thread
  AccessCounter* counter_ = nullptr;
  alignas(256) uint8_t harmless_[512] = {};
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_ACCESS_CHECKER_H_
