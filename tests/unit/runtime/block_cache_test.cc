#include "runtime/block_cache.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace hilo {
namespace {

TEST(BlockCacheTest, ReturnsBlocksOfTheSameSize) {
  BlockCache cache;
  void* block = std::aligned_alloc(64, 1 << 20);
  cache.Give(block, 1 << 20);
  EXPECT_EQ(cache.Take(1 << 19), nullptr);
  EXPECT_EQ(cache.Take(1 << 20), block);
  EXPECT_EQ(cache.Take(1 << 20), nullptr);
  std::free(block);
}

TEST(BlockCacheTest, LeavesSmallBlocksToMalloc) {
  BlockCache cache;
  cache.Give(std::aligned_alloc(64, 1024), 1024);
  EXPECT_EQ(cache.Take(1024), nullptr);
}

TEST(BlockCacheTest, KeepsABoundedAmount) {
  BlockCache cache;
  constexpr int64_t kSize = 64 << 20;
  for (int i = 0; i < 6; ++i) cache.Give(std::malloc(kSize), kSize);
  int kept = 0;
  while (void* block = cache.Take(kSize)) {
    std::free(block);
    ++kept;
  }
  EXPECT_EQ(kept, 4);
}

TEST(BlockCacheTest, ClearForgetsAll) {
  BlockCache cache;
  cache.Give(std::malloc(1 << 20), 1 << 20);
  cache.Clear();
  EXPECT_EQ(cache.Take(1 << 20), nullptr);
}

}  // namespace
}  // namespace hilo
