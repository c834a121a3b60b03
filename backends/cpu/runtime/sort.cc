// Sorts of lists: a stable order of the elements of each list is found, by their keys or by comparisons, and all arrays
// are permuted by it.
//
// Short lists are sorted by their keys' ranks: each element counts those before it, many elements at once. Others are
// sorted by radix, least significant digit first; keys of several words by the least significant word first. Without
// keys, lists are sorted by merging.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime/workspace.h"

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

using hilo::cpu::AllocateWorkspace;
using hilo::cpu::Workspace;

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

// Finds the orders of lists that have keys.
class KeySorter {
 public:
  KeySorter(int64_t length, const HiloSortWord* words, int64_t word_count)
      : length_(length), words_(words), word_count_(word_count) {
    keys_ = AllocateWorkspace<uint64_t>(length);
    if (word_count > 1) earlier_ = AllocateWorkspace<uint32_t>(length);
    if (length <= kMostRanked) return;
    for (int64_t w = 0; w < word_count; ++w) {
      if (is_short(words[w])) {
        if (!spare_keys_) spare_keys_ = AllocateWorkspace<uint64_t>(length);
      } else if (!items_) {
        items_ = AllocateWorkspace<Item>(2 * length);
      }
    }
    for (int64_t w = 0; w < word_count; ++w) ok_ = ok_ && (is_short(words[w]) ? !!spare_keys_ : !!items_);
  }
  // Whether there is enough memory.
  bool ok() const { return ok_ && keys_ && (word_count_ <= 1 || earlier_); }

  // Writes the stable order of a list.
  void Sort(const uint8_t* const* lists, const int64_t* steps, uint32_t* order) {
    for (int64_t w = word_count_ - 1; w >= 0; --w) {
      words_[w].write(lists, steps, length_, keys_.get());
      if (w == word_count_ - 1 && length_ <= kMostRanked) {
        OrderByRank(words_[w], keys_.get(), order);
      } else if (w == word_count_ - 1) {
        OrderByWord(words_[w], [](int64_t i) { return static_cast<uint32_t>(i); }, order);
      } else {
        // The order by less significant words is kept among equal keys.
        std::memcpy(earlier_.get(), order, length_ * sizeof(uint32_t));
        OrderByWord(words_[w], [earlier = earlier_.get()](int64_t i) { return earlier[i]; }, order);
      }
    }
  }

 private:
  static bool is_short(const HiloSortWord& word) { return word.bits <= 32; }

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
      // Key and position in one number.
      uint64_t* items = spare_keys_.get();
      for (int64_t i = 0; i < length_; ++i) items[i] = keys_[position(i)] << 32 | position(i);
      const uint64_t* sorted = RadixSort(items, keys_.get(), length_, 32, static_cast<int>(word.bits));
      for (int64_t i = 0; i < length_; ++i) order[i] = static_cast<uint32_t>(sorted[i]);
    } else {
      for (int64_t i = 0; i < length_; ++i) items_[i] = {.key = keys_[position(i)], .position = position(i)};
      const Item* sorted = RadixSort(items_.get(), items_.get() + length_, length_, 0, static_cast<int>(word.bits));
      for (int64_t i = 0; i < length_; ++i) order[i] = static_cast<uint32_t>(sorted[i].position);
    }
  }

  const int64_t length_;
  const HiloSortWord* const words_;
  const int64_t word_count_;
  bool ok_ = true;
  Workspace<uint64_t> keys_, spare_keys_;
  Workspace<uint32_t> earlier_;
  Workspace<Item> items_;
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
  const Workspace<uint32_t> order = AllocateWorkspace<uint32_t>(length);
  const Workspace<uint8_t> list = AllocateWorkspace<uint8_t>(length * largest);  // of one array, dense
  const Workspace<const uint8_t*> bases = AllocateWorkspace<const uint8_t*>(array_count);
  const Workspace<int64_t> steps = AllocateWorkspace<int64_t>(array_count);
  if (!order || !list || !bases || !steps) return HILO_OUT_OF_MEMORY;
  for (int64_t i = 0; i < array_count; ++i) steps[i] = stride * sizes[i];
  KeySorter keys(word_count == 0 ? 0 : length, words, word_count);
  Workspace<uint32_t> spare_order;
  Workspace<const uint8_t*> operands;
  if (word_count == 0) {
    spare_order = AllocateWorkspace<uint32_t>(length);
    operands = AllocateWorkspace<const uint8_t*>(2 * array_count + 1);
    if (!spare_order || !operands) return HILO_OUT_OF_MEMORY;
    operands[2 * array_count] =
        const_cast<const uint8_t*>(reinterpret_cast<const volatile uint8_t*>(context->cancelled));
  } else if (!keys.ok()) {
    return HILO_OUT_OF_MEMORY;
  }
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
    return less(operands.get()) != 0;
  };
  for (int64_t j = first_list; j < last_list; ++j) {
    const int64_t origin = j / stride * stride * length + j % stride;
    for (int64_t i = 0; i < array_count; ++i) bases[i] = arrays[i] + origin * sizes[i];
    if (word_count > 0) {
      keys.Sort(bases.get(), steps.get(), order.get());
    } else {
      for (int64_t e = 0; e < length; ++e) order[e] = static_cast<uint32_t>(e);
      MergeSort(order.get(), spare_order.get(), length, before, stopped);
    }
    if (*context->cancelled != 0) return HILO_STOPPED;
    for (int64_t i = 0; i < array_count; ++i) {
      Gather(bases[i], length, stride, sizes[i], list.get());
      Permute(list.get(), order.get(), length, arrays[i] + origin * sizes[i], stride, sizes[i]);
    }
  }
  return HILO_OK;
}
