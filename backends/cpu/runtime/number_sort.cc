// Numbers are sorted by radix, the least significant digit first, or by the quicksort of vector_sort.h. That of many
// numbers has parts for threads: the list is cut into chunks, each chunk is split into the same buckets by pivots, what
// the chunks have of a bucket is put together, and the buckets are sorted.
#include "backends/cpu/runtime/number_sort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime/vector_sort.h"
#include "hilo/host.h"

namespace hilo::cpu {
namespace {

// Lists of fewer elements have digits of 8 bits: counters of 11 bits take longer to add than their elements to move.
constexpr int64_t kMinForWideDigits = 2048;
constexpr int kDigitBits = 8, kWideDigitBits = 11;
constexpr int kMaxDigits = 8;

uint64_t KeyOf(uint64_t number) { return number; }
uint64_t KeyOf(const SortItem& item) { return item.key; }

// Elements between two looks at the cancellation.
constexpr int64_t kElementsBetweenPolls = 1 << 16;

// Calls body(i) for each i below `length`. Returns false, early, if the run is cancelled.
template <typename Body>
bool ForEachElement(const HiloCpuContext& context, int64_t length, const Body& body) {
  for (int64_t begin = 0; begin < length; begin += kElementsBetweenPolls) {
    if (*context.cancelled != 0) return false;
    for (int64_t i = begin, end = std::min(length, begin + kElementsBetweenPolls); i < end; ++i) body(i);
  }
  return true;
}

// Returns the one of the two arrays that has the result; null if the run is cancelled. Digits in which all keys agree
// cost nothing.
template <int kBits, typename Item>
Item* RadixSort(const HiloCpuContext& context, Item* items, Item* spare, int64_t length, int first_bit, int bits) {
  constexpr int64_t kBuckets = int64_t{1} << kBits;
  const int digits = (bits + kBits - 1) / kBits;
  const auto bucket = [&](const Item& item, int digit) {
    return (KeyOf(item) >> (first_bit + digit * kBits)) & (kBuckets - 1);
  };
  uint32_t counts[kMaxDigits][kBuckets];
  std::memset(counts, 0, digits * sizeof(counts[0]));
  const auto count = [&](int64_t i) {
    for (int digit = 0; digit < digits; ++digit) ++counts[digit][bucket(items[i], digit)];
  };
  if (!ForEachElement(context, length, count)) return nullptr;
  for (int digit = 0; digit < digits; ++digit) {
    uint32_t* next = counts[digit];
    if (next[bucket(items[0], digit)] == length) continue;
    uint32_t position = 0;
    for (int64_t b = 0; b < kBuckets; ++b) position += std::exchange(next[b], position);
    const auto move = [&](int64_t i) { spare[next[bucket(items[i], digit)]++] = items[i]; };
    if (!ForEachElement(context, length, move)) return nullptr;
    std::swap(items, spare);
  }
  return items;
}

template <typename Item>
Item* RadixSort(const HiloCpuContext& context, Item* items, Item* spare, int64_t length, int first_bit, int bits) {
  return length < kMinForWideDigits ? RadixSort<kDigitBits>(context, items, spare, length, first_bit, bits)
                                    : RadixSort<kWideDigitBits>(context, items, spare, length, first_bit, bits);
}

constexpr int64_t kChunks = 16, kBuckets = 16, kSampleOfBucket = 16;
// Splits go from one array to the other, and must end where they began.
static_assert(kBuckets == 1 << 4);

// Splits numbers into `buckets` buckets, one after the other, and writes their sizes.
template <typename T>
void Split(const VectorSorts<T>& sorts, T* from, T* to, int64_t length, const T* pivots, int64_t buckets,
           int64_t* sizes) {
  if (buckets == 1) {
    *sizes = length;
    return;
  }
  const int64_t half = buckets / 2;
  const int64_t lows = sorts.partition(from, to, length, pivots[half - 1]);
  Split(sorts, to, from, lows, pivots, half, sizes);
  Split(sorts, to + lows, from + lows, length - lows, pivots + half, half, sizes + half);
}

template <typename T>
int32_t SortInParts(HiloCpuContext* context, const VectorSorts<T>& sorts, T* numbers, T* spare, int64_t length) {
  std::array<T, kBuckets * kSampleOfBucket> sample, other;
  const auto samples = static_cast<int64_t>(sample.size());
  for (int64_t i = 0; i < samples; ++i) sample[i] = numbers[(2 * i + 1) * length / (2 * samples)];
  sorts.sort(sample.data(), other.data(), samples, false);
  std::array<T, kBuckets> pivots;
  for (int64_t b = 0; b + 1 < kBuckets; ++b) pivots[b] = sample[(b + 1) * kSampleOfBucket];

  const auto chunk_begin = [&](int64_t chunk) { return length * chunk / kChunks; };
  int64_t sizes[kChunks][kBuckets];
  int32_t status = ForEachPart(context, kChunks, [&](int64_t c) {
    const int64_t begin = chunk_begin(c);
    Split(sorts, numbers + begin, spare + begin, chunk_begin(c + 1) - begin, pivots.data(), kBuckets, sizes[c]);
  });
  if (status != HILO_OK) return status;

  int64_t bucket_begins[kBuckets + 1] = {};
  for (int64_t b = 0; b < kBuckets; ++b) {
    bucket_begins[b + 1] = bucket_begins[b];
    for (int64_t c = 0; c < kChunks; ++c) bucket_begins[b + 1] += sizes[c][b];
  }
  status = ForEachPart(context, kBuckets, [&](int64_t b) {
    T* to = spare + bucket_begins[b];
    for (int64_t c = 0; c < kChunks; ++c) {
      const T* from = numbers + chunk_begin(c);
      for (int64_t before = 0; before < b; ++before) from += sizes[c][before];
      to = std::copy_n(from, sizes[c][b], to);
    }
  });
  if (status != HILO_OK) return status;

  return ForEachPart(context, kBuckets, [&](int64_t b) {
    const int64_t begin = bucket_begins[b];
    sorts.sort(spare + begin, numbers + begin, bucket_begins[b + 1] - begin, true);
  });
}

bool HasThreads(const HiloCpuContext* context) {
  return context->thread_pool != nullptr && static_cast<const ThreadPool*>(context->thread_pool)->num_threads() > 1;
}

}  // namespace

int32_t ForEachPart(HiloCpuContext* context, int64_t parts, absl::FunctionRef<void(int64_t)> body) {
  const HiloChunkFunction run = [](HiloCpuContext*, uint8_t* frame, uint8_t**, int64_t begin, int64_t end) -> int32_t {
    const auto& each = *reinterpret_cast<const absl::FunctionRef<void(int64_t)>*>(frame);
    for (int64_t i = begin; i < end; ++i) each(i);
    return HILO_OK;
  };
  return ParallelFor(context, run, reinterpret_cast<uint8_t*>(&body), nullptr, parts);
}

template <typename T>
int32_t SortNumbers(HiloCpuContext* context, T* numbers, T* spare, int64_t length, int first_bit, int bits,
                    T** result) {
  *result = numbers;
  const VectorSorts<T>* const sorts = FindVectorSorts<T>();
  const bool in_parts = length >= kMinForThreads && (sizeof(T) == sizeof(uint32_t) || HasThreads(context));
  // Three wide digits of a number of 64 bits take one thread less than a quicksort: 10,000 with 32 bits of a key 30 us,
  // 46 us.
  const bool few_digits =
      sizeof(T) == sizeof(uint64_t) && bits <= 3 * kWideDigitBits && length >= kMinForWideDigits && !in_parts;
  if (sorts == nullptr || few_digits) {
    *result = RadixSort(*context, numbers, spare, length, first_bit, bits);
    if (*result == nullptr) return HILO_STOPPED;
  } else if (in_parts) {
    return SortInParts(context, *sorts, numbers, spare, length);
  } else {
    sorts->sort(numbers, spare, length, false);
  }
  return HILO_OK;
}

template int32_t SortNumbers(HiloCpuContext*, uint32_t*, uint32_t*, int64_t, int, int, uint32_t**);
template int32_t SortNumbers(HiloCpuContext*, uint64_t*, uint64_t*, int64_t, int, int, uint64_t**);

SortItem* SortItems(const HiloCpuContext& context, SortItem* items, SortItem* spare, int64_t length, int bits) {
  return RadixSort(context, items, spare, length, 0, bits);
}

}  // namespace hilo::cpu
