// A quicksort whose partitions compress vectors: those of at most kMostInRegisters numbers are sorted by bitonic
// networks in registers, larger ones are split from one array into the other.
#include "backends/cpu/runtime/vector_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#if defined(__x86_64__)

#include <immintrin.h>

#define HILO_AVX512 __attribute__((target("avx512f")))
#define HILO_UNROLLED _Pragma("GCC unroll 16")

namespace hilo::cpu {
namespace {

constexpr int kLanes = 8;
constexpr int kMostVectors = 16;
constexpr int64_t kMostInRegisters = kMostVectors * kLanes;
// Lists of as many numbers are split at the median of 64 of them, shorter ones at the median of 8.
constexpr int64_t kLeastForLargeSample = 4096;

using Lanes = __mmask8;
constexpr Lanes kAllLanes = 0xff;

constexpr Lanes FirstLanes(int64_t count) { return static_cast<Lanes>((1u << count) - 1); }

// Each lane of `upper` keeps the larger one of its number and that of its partner, the others the smaller one.
[[gnu::always_inline]] HILO_AVX512 inline __m512i Trade(__m512i x, __m512i partners, Lanes upper) {
  return _mm512_mask_max_epu64(_mm512_min_epu64(x, partners), upper, x, partners);
}

[[gnu::always_inline]] HILO_AVX512 inline __m512i Reversed(__m512i x) {
  return _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), x);
}

// Sorts the lanes of a vector that rise and then fall, or the other way.
[[gnu::always_inline]] HILO_AVX512 inline __m512i SortBitonic(__m512i x) {
  x = Trade(x, _mm512_shuffle_i64x2(x, x, 0x4e), 0xf0);
  x = Trade(x, _mm512_permutex_epi64(x, 0x4e), 0xcc);
  return Trade(x, _mm512_permutex_epi64(x, 0xb1), 0xaa);
}

[[gnu::always_inline]] HILO_AVX512 inline __m512i SortLanes(__m512i x) {
  x = Trade(x, _mm512_permutex_epi64(x, 0xb1), 0xaa);
  x = Trade(x, _mm512_permutex_epi64(x, 0x1b), 0xcc);
  x = Trade(x, _mm512_permutex_epi64(x, 0xb1), 0xaa);
  x = Trade(x, Reversed(x), 0xf0);
  x = Trade(x, _mm512_permutex_epi64(x, 0x4e), 0xcc);
  return Trade(x, _mm512_permutex_epi64(x, 0xb1), 0xaa);
}

// Sorts `length` numbers, more than kVectors / 2 vectors and at most kVectors, into `to`, which may be `from`.
template <int kVectors>
HILO_AVX512 void SortInRegisters(const uint64_t* from, uint64_t* to, int64_t length) {
  __m512i x[kVectors];
  const auto lanes = [length](int v) { return FirstLanes(std::clamp<int64_t>(length - v * kLanes, 0, kLanes)); };
  HILO_UNROLLED
  for (int v = 0; v < kVectors; ++v)
    x[v] = SortLanes(_mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), lanes(v), from + v * kLanes));
  // Runs of `run` vectors are sorted; the larger halves of two of them move into the second one.
  HILO_UNROLLED
  for (int run = 1; run < kVectors; run *= 2) {
    HILO_UNROLLED
    for (int first = 0; first < kVectors; first += 2 * run) {
      __m512i larger[kVectors / 2 + 1];
      HILO_UNROLLED
      for (int v = 0; v < run; ++v) {
        const __m512i other = Reversed(x[first + 2 * run - 1 - v]);
        larger[v] = _mm512_max_epu64(x[first + v], other);
        x[first + v] = _mm512_min_epu64(x[first + v], other);
      }
      HILO_UNROLLED
      for (int v = 0; v < run; ++v) x[first + run + v] = larger[v];
    }
    HILO_UNROLLED
    for (int step = run / 2; step > 0; step /= 2) {
      HILO_UNROLLED
      for (int v = 0; v < kVectors; ++v) {
        if ((v & step) != 0) continue;
        const __m512i larger = _mm512_max_epu64(x[v], x[v + step]);
        x[v] = _mm512_min_epu64(x[v], x[v + step]);
        x[v + step] = larger;
      }
    }
    HILO_UNROLLED
    for (int v = 0; v < kVectors; ++v) x[v] = SortBitonic(x[v]);
  }
  HILO_UNROLLED
  for (int v = 0; v < kVectors; ++v) _mm512_mask_storeu_epi64(to + v * kLanes, lanes(v), x[v]);
}

void SortShort(const uint64_t* from, uint64_t* to, int64_t length) {
  if (length <= kLanes) return SortInRegisters<1>(from, to, length);
  if (length <= 2 * kLanes) return SortInRegisters<2>(from, to, length);
  if (length <= 4 * kLanes) return SortInRegisters<4>(from, to, length);
  if (length <= 8 * kLanes) return SortInRegisters<8>(from, to, length);
  SortInRegisters<kMostVectors>(from, to, length);
}

