#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#define HILO_SORT_NAMESPACE avx2
#define HILO_SORT_BYTES 32
#include "backends/cpu/runtime/vector_sort.inc"

namespace hilo::cpu::avx2 {
namespace {

struct Lanes32 {
  using Number = uint32_t;
  using Vector = VectorOf<Number>::type;
  using Mask = uint32_t;
  static constexpr int kLanes = 8;
  static constexpr int kMaxVectors = 8;  // half of the registers

  static Vector Min(Vector x, Vector y) { return (Vector)_mm256_min_epu32((__m256i)x, (__m256i)y); }
  static Vector Max(Vector x, Vector y) { return (Vector)_mm256_max_epu32((__m256i)x, (__m256i)y); }
  static Vector Load(const Number* from) { return (Vector)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static void Store(Number* to, Vector x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)x); }

  // Of the first `count` lanes. The others are `fill`.
  static Vector Load(const Number* from, int64_t count, Number fill) {
    const __m256i lanes = FirstLanes(count);
    const __m256i x = _mm256_maskload_epi32(reinterpret_cast<const int*>(from), lanes);
    return (Vector)_mm256_blendv_epi8(_mm256_set1_epi32(static_cast<int>(fill)), x, lanes);
  }
  static void Store(Number* to, int64_t count, Vector x) {
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), FirstLanes(count), (__m256i)x);
  }

  static Mask UpTo(Vector x, Vector pivots) { return Bits(_mm256_cmpeq_epi32((__m256i)Min(x, pivots), (__m256i)x)); }
  static Mask Below(Vector x, Vector pivots) {
    return 0xff & ~Bits(_mm256_cmpeq_epi32((__m256i)Max(x, pivots), (__m256i)x));
  }

  // The lanes of `mask` come first.
  static Vector Compress(Vector x, Mask mask) {
    const __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&kSplits.of[mask])));
    return (Vector)_mm256_permutevar8x32_epi32((__m256i)x, order);
  }
  // Stores the lanes of `low` from `left` on, the others before `right`; all between may be overwritten.
  static void Split(Vector x, Mask low, Number* left, Number* right) {
    const Vector split = Compress(x, low);
    Store(left, split);
    Store(right - kLanes, split);
  }

 private:
  static Mask Bits(__m256i lanes) { return static_cast<Mask>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes))); }
  static __m256i FirstLanes(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

}  // namespace

const VectorSorts<uint32_t> kSorts32 = {&SortAll<Lanes32>, &Partition<false, Lanes32>};

}  // namespace hilo::cpu::avx2
#endif
