#include "runtime/block_cache.h"

#include <cstdlib>
#include <new>

namespace hilo {
namespace {

// malloc itself keeps smaller blocks.
constexpr int64_t kSmallest = 16 << 10;
constexpr int64_t kMaxKept = 256 << 20;

}  // namespace

void* BlockCache::Take(int64_t size) {
  if (size < kSmallest) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = blocks_.find(size);
  if (it == blocks_.end() || it->second.empty()) return nullptr;
  void* block = it->second.back();
  it->second.pop_back();
  kept_ -= size;
  return block;
}

void BlockCache::Give(void* block, int64_t size) {
  if (size >= kSmallest) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (kept_ + size <= kMaxKept) {
      try {
        blocks_[size].push_back(block);
        kept_ += size;
        return;
      } catch (const std::bad_alloc&) {
        // Not kept, then.
      }
    }
  }
  std::free(block);
}

void BlockCache::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [size, blocks] : blocks_) {
    for (void* block : blocks) std::free(block);
  }
  blocks_.clear();
  kept_ = 0;
}

}  // namespace hilo
