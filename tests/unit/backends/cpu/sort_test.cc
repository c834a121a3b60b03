// Orders of lists by ranks, by radix and by merging, beside the standard library's stable sort.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime/number_sort.h"
#include "backends/cpu/runtime/vector_sort.h"
#include "gtest/gtest.h"
#include "hilo/host.h"

namespace hilo::cpu {
namespace {

// The numbers that are the keys of T.
template <typename T>
using KeyNumber = std::conditional_t<sizeof(T) <= sizeof(uint32_t), uint32_t, uint64_t>;

template <typename T>
void WriteKeys(const uint8_t* const* lists, const int64_t* steps, int64_t length, void* keys) {
  for (int64_t i = 0; i < length; ++i) {
    T element;
    std::memcpy(&element, lists[0] + i * steps[0], sizeof(T));
    static_cast<KeyNumber<T>*>(keys)[i] = element;
  }
}

template <typename T>
int32_t Less(const uint8_t* const* operands) {
  T a, b;
  std::memcpy(&a, operands[0], sizeof(T));
  std::memcpy(&b, operands[1], sizeof(T));
  return a < b ? 1 : 0;
}

template <typename T>
class SortTest : public testing::Test {};
using KeyTypes = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(SortTest, KeyTypes);

TYPED_TEST(SortTest, IsStableForAllLengths) {
  std::mt19937_64 random(0);
  volatile int32_t cancelled = 0;
  HiloCpuContext context = {};
  context.cancelled = &cancelled;
  constexpr int64_t kLists = 3;  // the lists of one block alternate in memory
  for (const int64_t length : {2, 3, 31, 32, 33, 64, 127, 128, 129, 300, 2047, 2048, 5000}) {
    for (const bool has_keys : {true, false}) {
      std::vector<TypeParam> keys(kLists * length);
      std::vector<int32_t> positions(kLists * length);
      for (int64_t i = 0; i < kLists * length; ++i) {
        // Few values, among them the extremes, so that many are equal, and any values.
        const auto any = static_cast<TypeParam>(random());
        keys[i] = i % 3 == 0 ? any : static_cast<TypeParam>(i % 3 == 1 ? -(any % 3) : any % 3);
        positions[i] = static_cast<int32_t>(i / kLists);
      }
      std::vector<TypeParam> sorted_keys = keys;
      std::vector<int32_t> sorted_positions = positions;
      uint8_t* arrays[] = {reinterpret_cast<uint8_t*>(sorted_keys.data()),
                           reinterpret_cast<uint8_t*>(sorted_positions.data())};
      const int64_t sizes[] = {sizeof(TypeParam), sizeof(int32_t)};
      const HiloSortWord word = {&WriteKeys<TypeParam>, 8 * sizeof(TypeParam), nullptr};
      ASSERT_EQ(hilo_cpu_sort(&context, 2, arrays, sizes, 0, kLists, length, kLists, &Less<TypeParam>, &word,
                              has_keys ? 1 : 0),
                HILO_OK);
      for (int64_t list = 0; list < kLists; ++list) {
        std::vector<int32_t> order(length);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int32_t a, int32_t b) { return keys[a * kLists + list] < keys[b * kLists + list]; });
        for (int64_t i = 0; i < length; ++i) {
          SCOPED_TRACE(absl::StrCat("length ", length, ", list ", list, ", element ", i, has_keys ? ", keys" : ""));
          ASSERT_EQ(sorted_positions[i * kLists + list], order[i]);
          ASSERT_EQ(sorted_keys[i * kLists + list], keys[order[i] * kLists + list]);
        }
      }
    }
  }
}

// Writes the key of the array whose number is kArray.
template <int kArray, typename T>
void WriteKeysOf(const uint8_t* const* lists, const int64_t* steps, int64_t length, void* keys) {
  WriteKeys<T>(lists + kArray, steps + kArray, length, keys);
}

TEST(SortWordsTest, OrdersByOneWordAfterTheOther) {
  std::mt19937_64 random(0);
  volatile int32_t cancelled = 0;
  HiloCpuContext context = {};
  context.cancelled = &cancelled;
  for (const int64_t length : {2, 33, 128, 129, 2047, 5000}) {
    std::vector<uint16_t> first(length);
    std::vector<uint64_t> second(length);
    std::vector<int32_t> positions(length);
    for (int64_t i = 0; i < length; ++i) {
      first[i] = static_cast<uint16_t>(random() % 5);
      second[i] = i % 2 == 0 ? random() : random() % 3;
      positions[i] = static_cast<int32_t>(i);
    }
    std::vector<int32_t> order = positions;
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return first[a] != first[b] ? first[a] < first[b] : second[a] < second[b];
    });
    uint8_t* arrays[] = {reinterpret_cast<uint8_t*>(first.data()), reinterpret_cast<uint8_t*>(second.data()),
                         reinterpret_cast<uint8_t*>(positions.data())};
    const int64_t sizes[] = {sizeof(uint16_t), sizeof(uint64_t), sizeof(int32_t)};
    const HiloSortWord words[] = {{&WriteKeysOf<0, uint16_t>, 16, nullptr}, {&WriteKeysOf<1, uint64_t>, 64, nullptr}};
    ASSERT_EQ(hilo_cpu_sort(&context, 3, arrays, sizes, 0, 1, length, 1, nullptr, words, 2), HILO_OK);
    EXPECT_EQ(positions, order) << length;
    EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  }
}

