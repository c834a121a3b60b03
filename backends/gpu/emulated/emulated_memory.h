// The memory of an emulated device: a table of allocations with exact lengths, and the last accesses of each byte.
#ifndef HILO_BACKENDS_GPU_EMULATED_EMULATED_MEMORY_H_
#define HILO_BACKENDS_GPU_EMULATED_EMULATED_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

// The last write to a byte of global memory and the last read of it, in launch `launch`. Threads are numbered from 1 in
// their block; 0 is none.
struct GlobalShadow {
  static constexpr uint32_t kMany = ~0u;
  uint32_t launch;
  uint32_t write_block, write_thread, write_epoch, write_warp_epoch;
  uint32_t read_block, read_thread, read_epoch, read_warp_epoch;
  bool atomic_write;
};

struct EmulatedAllocation {
  uint8_t* base = nullptr;
  int64_t bytes = 0;
  std::unique_ptr<GlobalShadow[]> shadow;  // allocated when a checked kernel first accesses it

  bool Contains(const void* address, int64_t size) const {
    const auto* at = static_cast<const uint8_t*>(address);
    return at >= base && size <= bytes && at - base <= bytes - size;
  }
};

// Thread-safe.
class EmulatedMemory {
 public:
  // `guarded`: each allocation is followed by an inaccessible page.
  EmulatedMemory(int64_t limit, bool guarded) : limit_(limit), guarded_(guarded) {}
  EmulatedMemory(const EmulatedMemory&) = delete;
  EmulatedMemory& operator=(const EmulatedMemory&) = delete;
  ~EmulatedMemory();

  // Errors: ResourceExhausted.
  absl::StatusOr<void*> Allocate(int64_t bytes);
  // Errors: InvalidArgument if `memory` is not an allocation.
  absl::Status Free(void* memory);
  // Returns the last allocation that begins at or before `address`, or null. Valid until it is freed.
  EmulatedAllocation* Near(const void* address);
  // Returns InvalidArgument if only some of the bytes belong to an allocation; host memory is accepted.
  absl::Status CheckRange(const char* what, const void* address, int64_t bytes);
  GpuMemoryInfo info();

 private:
  struct Entry {
    EmulatedAllocation allocation;
    void* memory = nullptr;  // as returned by the system
    int64_t memory_bytes = 0;
  };
  void Release(const Entry& entry) const;

  const int64_t limit_;
  const bool guarded_;
  std::mutex mutex_;
  std::map<const uint8_t*, Entry> entries_;
  int64_t in_use_ = 0, peak_ = 0;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_EMULATED_MEMORY_H_
