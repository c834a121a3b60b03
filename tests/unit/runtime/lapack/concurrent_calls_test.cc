// Routines of the library may be called from several threads at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/lapack/lapack_library.h"
#include "runtime/lapack/triangle_solve.h"

namespace hilo::lapack {
namespace {

TEST(ConcurrentCallsTest, ThreadsThatSolveTrianglesGetTheBitsOfOneThread) {
  if (Library<float>() == nullptr) GTEST_SKIP() << "OpenBLAS is not installed";
  constexpr Int kRows = 40, kSystems = 16;
  constexpr int kThreads = 2, kCalls = 200'000;
  std::vector<float> a(kRows * kRows), right(kRows * kSystems);
  for (Int i = 0; i < kRows; ++i) {
    for (Int j = 0; j < kRows; ++j) a[i * kRows + j] = std::sin(static_cast<float>(i * j)) + (i == j ? kRows : 0);
  }
  for (Int i = 0; i < kRows * kSystems; ++i) right[i] = static_cast<float>(i % kRows);
  const auto solve = [&](std::vector<float>& x) {
    return SolveTriangle<float>({'R', 'U', 'N', 'N'}, kSystems, kRows, a.data(), kRows, x.data(), kSystems, nullptr);
  };
  std::vector<float> expected = right;
  ASSERT_TRUE(solve(expected).ok());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      std::vector<float> x;
      for (int call = 0; call < kCalls; ++call) {
        x = right;
        if (!solve(x).ok() || x != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0) << "of " << kThreads * kCalls << " calls";
}

}  // namespace
}  // namespace hilo::lapack