// The key of two numbers that differ by the lowest bit is that of the even one.
template <typename T>
void WriteKeysOfPairs(const uint8_t* const* lists, const int64_t* steps, int64_t length, void* keys) {
  WriteKeys<T>(lists, steps, length, keys);
  for (int64_t i = 0; i < length; ++i) static_cast<KeyNumber<T>*>(keys)[i] &= ~KeyNumber<T>{1};
}

template <typename T>
void ReadElements(const void* keys, int64_t length, uint8_t* elements) {
  for (int64_t i = 0; i < length; ++i) {
    const T element = static_cast<T>(static_cast<const KeyNumber<T>*>(keys)[i]);
    std::memcpy(elements + i * sizeof(T), &element, sizeof(T));
  }
}

TYPED_TEST(SortTest, KeysAloneAreSortedIfTheyTellTheElements) {
  std::mt19937_64 random(0);
  volatile int32_t cancelled = 0;
  HiloCpuContext context = {};
  context.cancelled = &cancelled;
  const std::unique_ptr<ThreadPool> pool = *CreateThreadPool(2);
  const HiloSortWord word = {&WriteKeysOfPairs<TypeParam>, 8 * sizeof(TypeParam), &ReadElements<TypeParam>};
  constexpr int64_t kLists = 2;
  enum { kAllEven, kAnyOdd, kLastIsOdd };
  for (const int64_t length : {2, 100, 128, 129, 300, 1024, 1025, 5000, 32768, 100000}) {
    for (const int odd : {kAllEven, kAnyOdd, kLastIsOdd}) {  // of odd ones those that are equal keep their order
      std::vector<TypeParam> elements(kLists * length);
      for (TypeParam& element : elements) {
        element = static_cast<TypeParam>(length < 5000 ? random() % 100 : random());
        if (odd != kAnyOdd) element = static_cast<TypeParam>(element & ~uint64_t{1});
      }
      if (odd == kLastIsOdd) elements.back() |= 1;
      std::vector<TypeParam> expected = elements;
      for (int64_t list = 0; list < kLists; ++list) {
        std::stable_sort(expected.begin() + list * length, expected.begin() + (list + 1) * length,
                         [](TypeParam a, TypeParam b) { return a / 2 < b / 2; });
      }
      for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), pool.get()}) {
        context.thread_pool = threads;
        std::vector<TypeParam> sorted = elements;
        uint8_t* const array = reinterpret_cast<uint8_t*>(sorted.data());
        const int64_t size = sizeof(TypeParam);
        ASSERT_EQ(hilo_cpu_sort(&context, 1, &array, &size, 0, kLists, length, 1, nullptr, &word, 1), HILO_OK);
        EXPECT_EQ(sorted, expected) << length << ", case " << odd << (threads == nullptr ? "" : ", two threads");
      }
    }
  }
}

TYPED_TEST(SortTest, LongListsAreStableWithThreads) {
  std::mt19937_64 random(0);
  volatile int32_t cancelled = 0;
  HiloCpuContext context = {};
  context.cancelled = &cancelled;
  const std::unique_ptr<ThreadPool> pool = *CreateThreadPool(2);
  context.thread_pool = pool.get();
  const HiloSortWord word = {&WriteKeys<TypeParam>, 8 * sizeof(TypeParam), nullptr};
  constexpr int64_t kLength = 70000;
  for (const uint64_t values : {uint64_t{1}, uint64_t{3}, uint64_t{1} << 40}) {
    std::vector<TypeParam> keys(kLength);
    for (TypeParam& key : keys) key = static_cast<TypeParam>(random() % values);
    std::vector<int32_t> positions(kLength), order;
    std::iota(positions.begin(), positions.end(), 0);
    order = positions;
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return keys[a] < keys[b]; });
    uint8_t* arrays[] = {reinterpret_cast<uint8_t*>(keys.data()), reinterpret_cast<uint8_t*>(positions.data())};
    const int64_t sizes[] = {sizeof(TypeParam), sizeof(int32_t)};
    ASSERT_EQ(hilo_cpu_sort(&context, 2, arrays, sizes, 0, 1, kLength, 1, nullptr, &word, 1), HILO_OK);
    EXPECT_EQ(positions, order);
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  }
}

TEST(NumberSortTest, IsStopped) {
  volatile int32_t cancelled = 1;
  HiloCpuContext context = {};
  context.cancelled = &cancelled;
  std::vector<uint32_t> numbers(100000);
  std::iota(numbers.begin(), numbers.end(), 0);
  uint32_t* sorted = nullptr;
  std::vector<uint32_t> spare(numbers.size());
  EXPECT_EQ(SortNumbers<uint32_t>(&context, numbers.data(), spare.data(), static_cast<int64_t>(numbers.size()), 0, 32,
                                  &sorted),
            HILO_STOPPED);
}

TEST(NumberSortTest, OfItemsIsStopped) {
  volatile int32_t cancelled = 1;
  HiloCpuContext context = {};
  context.cancelled = &cancelled;
  std::vector<SortItem> items(100000), spare(items.size());
  for (size_t i = 0; i < items.size(); ++i) items[i] = {.key = items.size() - i, .position = i};
  const auto length = static_cast<int64_t>(items.size());
  EXPECT_EQ(SortItems(context, items.data(), spare.data(), length, 64), nullptr);
  cancelled = 0;
  const SortItem* const sorted = SortItems(context, items.data(), spare.data(), length, 64);
  ASSERT_NE(sorted, nullptr);
  EXPECT_EQ(sorted[0].position, items.size() - 1);
}

}  // namespace
}  // namespace hilo::cpu
