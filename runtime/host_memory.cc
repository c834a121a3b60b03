#include "runtime/host_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// From this size on huge pages are requested from the system; a first touch is five times as fast.
constexpr int64_t kHugePage = 2 << 20;

void* SystemAllocate(int64_t size) {
  const int64_t alignment = size >= kHugePage ? kHugePage : kBufferAlignment;
  if (size > INT64_MAX - alignment) return nullptr;
  const int64_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory != nullptr && size >= kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

// Adds `bytes` to `*in_use` and returns the sum, or nothing if that would exceed the limit (0: none).
std::optional<int64_t> AddWithin(int64_t limit, int64_t bytes, std::atomic<int64_t>* in_use) {
  const int64_t before = in_use->fetch_add(bytes, std::memory_order_relaxed);
  if (limit == 0 || bytes <= limit - before) return before + bytes;
  in_use->fetch_sub(bytes, std::memory_order_relaxed);
  return std::nullopt;
}

void RaisePeak(int64_t in_use, std::atomic<int64_t>* peak) {
  int64_t before = peak->load(std::memory_order_relaxed);
  while (in_use > before && !peak->compare_exchange_weak(before, in_use, std::memory_order_relaxed)) {
  }
}

}  // namespace

MemoryBlock::~MemoryBlock() {
  if (release_ != nullptr) {
    memory_->Release(std::move(release_));
    return;
  }
  if (memory_ == nullptr) return;
  if (data_ != small_ && data_ != nullptr) {
    if (memory_->device_ != nullptr) {
      memory_->device_->Free(data_, size_);
    } else if (memory_->allocator_ != nullptr) {
      memory_->allocator_->Free(data_, size_);
    } else {
      memory_->cache_.Give(data_, size_);
    }
  }
  memory_->Unreserve(size_);
}

bool MemoryBlock::on_host() const { return memory_ == nullptr || memory_->device_ == nullptr; }

absl::Status MemoryBlock::CopyFromHost(const void* from) {
  if (size_ == 0) return absl::OkStatus();
  if (!on_host()) return memory_->device_->CopyFromHost(data_, from, size_);
  std::memcpy(data_, from, size_);
  return absl::OkStatus();
}

absl::Status MemoryBlock::CopyToHost(void* to) const {
  if (size_ == 0) return absl::OkStatus();
  if (!on_host()) return memory_->device_->CopyToHost(to, data_, size_);
  std::memcpy(to, data_, size_);
  return absl::OkStatus();
}

absl::Status MemoryBlock::CopyFrom(const MemoryBlock& from) {
  if (on_host()) return from.CopyToHost(data_);
  return size_ == 0 ? absl::OkStatus() : memory_->device_->CopyWithin(data_, from.data_, size_);
}

absl::StatusOr<std::shared_ptr<MemoryBlock>> HostMemory::Allocate(int64_t size) {
  // The peak is raised once the memory is there.
  const std::optional<int64_t> in_use = AddWithin(limit_, size, &in_use_);
  if (!in_use.has_value()) return Exhausted(size);
  std::shared_ptr<MemoryBlock> block;
  try {
    block = std::make_shared<MemoryBlock>();
  } catch (const std::bad_alloc&) {
    Unreserve(size);
    return Exhausted(size);
  }
  block->memory_ = shared_from_this();
  block->size_ = size;
  if (size == 0) return block;
  if (device_ != nullptr) {
    HILO_ASSIGN_OR_RETURN(void* memory, device_->Allocate(size));
    block->data_ = static_cast<uint8_t*>(memory);
    RaisePeak(*in_use, &peak_);
    return block;
  }
  if (size <= MemoryBlock::kSmall && allocator_ == nullptr) {
    block->data_ = block->small_;
    RaisePeak(*in_use, &peak_);
    return block;
  }
  void* data = allocator_ != nullptr ? allocator_->Allocate(size, kBufferAlignment) : cache_.Take(size);
  if (data == nullptr && allocator_ == nullptr) data = SystemAllocate(size);
  if (data == nullptr && allocator_ == nullptr) {
    cache_.Clear();
    data = SystemAllocate(size);
  }
  if (data == nullptr) {
    block.reset();  // which is not in use any more
    return Exhausted(size);
  }
  block->data_ = static_cast<uint8_t*>(data);
  RaisePeak(*in_use, &peak_);
  return block;
}

std::shared_ptr<MemoryBlock> HostMemory::Lend(const void* data, int64_t size, std::function<void()> release) {
  auto block = std::make_shared<MemoryBlock>();
  block->memory_ = shared_from_this();
  block->data_ = const_cast<uint8_t*>(static_cast<const uint8_t*>(data));
  block->size_ = size;
  block->release_ = release != nullptr ? std::move(release) : [] {};
  return block;
}

void HostMemory::Release(std::function<void()> release) {
  if (DeviceQueue::OnThreadOfAny()) {
    try {
      releases_.Enqueue(std::move(release));
      return;
    } catch (const std::bad_alloc&) {
    }
  }
  release();
}

absl::Status HostMemory::Reserve(int64_t bytes) {
  const std::optional<int64_t> in_use = AddWithin(limit_, bytes, &in_use_);
  if (!in_use.has_value()) return Exhausted(bytes);
  RaisePeak(*in_use, &peak_);
  return absl::OkStatus();
}

absl::Status HostMemory::Exhausted(int64_t asked) const {
  const MemoryStats now = stats();
  if (limit_ == 0) {
    return ResourceExhausted("cannot allocate ", asked, " bytes; ", now.bytes_in_use, " are in use, at most ",
                             now.peak_bytes, " were");
  }
  return ResourceExhausted("cannot allocate ", asked, " bytes: ", limit_ - now.bytes_in_use, " of the limit of ",
                           limit_, " are free, at most ", now.peak_bytes, " were in use");
}

MemoryStats HostMemory::stats() const {
  return {.bytes_in_use = in_use_.load(std::memory_order_relaxed),
          .peak_bytes = peak_.load(std::memory_order_relaxed),
          .limit = limit_};
}

}  // namespace hilo
