#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ordered_tasks.h"
#include "gtest/gtest.h"
#include "hilo/host.h"

namespace hilo {
namespace {

std::unique_ptr<ThreadPool> MakePool(int threads) {
  absl::StatusOr<std::unique_ptr<ThreadPool>> pool = CreateThreadPool(threads);
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
}

TEST(ThreadPoolTest, RunsEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const std::unique_ptr<ThreadPool> pool = MakePool(threads);
    EXPECT_EQ(pool->num_threads(), threads);
    for (const int64_t n : {0, 1, 2, 7, 1000, (1 << 20) + 3}) {
      std::vector<std::atomic<int>> seen(n);
      pool->ParallelFor(n, [&](int64_t i) { seen[i].fetch_add(1); });
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(seen[i].load(), 1) << threads << " threads, index " << i;
    }
  }
}

TEST(ThreadPoolTest, OneThreadIsTheCaller) {
  const std::unique_ptr<ThreadPool> pool = MakePool(1);
  const std::thread::id caller = std::this_thread::get_id();
  pool->ParallelFor(10, [&](int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(ThreadPoolTest, TwoIndicesRunAtTheSameTime) {
  const std::unique_ptr<ThreadPool> pool = MakePool(2);
  std::atomic<int> arrived{0};
  pool->ParallelFor(2, [&](int64_t) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();  // hangs if one thread did both
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(ThreadPoolTest, CallerBeginsWithTheFirstSection) {
  const std::unique_ptr<ThreadPool> pool = MakePool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::thread::id> thread(8);
  std::atomic<int> arrived{0};
  pool->ParallelFor(8, [&](int64_t i) {
    thread[i] = std::this_thread::get_id();
    // Both threads are at the same step of their sections.
    const int until = 2 * (arrived.fetch_add(1) / 2 + 1);
    while (arrived.load() < until) std::this_thread::yield();
  });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(thread[i] == caller, i < 4) << i;
}

// The caller helps with what a worker has claimed none of.
TEST(ThreadPoolTest, CallerHelpsALateWorker) {
  const std::unique_ptr<ThreadPool> pool = MakePool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::atomic<bool>> by_caller(8);
  std::atomic<int> left{8};
  pool->ParallelFor(8, [&](int64_t i) {
    by_caller[i] = std::this_thread::get_id() == caller;
    left.fetch_sub(1);
    // The worker's first index waits for all others.
    while (!by_caller[i] && left.load() > 0) std::this_thread::yield();
  });
  int others = 0;
  for (const std::atomic<bool>& is : by_caller) others += is ? 0 : 1;
  EXPECT_LE(others, 1);
}

// Sections that few loops have are still claimed when the numbers of loops have passed 2^31, where the pool begins.
TEST(ThreadPoolTest, ManyLoops) {
  const std::unique_ptr<ThreadPool> pool = MakePool(4);
  std::atomic<int64_t> sum{0};
  constexpr int64_t kLoops = 300;
  for (int64_t loop = 0; loop < kLoops; ++loop) pool->ParallelFor(2, [&](int64_t i) { sum.fetch_add(i); });
  EXPECT_EQ(sum.load(), kLoops);
  for (int loop = 0; loop < 100; ++loop) pool->ParallelFor(8, [&](int64_t i) { sum.fetch_add(i); });
  EXPECT_EQ(sum.load(), kLoops + 100 * 28);
}

// A worker whose own indices took no time comes back for those of the caller.
TEST(ThreadPoolTest, WorkersHelpWithLongIndices) {
  const std::unique_ptr<ThreadPool> pool = MakePool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> by_worker{0};
  pool->ParallelFor(8, [&](int64_t i) {
    if (i >= 4) return;
    if (std::this_thread::get_id() != caller) by_worker.fetch_add(1);
    // The first index waits for the worker.
    while (i == 0 && by_worker.load() == 0) std::this_thread::yield();
  });
  EXPECT_GE(by_worker.load(), 1);
}

TEST(OrderedTasksTest, ThreadsTakeTheNextTask) {
  const std::unique_ptr<ThreadPool> pool = MakePool(2);
  std::vector<std::atomic<int>> seen(9);
  std::atomic<int> next{0};
  RunInOrder(*pool, 9, [&](int64_t i) {
    seen[i].fetch_add(1);
    // The first task is as long as all others, which the other thread takes.
    if (i == 0) {
      while (next.load() < 8) std::this_thread::yield();
    } else {
      EXPECT_EQ(next.fetch_add(1), i - 1);
    }
  });
  for (int i = 0; i < 9; ++i) EXPECT_EQ(seen[i].load(), 1) << i;
}

TEST(ThreadPoolTest, NestedLoopsRunInline) {
  const std::unique_ptr<ThreadPool> pool = MakePool(3);
  std::atomic<int> sum{0};
  pool->ParallelFor(4, [&](int64_t) {
    const std::thread::id thread = std::this_thread::get_id();
    pool->ParallelFor(5, [&](int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      sum.fetch_add(1);
    });
  });
  EXPECT_EQ(sum.load(), 20);
}

TEST(ThreadPoolTest, ManyShortLoopsFromTwoCallers) {
  const std::unique_ptr<ThreadPool> pool = MakePool(3);
  std::atomic<int64_t> sum{0};
  auto caller = [&] {
    for (int loop = 0; loop < 2000; ++loop) pool->ParallelFor(3, [&](int64_t i) { sum.fetch_add(i); });
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(sum.load(), 2 * 2000 * 3);
}

TEST(ThreadPoolTest, RefusesZeroThreads) {
  EXPECT_EQ(CreateThreadPool(0).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hilo
