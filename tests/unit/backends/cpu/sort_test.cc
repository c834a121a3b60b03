// Orders of lists by ranks, by radix and by merging, beside the standard library's stable sort.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "gtest/gtest.h"

namespace hilo::cpu {
namespace {

template <typename T>
void WriteKeys(const uint8_t* const* lists, const int64_t* steps, int64_t length, uint64_t* keys) {
  for (int64_t i = 0; i < length; ++i) {
    T element;
    std::memcpy(&element, lists[0] + i * steps[0], sizeof(T));
    keys[i] = element;
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
      const HiloSortWord word = {&WriteKeys<TypeParam>, 8 * sizeof(TypeParam)};
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
void WriteKeysOf(const uint8_t* const* lists, const int64_t* steps, int64_t length, uint64_t* keys) {
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
    const HiloSortWord words[] = {{&WriteKeysOf<0, uint16_t>, 16}, {&WriteKeysOf<1, uint64_t>, 64}};
    ASSERT_EQ(hilo_cpu_sort(&context, 3, arrays, sizes, 0, 1, length, 1, nullptr, words, 2), HILO_OK);
    EXPECT_EQ(positions, order) << length;
    EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  }
}

}  // namespace
}  // namespace hilo::cpu
