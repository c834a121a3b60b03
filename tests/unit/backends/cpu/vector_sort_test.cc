#include "backends/cpu/runtime/vector_sort.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace hilo::cpu {
namespace {

// The sorts that this machine can run, of all instruction sets.
template <typename T>
std::vector<const VectorSorts<T>*> AllSorts() {
  std::vector<const VectorSorts<T>*> all;
  if (const VectorSorts<T>* best = FindVectorSorts<T>(); best != nullptr) all.push_back(best);
#if defined(__x86_64__)
  if constexpr (sizeof(T) == sizeof(uint32_t)) {
    if (!all.empty() && all[0] != &avx2::kSorts32) all.push_back(&avx2::kSorts32);
  }
#endif
  return all;
}

template <typename T>
class VectorSortTest : public testing::Test {};
using NumberTypes = testing::Types<uint32_t, uint64_t>;
TYPED_TEST_SUITE(VectorSortTest, NumberTypes);

template <typename T>
std::vector<std::function<T(int64_t i, int64_t length)>> Patterns() {
  auto random = [state = std::mt19937_64(0)]() mutable { return static_cast<T>(state()); };
  return {
      [=](int64_t, int64_t) mutable { return random(); },
      [=](int64_t, int64_t) mutable { return random() % 3; },
      [=](int64_t, int64_t) mutable { return static_cast<T>(~(random() % 2)); },  // the largest numbers
      [=](int64_t, int64_t) mutable { return random() % 50 << (4 * sizeof(T)) | random() % 50; },
      [](int64_t, int64_t) { return T{7}; },
      [](int64_t i, int64_t) { return static_cast<T>(i); },
      [](int64_t i, int64_t length) { return static_cast<T>(length - i); },
      [](int64_t i, int64_t length) { return static_cast<T>(std::min(i, length - i)); },
  };
}

TYPED_TEST(VectorSortTest, SortsAllLengthsAndPatterns) {
  for (const VectorSorts<TypeParam>* sorts : AllSorts<TypeParam>()) {
    const auto patterns = Patterns<TypeParam>();
    for (size_t p = 0; p < patterns.size(); ++p) {
      for (int64_t length = 0; length < 20000; length += length < 300 ? 1 : length / 5) {
        for (const bool into_spare : {false, true}) {
          // What is behind the arrays stays.
          std::vector<TypeParam> numbers(length + 1), spare(length + 1, 42);
          for (int64_t i = 0; i < length; ++i) numbers[i] = patterns[p](i, length);
          numbers[length] = 42;
          std::vector<TypeParam> expected = numbers;
          std::sort(expected.begin(), expected.end() - 1);
          sorts->sort(numbers.data(), spare.data(), length, into_spare);
          ASSERT_EQ(into_spare ? spare : numbers, expected) << "pattern " << p << ", length " << length;
          ASSERT_EQ(into_spare ? numbers.back() : spare.back(), 42);
        }
      }
    }
  }
}

TYPED_TEST(VectorSortTest, PartitionsKeepAllNumbers) {
  for (const VectorSorts<TypeParam>* sorts : AllSorts<TypeParam>()) {
    const auto patterns = Patterns<TypeParam>();
    for (size_t p = 0; p < patterns.size(); ++p) {
      for (int64_t length = 0; length < 100; ++length) {
        std::vector<TypeParam> from(length), to(length + 2, 42);
        for (int64_t i = 0; i < length; ++i) from[i] = patterns[p](i, length);
        const TypeParam pivot = length == 0 ? 0 : from[length / 2];
        const int64_t lows = sorts->partition(from.data(), to.data() + 1, length, pivot);
        ASSERT_EQ(to.front(), 42);
        ASSERT_EQ(to.back(), 42);
        std::vector<TypeParam> result(to.begin() + 1, to.end() - 1);
        ASSERT_TRUE(std::all_of(result.begin(), result.begin() + lows, [&](TypeParam x) { return x <= pivot; }));
        ASSERT_TRUE(std::all_of(result.begin() + lows, result.end(), [&](TypeParam x) { return x > pivot; }));
        std::sort(result.begin(), result.end());
        std::sort(from.begin(), from.end());
        ASSERT_EQ(result, from) << "pattern " << p << ", length " << length;
      }
    }
  }
}

// The numbers at the indices of the first sample are larger than all others.
TYPED_TEST(VectorSortTest, SamplesMayBeUnlikeTheRest) {
  constexpr int64_t kLength = 3000000, kPeriod = kLength / 64;
  for (const VectorSorts<TypeParam>* sorts : AllSorts<TypeParam>()) {
    std::vector<TypeParam> numbers(kLength), spare(kLength);
    for (int64_t i = 0; i < kLength; ++i) {
      numbers[i] = static_cast<TypeParam>(i % kPeriod == kPeriod / 2 ? ~i : i * 7919 % kLength);
    }
    std::vector<TypeParam> expected = numbers;
    std::sort(expected.begin(), expected.end());
    sorts->sort(numbers.data(), spare.data(), kLength, false);
    EXPECT_TRUE(numbers == expected);
  }
}

}  // namespace
}  // namespace hilo::cpu