// For each mask, the lanes that are in it and then those that are not, a byte each.
constexpr std::array<uint64_t, 256> kSplits = [] {
  std::array<uint64_t, 256> splits = {};
  for (uint64_t mask = 0; mask < 256; ++mask) {
    int shift = 0;
    for (const uint64_t in : {1, 0}) {
      for (uint64_t lane = 0; lane < kLanes; ++lane) {
        if ((mask >> lane & 1) == in) splits[mask] |= lane << std::exchange(shift, shift + 8);
      }
    }
  }
  return splits;
}();

template <bool kLess>
[[gnu::always_inline]] HILO_AVX512 inline Lanes LanesBelow(Lanes lanes, __m512i x, __m512i pivots) {
  return kLess ? _mm512_mask_cmplt_epu64_mask(lanes, x, pivots) : _mm512_mask_cmple_epu64_mask(lanes, x, pivots);
}

// Moves the numbers up to `pivot`, or if kLess those below it, to the front of `to`, the others to its end. Returns how
// many the first ones are.
template <bool kLess>
HILO_AVX512 int64_t Partition(const uint64_t* from, uint64_t* to, int64_t length, uint64_t pivot) {
  const __m512i pivots = _mm512_set1_epi64(static_cast<int64_t>(pivot));
  // What was not read yet is as much as is free between `left` and `right`.
  uint64_t *left = to, *right = to + length;
  int64_t i = 0;
  for (; i + 2 * kLanes <= length; i += kLanes) {
    const __m512i x = _mm512_loadu_si512(from + i);
    const Lanes low = LanesBelow<kLess>(kAllLanes, x, pivots);
    const __m512i order = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&kSplits[low])));
    const __m512i split = _mm512_permutexvar_epi64(order, x);
    _mm512_storeu_si512(left, split);
    _mm512_storeu_si512(right - kLanes, split);
    const int lows = std::popcount(low);
    left += lows;
    right -= kLanes - lows;
  }
  for (; i < length; i += kLanes) {
    const Lanes read = FirstLanes(std::min<int64_t>(length - i, kLanes));
    const __m512i x = _mm512_maskz_loadu_epi64(read, from + i);
    const Lanes low = LanesBelow<kLess>(read, x, pivots), high = read & ~low;
    const int lows = std::popcount(low), highs = std::popcount(high);
    _mm512_mask_storeu_epi64(left, FirstLanes(lows), _mm512_maskz_compress_epi64(low, x));
    left += lows;
    right -= highs;
    _mm512_mask_storeu_epi64(right, FirstLanes(highs), _mm512_maskz_compress_epi64(high, x));
  }
  return left - to;
}

uint64_t MedianOfSample(const uint64_t* numbers, int64_t length) {
  uint64_t sample[64];
  const int64_t count = length < kLeastForLargeSample ? 8 : 64, step = length / count;
  for (int64_t i = 0; i < count; ++i) sample[i] = numbers[i * step + step / 2];
  SortShort(sample, sample, count);
  return sample[count / 2];
}

// Sorts `numbers`, into `other` if `is_result_other`. `splits` is how many times they may be split.
void Sort(uint64_t* numbers, uint64_t* other, int64_t length, bool is_result_other, int splits) {
  uint64_t* const result = is_result_other ? other : numbers;
  if (length <= kMostInRegisters) return SortShort(numbers, result, length);
  if (splits == 0) {  // the samples were not like the lists
    if (is_result_other) std::copy_n(numbers, length, other);
    std::sort(result, result + length);
    return;
  }
  const uint64_t pivot = MedianOfSample(numbers, length);
  int64_t lows = Partition<false>(numbers, other, length, pivot);
  if (lows == length) {
    // The pivot is the largest number: all that are equal to it are sorted.
    lows = Partition<true>(numbers, other, length, pivot);
    std::fill(result + lows, result + length, pivot);
  } else {
    Sort(other + lows, numbers + lows, length - lows, !is_result_other, splits - 1);
  }
  if (lows > 0) Sort(other, numbers, lows, !is_result_other, splits - 1);
}

}  // namespace

bool HasVectorSort() {
  static const bool has = __builtin_cpu_supports("avx512f");
  return has;
}

void VectorSort(uint64_t* numbers, uint64_t* spare, int64_t length) {
  Sort(numbers, spare, length, false, 2 * std::bit_width(static_cast<uint64_t>(length)));
}

}  // namespace hilo::cpu

#else

namespace hilo::cpu {

bool HasVectorSort() { return false; }
void VectorSort(uint64_t* numbers, uint64_t*, int64_t length) { std::sort(numbers, numbers + length); }

}  // namespace hilo::cpu

#endif
