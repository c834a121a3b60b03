// Memory of buffers: its source, its use, and its limit. It is the host's, or that of a device with
// separate memory (runtime/device_memory.h).
#ifndef HILO_RUNTIME_HOST_MEMORY_H_
#define HILO_RUNTIME_HOST_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hilo/host.h"
#include "runtime/block_cache.h"
#include "runtime/device_memory.h"
#include "runtime/device_queue.h"

namespace hilo {

class HostMemory;

// Bytes of one buffer.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;
  ~MemoryBlock();

  // A host address if on_host(), else a device address.
  uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  bool on_host() const;
  // All bytes of the block from or to the host's memory. Errors: those of a device's copies.
  absl::Status CopyFromHost(const void* from);
  absl::Status CopyToHost(void* to) const;
  // From a block of this size, of the same device or another of its platform.
  absl::Status CopyFrom(const MemoryBlock& from);
  // False for memory that the embedder lent: it is read-only.
  bool writable() const { return release_ == nullptr; }

 private:
  friend class HostMemory;
  static constexpr int64_t kSmall = 64;

  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
  std::shared_ptr<HostMemory> memory_;
  std::function<void()> release_;                    // of lent memory
  alignas(kBufferAlignment) uint8_t small_[kSmall];  // scalars need no separate allocation
};

// Thread-safe.
class HostMemory : public std::enable_shared_from_this<HostMemory> {
 public:
  // Null: memory of the system. Limit in bytes; 0: none.
  HostMemory(HostAllocator* allocator, int64_t limit) : allocator_(allocator), limit_(limit) {}
  // Blocks are allocated in the device's own memory.
  HostMemory(std::shared_ptr<DeviceMemory> device, int64_t limit)
      : allocator_(nullptr), device_(std::move(device)), limit_(limit) {}

  // Null: blocks are on the host.
  DeviceMemory* device() const { return device_.get(); }
  // In bytes; 0: none.
  int64_t limit() const { return limit_; }

  // `size` bytes, not initialized. Errors: ResourceExhausted with requested, free and peak bytes.
  absl::StatusOr<std::shared_ptr<MemoryBlock>> Allocate(int64_t size);
  // The embedder's memory, of the host or of the device, lent until `release` is called. Not counted. `release` may
  // wait for a lock (such as Python's) that a caller holds while it waits for a device, so no device's thread calls
  // it: if a run has the last reference, a separate thread does. All calls end before this object does.
  std::shared_ptr<MemoryBlock> Lend(const void* data, int64_t size, std::function<void()> release);
  // The alignment that programs require of the first byte of every array, in bytes.
  int64_t alignment() const { return device_ != nullptr ? device_->alignment() : kBufferAlignment; }

  // Counts memory that is allocated elsewhere, such as a program's frame. Errors:
  // ResourceExhausted.
  absl::Status Reserve(int64_t bytes);
  void Unreserve(int64_t bytes) { in_use_.fetch_sub(bytes, std::memory_order_relaxed); }

  MemoryStats stats() const;
  // Resets the peak to the current use.
  void ResetPeak() { peak_.store(in_use_.load(std::memory_order_relaxed), std::memory_order_relaxed); }

 private:
  friend class MemoryBlock;
  absl::Status Exhausted(int64_t asked) const;
  // Calls `release` here, or passes it to a thread that may wait.
  void Release(std::function<void()> release);

  HostAllocator* const allocator_;
  const std::shared_ptr<DeviceMemory> device_;
  BlockCache cache_;  // of memory from the system
  const int64_t limit_;
  std::atomic<int64_t> in_use_{0}, peak_{0};
  DeviceQueue releases_;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_HOST_MEMORY_H_
