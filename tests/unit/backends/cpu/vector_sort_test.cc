#include "backends/cpu/runtime/vector_sort.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace hilo::cpu {
namespace {

TEST(VectorSortTest, SortsAllLengthsAndPatterns) {
  if (!HasVectorSort()) GTEST_SKIP() << "this machine has no AVX-512";
  std::mt19937_64 random(0);
  const std::function<uint64_t(int64_t i, int64_t length)> patterns[] = {
      [&](int64_t, int64_t) { return random(); },
      [&](int64_t, int64_t) { return random() % 3; },
      [&](int64_t, int64_t) { return ~(random() % 2); },  // the largest numbers
      [&](int64_t, int64_t) { return random() % 50 << 32 | random() % 50; },
      [&](int64_t, int64_t) { return uint64_t{7}; },
      [&](int64_t i, int64_t) { return static_cast<uint64_t>(i); },
      [&](int64_t i, int64_t length) { return static_cast<uint64_t>(length - i); },
      [&](int64_t i, int64_t length) { return static_cast<uint64_t>(std::min(i, length - i)); },
  };
  for (size_t p = 0; p < std::size(patterns); ++p) {
    for (int64_t length = 0; length < 20000; length += length < 300 ? 1 : length / 5) {
      // What is behind the arrays stays.
      std::vector<uint64_t> numbers(length + 1), spare(length + 1, 42);
      for (int64_t i = 0; i < length; ++i) numbers[i] = patterns[p](i, length);
      numbers[length] = 42;
      std::vector<uint64_t> expected = numbers;
      std::sort(expected.begin(), expected.end() - 1);
      VectorSort(numbers.data(), spare.data(), length);
      ASSERT_EQ(numbers, expected) << "pattern " << p << ", length " << length;
      ASSERT_EQ(spare.back(), 42);
    }
  }
}

// The numbers at the indices of the first sample are larger than all others.
TEST(VectorSortTest, SamplesMayBeUnlikeTheRest) {
  if (!HasVectorSort()) GTEST_SKIP() << "this machine has no AVX-512";
  constexpr int64_t kLength = 3000000, kPeriod = kLength / 64;
  std::vector<uint64_t> numbers(kLength), spare(kLength);
  for (int64_t i = 0; i < kLength; ++i) numbers[i] = i % kPeriod == kPeriod / 2 ? ~uint64_t{0} - i : i * 7919 % kLength;
  std::vector<uint64_t> expected = numbers;
  std::sort(expected.begin(), expected.end());
  VectorSort(numbers.data(), spare.data(), kLength);
  EXPECT_TRUE(numbers == expected);
}

}  // namespace
}  // namespace hilo::cpu
