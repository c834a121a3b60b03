// Sorts of lists: a stable order of the elements of each list is found, by their keys or by comparisons, and all arrays
// are permuted by it.
//
// Short lists are sorted by their keys' ranks: each element counts those before it, many elements at once. Others are
// sorted as numbers of a key and an index; keys of several words by the least significant word first. Without keys,
// lists are sorted by merging. Where elements are what their keys say, the keys are sorted alone and become the
// elements.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime/vector_sort.h"
#include "base/aligned_buffer.h"
#include "base/math.h"

// Compiled for several instruction sets, of which each machine calls the best.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define HILO_CLONED __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#endif
#endif
#ifndef HILO_CLONED
#define HILO_CLONED
#endif

namespace {

using hilo::AlignedBuffer;

constexpr int64_t kRankBlock = 32;    // elements that count at once
constexpr int64_t kMostRanked = 128;  // elements of the longest list that is sorted by ranks
// Lists of fewer elements have digits of 8 bits: counters of 11 bits take longer to add than their elements to move.
constexpr int64_t kLeastForWideDigits = 2048;
constexpr int kDigitBits = 8, kWideDigitBits = 11;
constexpr int kMostDigits = 8;

// Writes the stable order of `length` keys, at most kMostRanked, which fit into T.
template <typename T>
[[gnu::always_inline]] inline void OrderByRank(const uint64_t* keys, int64_t length, uint32_t* order) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr Unsigned kSign = Unsigned{1} << (8 * sizeof(T) - 1);  // signed numbers are compared faster
  T values[kMostRanked + kRankBlock];
  for (int64_t i = 0; i < length; ++i) values[i] = static_cast<T>(static_cast<Unsigned>(keys[i]) ^ kSign);
  for (int64_t i = length; i < length + kRankBlock; ++i) values[i] = std::numeric_limits<T>::max();
  for (int64_t first = 0; first < length; first += kRankBlock) {
    const T* block = values + first;
    T ranks[kRankBlock] = {};
    for (int64_t j = 0; j < first; ++j) {
      for (int64_t i = 0; i < kRankBlock; ++i) ranks[i] += values[j] <= block[i];
    }
    for (int64_t j = first; j < length; ++j) {
      for (int64_t i = 0; i < kRankBlock; ++i) ranks[i] += values[j] < block[i];
    }
    const int64_t last = std::min(kRankBlock, length - first);
    for (T j = 0; j < last; ++j) {
      for (T i = 0; i < kRankBlock; ++i) ranks[i] += (block[j] == block[i]) & (j < i);
    }
    for (int64_t i = 0; i < last; ++i) order[ranks[i]] = static_cast<uint32_t>(first + i);
  }
}
HILO_CLONED void OrderByRank32(const uint64_t* keys, int64_t length, uint32_t* order) {
  OrderByRank<int32_t>(keys, length, order);
}
HILO_CLONED void OrderByRank64(const uint64_t* keys, int64_t length, uint32_t* order) {
  OrderByRank<int64_t>(keys, length, order);
}

// A key of 64 bits and its position.
struct Item {
  uint64_t key;
  uint64_t position;
};
uint64_t KeyOf(uint64_t item) { return item; }
uint64_t KeyOf(const Item& item) { return item.key; }

// Sorts `items` stably by `bits` bits of their keys from `first_bit` on. Returns the one of the two arrays that has the
// result. Digits in which all keys agree cost nothing.
template <int kBits, typename Item>
Item* RadixSort(Item* items, Item* spare, int64_t length, int first_bit, int bits) {
  constexpr int64_t kBuckets = int64_t{1} << kBits;
  const int digits = (bits + kBits - 1) / kBits;
  const auto bucket = [&](const Item& item, int digit) {
    return (KeyOf(item) >> (first_bit + digit * kBits)) & (kBuckets - 1);
  };
  uint32_t counts[kMostDigits][kBuckets];
  std::memset(counts, 0, digits * sizeof(counts[0]));
  for (int64_t i = 0; i < length; ++i) {
    for (int digit = 0; digit < digits; ++digit) ++counts[digit][bucket(items[i], digit)];
  }
  for (int digit = 0; digit < digits; ++digit) {
    uint32_t* next = counts[digit];
    if (next[bucket(items[0], digit)] == length) continue;
    uint32_t position = 0;
    for (int64_t b = 0; b < kBuckets; ++b) position += std::exchange(next[b], position);
    for (int64_t i = 0; i < length; ++i) spare[next[bucket(items[i], digit)]++] = items[i];
    std::swap(items, spare);
  }
  return items;
}

