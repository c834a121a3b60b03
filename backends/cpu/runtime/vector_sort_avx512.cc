#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#define HILO_SORT_NAMESPACE avx512
#define HILO_SORT_BYTES 64
#include "backends/cpu/runtime/vector_sort.inc"

namespace hilo::cpu::avx512 {
namespace {

struct Lanes32 {
  using Number = uint32_t;
  using Vector = VectorOf<Number>::type;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;
  static constexpr int kMaxVectors = 16;

  static Vector Min(Vector x, Vector y) { return (Vector)_mm512_min_epu32((__m512i)x, (__m512i)y); }
  static Vector Max(Vector x, Vector y) { return (Vector)_mm512_max_epu32((__m512i)x, (__m512i)y); }
  static Vector Load(const Number* from) { return (Vector)_mm512_loadu_si512(from); }
  static void Store(Number* to, Vector x) { _mm512_storeu_si512(to, (__m512i)x); }

  // Of the first `count` lanes. The others are `fill`.
  static Vector Load(const Number* from, int64_t count, Number fill) {
    return (Vector)_mm512_mask_loadu_epi32(_mm512_set1_epi32(static_cast<int>(fill)), FirstLanes(count), from);
  }
  static void Store(Number* to, int64_t count, Vector x) {
    _mm512_mask_storeu_epi32(to, FirstLanes(count), (__m512i)x);
  }

  static Mask UpTo(Vector x, Vector pivots) { return _mm512_cmple_epu32_mask((__m512i)x, (__m512i)pivots); }
  static Mask Below(Vector x, Vector pivots) { return _mm512_cmplt_epu32_mask((__m512i)x, (__m512i)pivots); }

  // The lanes of `mask` come first.
  static Vector Compress(Vector x, Mask mask) { return (Vector)_mm512_maskz_compress_epi32(mask, (__m512i)x); }
  // Stores the lanes of `low` from `left` on, the others before `right`; all between may be overwritten.
  static void Split(Vector x, Mask low, Number* left, Number* right) {
    // The others are rotated to the end rather than stored under a mask, which takes twice as long at some addresses.
    const Vector lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Vector highs = Compress(x, static_cast<Mask>(~low));
    Store(left, Compress(x, low));
    Store(right - kLanes, (Vector)_mm512_permutexvar_epi32((__m512i)(lanes - __builtin_popcount(low)), (__m512i)highs));
  }

 private:
  static Mask FirstLanes(int64_t count) { return static_cast<Mask>((uint32_t{1} << count) - 1); }
};

struct Lanes64 {
  using Number = uint64_t;
  using Vector = VectorOf<Number>::type;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;
  static constexpr int kMaxVectors = 16;

  static Vector Min(Vector x, Vector y) { return (Vector)_mm512_min_epu64((__m512i)x, (__m512i)y); }
  static Vector Max(Vector x, Vector y) { return (Vector)_mm512_max_epu64((__m512i)x, (__m512i)y); }
  static Vector Load(const Number* from) { return (Vector)_mm512_loadu_si512(from); }
  static void Store(Number* to, Vector x) { _mm512_storeu_si512(to, (__m512i)x); }

  static Vector Load(const Number* from, int64_t count, Number fill) {
    return (Vector)_mm512_mask_loadu_epi64(_mm512_set1_epi64(static_cast<int64_t>(fill)), FirstLanes(count), from);
  }
  static void Store(Number* to, int64_t count, Vector x) {
    _mm512_mask_storeu_epi64(to, FirstLanes(count), (__m512i)x);
  }

  static Mask UpTo(Vector x, Vector pivots) { return _mm512_cmple_epu64_mask((__m512i)x, (__m512i)pivots); }
  static Mask Below(Vector x, Vector pivots) { return _mm512_cmplt_epu64_mask((__m512i)x, (__m512i)pivots); }

  static Vector Compress(Vector x, Mask mask) {
    const __m512i order = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&kSplits.of[mask])));
    return (Vector)_mm512_permutexvar_epi64(order, (__m512i)x);
  }
  static void Split(Vector x, Mask low, Number* left, Number* right) {
    const Vector split = Compress(x, low);
    Store(left, split);
    Store(right - kLanes, split);
  }

 private:
  static Mask FirstLanes(int64_t count) { return static_cast<Mask>((uint32_t{1} << count) - 1); }
};

}  // namespace

const VectorSorts<uint32_t> kSorts32 = {&SortAll<Lanes32>, &Partition<false, Lanes32>};
const VectorSorts<uint64_t> kSorts64 = {&SortAll<Lanes64>, &Partition<false, Lanes64>};

}  // namespace hilo::cpu::avx512
#endif
