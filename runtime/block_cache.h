// Freed blocks that are kept for the next buffer of their size. Programs are run repeatedly, and the first touch
// of fresh memory costs more than most kernels (1.5 to 4 us per page in a virtual machine), so results that are dropped
// between runs should not go back to the system.
#ifndef HILO_RUNTIME_BLOCK_CACHE_H_
#define HILO_RUNTIME_BLOCK_CACHE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace hilo {

// Thread-safe.
class BlockCache {
 public:
  BlockCache() = default;
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;
  ~BlockCache() { Clear(); }

  // A kept block of exactly `size` bytes, or null.
  void* Take(int64_t size);
  // Keeps a malloc'ed block, or frees it: small ones, and those that exceed the total limit of 256 MiB.
  void Give(void* block, int64_t size);
  // Frees all that is kept.
  void Clear();

 private:
  std::mutex mutex_;
  std::map<int64_t, std::vector<void*>> blocks_;  // by size; not an Abseil hash table: unsafe if an allocation fails
  int64_t kept_ = 0;                              // bytes
};

}  // namespace hilo

#endif  // HILO_RUNTIME_BLOCK_CACHE_H_
