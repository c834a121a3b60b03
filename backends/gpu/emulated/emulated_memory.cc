#include "backends/gpu/emulated/emulated_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace hilo::gpu {
namespace {

int64_t RoundUp(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

// Maps `body` bytes that end where an inaccessible page begins.
void* MapGuarded(int64_t body, void** memory, int64_t* memory_bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE), pages = RoundUp(body, page);
  *memory_bytes = pages + page;
  *memory = mmap(nullptr, *memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (*memory == MAP_FAILED) return nullptr;
  mprotect(static_cast<uint8_t*>(*memory) + pages, page, PROT_NONE);
  return static_cast<uint8_t*>(*memory) + pages - body;
}

}  // namespace

EmulatedMemory::~EmulatedMemory() {
  for (const auto& [base, entry] : entries_) Release(entry);
}

void EmulatedMemory::Release(const Entry& entry) const {
  if (guarded_) {
    munmap(entry.memory, entry.memory_bytes);
  } else {
    std::free(entry.memory);
  }
}

absl::StatusOr<void*> EmulatedMemory::Allocate(int64_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes < 0) return InvalidArgument("expected a number of bytes, got ", bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > limit_ - in_use_) {
    return ResourceExhausted("cannot allocate ", bytes, " bytes: ", limit_ - in_use_, " of the device's ", limit_,
                             " are free, at most ", peak_, " were in use");
  }
  const int64_t body = RoundUp(bytes, kDeviceAlignment);
  Entry entry;
  void* base;
  if (guarded_) {
    base = MapGuarded(body, &entry.memory, &entry.memory_bytes);
  } else {
    base = entry.memory = std::aligned_alloc(kDeviceAlignment, body);
  }
  if (base == nullptr) return ResourceExhausted("the host has no ", bytes, " bytes for the emulated device");
  std::memset(base, 0xff, body);
  entry.allocation = {.base = static_cast<uint8_t*>(base), .bytes = bytes};
  entries_[entry.allocation.base] = std::move(entry);
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  return base;
}

absl::Status EmulatedMemory::Free(void* memory) {
  if (memory == nullptr) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = entries_.find(static_cast<const uint8_t*>(memory));
  if (it == entries_.end()) return InvalidArgument("free of an address that is not allocated");
  in_use_ -= it->second.allocation.bytes;
  Release(it->second);
  entries_.erase(it);
  return absl::OkStatus();
}

EmulatedAllocation* EmulatedMemory::Near(const void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = entries_.upper_bound(static_cast<const uint8_t*>(address));
  return it == entries_.begin() ? nullptr : &std::prev(it)->second.allocation;
}

absl::Status EmulatedMemory::CheckRange(const char* what, const void* address, int64_t bytes) {
  const auto* at = static_cast<const uint8_t*>(address);
  if (bytes == 0) return absl::OkStatus();
  // The last allocation that could share a byte with the range.
  const EmulatedAllocation* allocation = Near(at + bytes - 1);
  if (allocation == nullptr || at >= allocation->base + allocation->bytes || allocation->Contains(address, bytes))
    return absl::OkStatus();
  return InvalidArgument(what, ": ", bytes, " bytes at offset ", at - allocation->base, " of an allocation of ",
                         allocation->bytes, " bytes");
}

GpuMemoryInfo EmulatedMemory::info() {
  std::lock_guard<std::mutex> lock(mutex_);
  return {.free_bytes = limit_ - in_use_, .total_bytes = limit_};
}

}  // namespace hilo::gpu
