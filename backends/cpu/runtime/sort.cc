// Sorts of lists: a stable order of the elements of each list is found, by their keys or by comparisons, and all arrays
// are permuted by it.
//
// Short lists are sorted by their keys' ranks: each element counts those before it, many elements at once. Others are
// sorted as numbers of a key and an index; keys of several words by the least significant word first. Without keys,
// lists are sorted by merging. Where elements are what their keys say, the keys are sorted alone (sort_alone.h).
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime/number_sort.h"
#include "backends/cpu/runtime/sort_alone.h"
#include "backends/cpu/runtime/sort_memory.h"
#include "backends/cpu/runtime/vector_sort.h"

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

using hilo::cpu::SortItem;
using hilo::cpu::SortItems;
using hilo::cpu::SortMemory;
using hilo::cpu::SortNumbers;

constexpr int64_t kRankBlock = 32;   // elements that count at once
constexpr int64_t kMaxRanked = 128;  // elements of the longest list that is sorted by ranks

// Writes the stable order of `length` keys, at most kMaxRanked.
template <typename Key>
[[gnu::always_inline]] inline void OrderByRank(const Key* keys, int64_t length, uint32_t* order) {
  using T = std::make_signed_t<Key>;  // signed numbers are compared faster
  constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
  T values[kMaxRanked + kRankBlock];
  for (int64_t i = 0; i < length; ++i) values[i] = static_cast<T>(keys[i] ^ kSign);
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
HILO_CLONED void OrderByRank32(const uint32_t* keys, int64_t length, uint32_t* order) {
  OrderByRank(keys, length, order);
}
HILO_CLONED void OrderByRank64(const uint64_t* keys, int64_t length, uint32_t* order) {
  OrderByRank(keys, length, order);
}
void CallOrderByRank(const uint32_t* keys, int64_t length, uint32_t* order) { OrderByRank32(keys, length, order); }
void CallOrderByRank(const uint64_t* keys, int64_t length, uint32_t* order) { OrderByRank64(keys, length, order); }

// Finds the orders of lists that have keys.
class KeySorter {
 public:
  KeySorter(HiloCpuContext* context, int64_t length, absl::Span<const HiloSortWord> words, SortMemory* memory)
      : context_(context), length_(length), words_(words) {
    keys_ = memory->Take<uint64_t>(length);
    if (HasNumbers(length, words)) numbers_ = memory->Take<uint64_t>(2 * length);
    if (HasItems(length, words)) items_ = memory->Take<SortItem>(2 * length);
    if (words.size() > 1) earlier_ = memory->Take<uint32_t>(length);
  }
  // Of the memory that it takes.
  static int64_t Bytes(int64_t length, absl::Span<const HiloSortWord> words) {
    return SortMemory::SizeOf<uint64_t>(length) +
           (HasNumbers(length, words) ? SortMemory::SizeOf<uint64_t>(2 * length) : 0) +
           (HasItems(length, words) ? SortMemory::SizeOf<SortItem>(2 * length) : 0) +
           (words.size() > 1 ? SortMemory::SizeOf<uint32_t>(length) : 0);
  }

  // Writes the stable order of a list. Returns a HiloStatus.
  int32_t Sort(const uint8_t* const* lists, const int64_t* steps, uint32_t* order) {
    for (size_t w = words_.size(); w-- > 0;) {
      words_[w].write(lists, steps, length_, keys_);
      const bool is_last = w + 1 == words_.size();
      // The order by less significant words is kept among equal keys.
      if (!is_last) std::memcpy(earlier_, order, length_ * sizeof(uint32_t));
      const int32_t status = is_short(words_[w])
                                 ? OrderByWord(words_[w], reinterpret_cast<const uint32_t*>(keys_), is_last, order)
                                 : OrderByWord(words_[w], keys_, is_last, order);
      if (status != HILO_OK) return status;
    }
    return HILO_OK;
  }

 private:
  static bool is_short(const HiloSortWord& word) { return word.bits <= 32; }
  static bool HasNumbers(int64_t length, absl::Span<const HiloSortWord> words) {
    return length > kMaxRanked && absl::c_any_of(words, is_short);
  }
  static bool HasItems(int64_t length, absl::Span<const HiloSortWord> words) {
    return length > kMaxRanked && !absl::c_all_of(words, is_short);
  }

  // Writes position(i) of all i in the stable order of keys[position(i)], where position(i) is i if `is_last`.
  template <typename Key>
  int32_t OrderByWord(const HiloSortWord& word, const Key* keys, bool is_last, uint32_t* order) {
    if (is_last && length_ <= kMaxRanked) {
      CallOrderByRank(keys, length_, order);
      return HILO_OK;
    }
    if (is_last) return OrderByWord(word, keys, [](int64_t i) { return static_cast<uint32_t>(i); }, order);
    return OrderByWord(word, keys, [earlier = earlier_](int64_t i) { return earlier[i]; }, order);
  }

  template <typename Key, typename Position>
  int32_t OrderByWord(const HiloSortWord& word, const Key* keys, const Position& position, uint32_t* order) {
    if (length_ <= kMaxRanked) {
      Key ordered[kMaxRanked];
      uint32_t ranked[kMaxRanked];
      for (int64_t i = 0; i < length_; ++i) ordered[i] = keys[position(i)];
      CallOrderByRank(ordered, length_, ranked);
      for (int64_t i = 0; i < length_; ++i) order[i] = position(ranked[i]);
    } else if constexpr (sizeof(Key) == sizeof(uint32_t)) {
      // Key and index in one number: equal keys keep their order.
      for (int64_t i = 0; i < length_; ++i) numbers_[i] = uint64_t{keys[position(i)]} << 32 | static_cast<uint64_t>(i);
      uint64_t* sorted = nullptr;
      const int32_t status =
          SortNumbers(context_, numbers_, numbers_ + length_, length_, 32, static_cast<int>(word.bits), &sorted);
      if (status != HILO_OK) return status;
      for (int64_t i = 0; i < length_; ++i) order[i] = position(static_cast<uint32_t>(sorted[i]));
    } else {
      for (int64_t i = 0; i < length_; ++i) items_[i] = {.key = keys[position(i)], .position = position(i)};
      const SortItem* sorted = SortItems(*context_, items_, items_ + length_, length_, static_cast<int>(word.bits));
      if (sorted == nullptr) return HILO_STOPPED;
      for (int64_t i = 0; i < length_; ++i) order[i] = static_cast<uint32_t>(sorted[i].position);
    }
    return HILO_OK;
  }

  HiloCpuContext* const context_;
  const int64_t length_;
  const absl::Span<const HiloSortWord> words_;
  uint64_t *keys_, *numbers_ = nullptr;  // keys of at most 32 bits are numbers of 32 bits
  uint32_t* earlier_ = nullptr;
  SortItem* items_ = nullptr;
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

// The lists of a sort, which are sorted one after the other.
class Lists {
 public:
  Lists(HiloCpuContext* context, int64_t array_count, uint8_t* const* arrays, const int64_t* sizes, int64_t length,
        int64_t stride, HiloLess less, absl::Span<const HiloSortWord> words)
      : context_(context),
        array_count_(array_count),
        arrays_(arrays),
        sizes_(sizes),
        length_(length),
        stride_(stride),
        less_(less),
        words_(words),
        memory_(Bytes()) {
    if (!memory_.ok()) return;
    bases_ = memory_.Take<const uint8_t*>(array_count);
    steps_ = memory_.Take<int64_t>(array_count);
    for (int64_t i = 0; i < array_count; ++i) steps_[i] = stride * sizes[i];
    operands_ = memory_.Take<const uint8_t*>(2 * array_count + 1);
    operands_[2 * array_count] =
        const_cast<const uint8_t*>(reinterpret_cast<const volatile uint8_t*>(context->cancelled));
    if (!words.empty()) keys_.emplace(context, length, words, &memory_);
    order_ = memory_.Take<uint32_t>(length);
    if (words.empty()) spare_order_ = memory_.Take<uint32_t>(length);
    list_ = memory_.Take<uint8_t>(length * LargestSize());
  }

  // Sorts the list that begins at element `origin`. Returns a HiloStatus.
  int32_t Sort(int64_t origin) {
    if (!memory_.ok()) return HILO_OUT_OF_MEMORY;
    for (int64_t i = 0; i < array_count_; ++i) bases_[i] = arrays_[i] + origin * sizes_[i];
    if (keys_.has_value()) {
      const int32_t status = keys_->Sort(bases_, steps_, order_);
      if (status != HILO_OK) return status;
    } else {
      for (int64_t e = 0; e < length_; ++e) order_[e] = static_cast<uint32_t>(e);
      MergeSort(order_, spare_order_, length_, [this](uint32_t a, uint32_t b) { return IsBefore(a, b); }, stopped_);
    }
    if (*context_->cancelled != 0) return HILO_STOPPED;
    for (int64_t i = 0; i < array_count_; ++i) {
      Gather(bases_[i], length_, stride_, sizes_[i], list_);
      Permute(list_, order_, length_, arrays_[i] + origin * sizes_[i], stride_, sizes_[i]);
    }
    return HILO_OK;
  }

 private:
  int64_t LargestSize() const { return *std::max_element(sizes_, sizes_ + array_count_); }
  int64_t Bytes() const {
    return SortMemory::SizeOf<uint32_t>(length_) * (words_.empty() ? 2 : 1) +
           SortMemory::SizeOf<uint8_t>(length_ * LargestSize()) + 2 * SortMemory::SizeOf<uint8_t*>(array_count_) +
           SortMemory::SizeOf<uint8_t*>(2 * array_count_ + 1) +
           (words_.empty() ? 0 : KeySorter::Bytes(length_, words_));
  }

  bool IsBefore(uint32_t a, uint32_t b) {
    constexpr int64_t kPolledComparisons = 1 << 14;
    if (++comparisons_ % kPolledComparisons == 0) stopped_ |= *context_->cancelled != 0;
    if (stopped_) return false;
    for (int64_t i = 0; i < array_count_; ++i) {
      operands_[2 * i] = bases_[i] + a * steps_[i];
      operands_[2 * i + 1] = bases_[i] + b * steps_[i];
    }
    return less_(operands_) != 0;
  }

  HiloCpuContext* const context_;
  const int64_t array_count_;
  uint8_t* const* const arrays_;
  const int64_t* const sizes_;
  const int64_t length_, stride_;
  const HiloLess less_;
  const absl::Span<const HiloSortWord> words_;
  SortMemory memory_;
  std::optional<KeySorter> keys_;
  const uint8_t **bases_, **operands_;
  int64_t* steps_;
  uint32_t *order_, *spare_order_ = nullptr;
  uint8_t* list_;  // of one array, dense
  int64_t comparisons_ = 0;
  bool stopped_ = false;
};

// Returns true if lists that their keys tell are sorted alone, rather than by ranks.
bool SortsAlone(const HiloSortWord& word, int64_t length) {
  if (word.read == nullptr) return false;
  return length > kMaxRanked || (word.bits <= 32 ? hilo::cpu::FindVectorSorts<uint32_t>() != nullptr
                                                 : hilo::cpu::FindVectorSorts<uint64_t>() != nullptr);
}

}  // namespace

extern "C" int32_t hilo_cpu_sort(HiloCpuContext* context, int64_t array_count, uint8_t* const* arrays,
                                 const int64_t* sizes, int64_t first_list, int64_t last_list, int64_t length,
                                 int64_t stride, HiloLess less, const HiloSortWord* words, int64_t word_count) {
  if (length < 2 || length > UINT32_MAX) return length < 2 ? HILO_OK : HILO_OUT_OF_MEMORY;
  const bool sorts_alone = word_count == 1 && stride == 1 && SortsAlone(words[0], length);
  std::optional<Lists> lists;
  for (int64_t j = first_list; j < last_list; ++j) {
    const int64_t origin = j / stride * stride * length + j % stride;
    if (*context->cancelled != 0) return HILO_STOPPED;
    if (sorts_alone) {
      bool is_told = false;
      const int32_t status =
          hilo::cpu::SortAlone(context, words[0], arrays[0] + origin * sizes[0], sizes[0], length, &is_told);
      if (status != HILO_OK) return status;
      if (is_told) continue;
    }
    if (!lists.has_value()) {
      lists.emplace(context, array_count, arrays, sizes, length, stride, less,
                    absl::MakeConstSpan(words, static_cast<size_t>(word_count)));
    }
    const int32_t status = lists->Sort(origin);
    if (status != HILO_OK) return status;
  }
  return HILO_OK;
}