template <typename Item>
Item* RadixSort(Item* items, Item* spare, int64_t length, int first_bit, int bits) {
  return length < kLeastForWideDigits ? RadixSort<kDigitBits>(items, spare, length, first_bit, bits)
                                      : RadixSort<kWideDigitBits>(items, spare, length, first_bit, bits);
}

// Sorts numbers that differ only by `bits` bits from `first_bit` on, or whose other bits are in order already. Returns
// the one of the two arrays that has the result.
uint64_t* SortNumbers(uint64_t* numbers, uint64_t* spare, int64_t length, int first_bit, int bits) {
  // Three wide digits take less than a quicksort: 10,000 numbers with 32 bits of a key 30 us, 46 us.
  const bool few_digits = bits <= 3 * kWideDigitBits && length >= kLeastForWideDigits;
  if (few_digits || !hilo::cpu::HasVectorSort()) return RadixSort(numbers, spare, length, first_bit, bits);
  hilo::cpu::VectorSort(numbers, spare, length);
  return numbers;
}

// The memory of a sort, which hands it out piece by piece.
class SortMemory {
 public:
  explicit SortMemory(int64_t bytes) {
    // The first touch of fresh memory can take longer than to sort in it.
    constexpr int64_t kKeptBytes = 8 << 20;
    thread_local AlignedBuffer kept;
    AlignedBuffer& buffer = bytes <= kKeptBytes ? kept : own_;
    if (buffer.size() < bytes) {
      buffer = AlignedBuffer();
      absl::StatusOr<AlignedBuffer> created = AlignedBuffer::Create(bytes);
      if (!created.ok()) return;
      buffer = *std::move(created);
    }
    next_ = buffer.data();
  }
  bool ok() const { return next_ != nullptr; }

  // Returns room for `count` elements, which are not initialized. All that is taken is SizeOf each, added up, at most.
  template <typename T>
  T* Take(int64_t count) {
    uint8_t* const piece = next_;
    next_ += SizeOf<T>(count);
    return reinterpret_cast<T*>(piece);
  }
  template <typename T>
  static int64_t SizeOf(int64_t count) {
    return hilo::CeilDiv(count * static_cast<int64_t>(sizeof(T)), 64) * 64;
  }

 private:
  AlignedBuffer own_;
  uint8_t* next_ = nullptr;
};

// Finds the orders of lists that have keys.
class KeySorter {
 public:
  KeySorter(int64_t length, absl::Span<const HiloSortWord> words, SortMemory* memory)
      : length_(length), words_(words), sorts_alone_(SortsAlone(length, words)) {
    keys_ = memory->Take<uint64_t>(length);
    if (HasSpareKeys(length, words)) spare_keys_ = memory->Take<uint64_t>(length);
    if (HasItems(length, words)) items_ = memory->Take<Item>(2 * length);
    if (words.size() > 1) earlier_ = memory->Take<uint32_t>(length);
  }
  // Of the memory that it takes.
  static int64_t Bytes(int64_t length, absl::Span<const HiloSortWord> words) {
    return SortMemory::SizeOf<uint64_t>(length) * (HasSpareKeys(length, words) ? 2 : 1) +
           (HasItems(length, words) ? SortMemory::SizeOf<Item>(2 * length) : 0) +
           (words.size() > 1 ? SortMemory::SizeOf<uint32_t>(length) : 0);
  }

  // Sorts a list of adjacent elements by their keys alone if they are what the keys say: zeros of two signs that
  // compare equal are not. Returns whether they are.
  bool SortAlone(uint8_t* list, int64_t element_size) {
    if (!sorts_alone_) return false;
    auto* const told = reinterpret_cast<uint8_t*>(spare_keys_);
    words_[0].write(&list, &element_size, length_, keys_);
    words_[0].read(keys_, length_, told);
    if (std::memcmp(list, told, length_ * element_size) != 0) return false;
    words_[0].read(SortNumbers(keys_, spare_keys_, length_, 0, static_cast<int>(words_[0].bits)), length_, list);
    return true;
  }

  // Writes the stable order of a list.
  void Sort(const uint8_t* const* lists, const int64_t* steps, uint32_t* order) {
    const auto last = static_cast<int64_t>(words_.size()) - 1;
    for (int64_t w = last; w >= 0; --w) {
      words_[w].write(lists, steps, length_, keys_);
      if (w == last && length_ <= kMostRanked) {
        OrderByRank(words_[w], keys_, order);
      } else if (w == last) {
        OrderByWord(words_[w], [](int64_t i) { return static_cast<uint32_t>(i); }, order);
      } else {
        // The order by less significant words is kept among equal keys.
        std::memcpy(earlier_, order, length_ * sizeof(uint32_t));
        OrderByWord(words_[w], [earlier = earlier_](int64_t i) { return earlier[i]; }, order);
      }
    }
  }

