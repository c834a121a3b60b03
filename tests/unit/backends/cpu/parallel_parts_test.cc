#include "backends/cpu/runtime/parallel_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/errors.h"

namespace hilo::cpu {
namespace {

struct Part {
  int64_t begin, end;
  bool operator==(const Part&) const = default;
};

// The parts of a loop, in ascending order.
std::vector<Part> PartsOfLoop(ThreadPool* pool, int64_t count, double work) {
  std::vector<Part> parts;
  std::mutex mutex;
  const absl::Status status = ForParts({.pool = pool}, count, work, [&](int64_t begin, int64_t end) {
    std::lock_guard<std::mutex> lock(mutex);
    parts.push_back({begin, end});
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  std::sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) { return x.begin < y.begin; });
  return parts;
}

TEST(ParallelPartsTest, PartsCoverTheLoopEvenlyForAnyThreads) {
  auto one = CreateThreadPool(1), three = CreateThreadPool(3);
  ASSERT_TRUE(one.ok() && three.ok());
  for (const int64_t count : {0, 1, 2, 7, 16, 100, 1000}) {
    for (const double work : {0.0, 1.0, 700.0, 3000.0, 12000.0, 1e6}) {
      const std::vector<Part> parts = PartsOfLoop(three->get(), count, work);
      EXPECT_EQ(parts, PartsOfLoop(one->get(), count, work)) << count << " " << work;
      int64_t next = 0, least = count, most = 0;
      for (const Part& part : parts) {
        EXPECT_EQ(part.begin, next);
        next = part.end;
        least = std::min(least, part.end - part.begin);
        most = std::max(most, part.end - part.begin);
      }
      EXPECT_EQ(next, count);
      EXPECT_LE(most - least, count == 0 ? 0 : 1) << count << " " << work;
    }
  }
}

TEST(ParallelPartsTest, PartsAreWorthAThreadAndShortEnoughToShare) {
  EXPECT_EQ(PartsOfLoop(nullptr, 16, 300).size(), 1);      // 4.8 us
  EXPECT_EQ(PartsOfLoop(nullptr, 16, 1900).size(), 8);     // 30 us: halves and quarters of them
  EXPECT_EQ(PartsOfLoop(nullptr, 100, 10000).size(), 50);  // 1 ms
  EXPECT_EQ(PartsOfLoop(nullptr, 3, 1e6).size(), 3);
}

TEST(ParallelPartsTest, ReturnsTheErrorOfABody) {
  auto pool = CreateThreadPool(2);
  ASSERT_TRUE(pool.ok());
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), pool->get()}) {
    const absl::Status status = ForParts({.pool = threads}, 100, 10000, [](int64_t begin, int64_t end) {
      return begin <= 42 && 42 < end ? Internal("at 42") : absl::OkStatus();
    });
    EXPECT_EQ(status.message(), "at 42");
  }
}

}  // namespace
}  // namespace hilo::cpu