 private:
  static bool is_short(const HiloSortWord& word) { return word.bits <= 32; }
  static bool SortsAlone(int64_t length, absl::Span<const HiloSortWord> words) {
    return length > kMostRanked && words.size() == 1 && words[0].read != nullptr;
  }
  static bool HasSpareKeys(int64_t length, absl::Span<const HiloSortWord> words) {
    return length > kMostRanked && (SortsAlone(length, words) || absl::c_any_of(words, is_short));
  }
  static bool HasItems(int64_t length, absl::Span<const HiloSortWord> words) {
    return length > kMostRanked && !absl::c_all_of(words, is_short);
  }

  // Of at most kMostRanked keys.
  void OrderByRank(const HiloSortWord& word, const uint64_t* keys, uint32_t* order) const {
    (is_short(word) ? OrderByRank32 : OrderByRank64)(keys, length_, order);
  }

  // Writes position(i) of all i in the stable order of keys_[position(i)].
  template <typename Position>
  void OrderByWord(const HiloSortWord& word, const Position& position, uint32_t* order) {
    if (length_ <= kMostRanked) {
      uint64_t keys[kMostRanked];
      uint32_t ranked[kMostRanked];
      for (int64_t i = 0; i < length_; ++i) keys[i] = keys_[position(i)];
      OrderByRank(word, keys, ranked);
      for (int64_t i = 0; i < length_; ++i) order[i] = position(ranked[i]);
    } else if (is_short(word)) {
      // Key and index in one number: equal keys keep their order.
      uint64_t* items = spare_keys_;
      for (int64_t i = 0; i < length_; ++i) items[i] = keys_[position(i)] << 32 | static_cast<uint64_t>(i);
      const uint64_t* sorted = SortNumbers(items, keys_, length_, 32, static_cast<int>(word.bits));
      for (int64_t i = 0; i < length_; ++i) order[i] = position(static_cast<uint32_t>(sorted[i]));
    } else {
      for (int64_t i = 0; i < length_; ++i) items_[i] = {.key = keys_[position(i)], .position = position(i)};
      const Item* sorted = RadixSort(items_, items_ + length_, length_, 0, static_cast<int>(word.bits));
      for (int64_t i = 0; i < length_; ++i) order[i] = static_cast<uint32_t>(sorted[i].position);
    }
  }

  const int64_t length_;
  const absl::Span<const HiloSortWord> words_;
  const bool sorts_alone_;
  uint64_t *keys_, *spare_keys_ = nullptr;
  uint32_t* earlier_ = nullptr;
  Item* items_ = nullptr;
};

// Bottom-up merge sort of the positions `order`; never reads outside the list, whatever the comparison returns. Returns
// early, with some order, once `stopped`.
template <typename Less>
void MergeSort(uint32_t* order, uint32_t* spare, int64_t length, const Less& less, const bool& stopped) {
  constexpr int64_t kRun = 12;
  uint32_t* from = order;
  uint32_t* to = spare;
  for (int64_t start = 0; start < length && !stopped; start += kRun) {
    const int64_t end = std::min(length, start + kRun);
    for (int64_t i = start + 1; i < end; ++i) {
      const uint32_t item = from[i];
      int64_t j = i;
      for (; j > start && less(item, from[j - 1]); --j) from[j] = from[j - 1];
      from[j] = item;
    }
  }
  for (int64_t width = kRun; width < length; width *= 2) {
    for (int64_t start = 0; start < length; start += 2 * width) {
      if (stopped) return;
      const int64_t middle = std::min(length, start + width);
      const int64_t end = std::min(length, start + 2 * width);
      int64_t a = start, b = middle;
      for (int64_t i = start; i < end; ++i) {
        const bool take_b = a == middle || (b < end && less(from[b], from[a]));
        to[i] = take_b ? from[b++] : from[a++];
      }
    }
    std::swap(from, to);
  }
  if (from != order) std::memcpy(order, from, length * sizeof(uint32_t));
}

template <typename T>
void PermuteTyped(const uint8_t* list, const uint32_t* order, int64_t length, uint8_t* out, int64_t stride) {
  const T* from = reinterpret_cast<const T*>(list);
  T* to = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < length; ++i) to[i * stride] = from[order[i]];
}

// out[i * stride] = list[order[i]], elements of `size` bytes.
void Permute(const uint8_t* list, const uint32_t* order, int64_t length, uint8_t* out, int64_t stride, int64_t size) {
  switch (size) {
    case 1: return PermuteTyped<uint8_t>(list, order, length, out, stride);
    case 2: return PermuteTyped<uint16_t>(list, order, length, out, stride);
    case 4: return PermuteTyped<uint32_t>(list, order, length, out, stride);
    case 8: return PermuteTyped<uint64_t>(list, order, length, out, stride);
    default:
      for (int64_t i = 0; i < length; ++i) std::memcpy(out + i * stride * size, list + order[i] * size, size);
  }
}

void Gather(const uint8_t* array, int64_t length, int64_t stride, int64_t size, uint8_t* list) {
  if (stride == 1) {
    std::memcpy(list, array, length * size);
    return;
  }
  for (int64_t i = 0; i < length; ++i) std::memcpy(list + i * size, array + i * stride * size, size);
}

}  // namespace

extern "C" int32_t hilo_cpu_sort(const HiloCpuContext* context, int64_t array_count, uint8_t* const* arrays,
                                 const int64_t* sizes, int64_t first_list, int64_t last_list, int64_t length,
                                 int64_t stride, HiloLess less, const HiloSortWord* words, int64_t word_count) {
  if (length < 2 || length > UINT32_MAX) return length < 2 ? HILO_OK : HILO_OUT_OF_MEMORY;
  int64_t largest = 0;
  for (int64_t i = 0; i < array_count; ++i) largest = std::max(largest, sizes[i]);
  const absl::Span<const HiloSortWord> key_words(words, word_count);
  const bool has_keys = word_count > 0;
  SortMemory memory(SortMemory::SizeOf<uint32_t>(length) * (has_keys ? 1 : 2) +
                    SortMemory::SizeOf<uint8_t>(length * largest) + 2 * SortMemory::SizeOf<uint8_t*>(array_count) +
                    SortMemory::SizeOf<uint8_t*>(2 * array_count + 1) +
                    (has_keys ? KeySorter::Bytes(length, key_words) : 0));
  if (!memory.ok()) return HILO_OUT_OF_MEMORY;
  const auto** const bases = memory.Take<const uint8_t*>(array_count);
  int64_t* const steps = memory.Take<int64_t>(array_count);
  for (int64_t i = 0; i < array_count; ++i) steps[i] = stride * sizes[i];
  const uint8_t** const operands = memory.Take<const uint8_t*>(2 * array_count + 1);
  operands[2 * array_count] = const_cast<const uint8_t*>(reinterpret_cast<const volatile uint8_t*>(context->cancelled));
  std::optional<KeySorter> keys;
  if (has_keys) keys.emplace(length, key_words, &memory);
  uint32_t* const order = memory.Take<uint32_t>(length);
  uint32_t* const spare_order = has_keys ? nullptr : memory.Take<uint32_t>(length);
  uint8_t* const list = memory.Take<uint8_t>(length * largest);  // of one array, dense
  constexpr int64_t kPolledComparisons = 1 << 14;
  int64_t comparisons = 0;
  bool stopped = false;
  const auto before = [&](uint32_t a, uint32_t b) {
    if (++comparisons % kPolledComparisons == 0) stopped |= *context->cancelled != 0;
    if (stopped) return false;
    for (int64_t i = 0; i < array_count; ++i) {
      operands[2 * i] = bases[i] + a * steps[i];
      operands[2 * i + 1] = bases[i] + b * steps[i];
    }
    return less(operands) != 0;
  };
  for (int64_t j = first_list; j < last_list; ++j) {
    const int64_t origin = j / stride * stride * length + j % stride;
    for (int64_t i = 0; i < array_count; ++i) bases[i] = arrays[i] + origin * sizes[i];
    if (*context->cancelled != 0) return HILO_STOPPED;
    if (has_keys && stride == 1 && keys->SortAlone(arrays[0] + origin * sizes[0], sizes[0])) continue;
    if (has_keys) {
      keys->Sort(bases, steps, order);
    } else {
      for (int64_t e = 0; e < length; ++e) order[e] = static_cast<uint32_t>(e);
      MergeSort(order, spare_order, length, before, stopped);
    }
    if (*context->cancelled != 0) return HILO_STOPPED;
    for (int64_t i = 0; i < array_count; ++i) {
      Gather(bases[i], length, stride, sizes[i], list);
      Permute(list, order, length, arrays[i] + origin * sizes[i], stride, sizes[i]);
    }
  }
  return HILO_OK;
}
