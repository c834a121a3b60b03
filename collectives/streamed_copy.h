// Copies that bypass the cache. Private to collectives.
#ifndef HILO_COLLECTIVES_STREAMED_COPY_H_
#define HILO_COLLECTIVES_STREAMED_COPY_H_

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace hilo {

// As memcpy. `streamed`: uses non-temporal stores, so the written lines are neither read into the cache first nor
// kept there, which saves a third of the traffic of arrays that are larger than it.
inline void CopyBytes(uint8_t* to, const uint8_t* from, int64_t bytes, bool streamed) {
#if defined(__x86_64__)
  constexpr int64_t kLine = 64, kLane = 16;
  if (streamed && bytes >= 2 * kLine) {
    const int64_t head = (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine;
    std::memcpy(to, from, head);
    const int64_t end = head + (bytes - head) / kLine * kLine;
    for (int64_t i = head; i < end; i += kLine) {
      __m128i line[kLine / kLane];
      for (int64_t k = 0; k < kLine / kLane; ++k)
        line[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + k * kLane));
      for (int64_t k = 0; k < kLine / kLane; ++k)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + k * kLane), line[k]);
    }
    _mm_sfence();  // others see it with what is stored next
    std::memcpy(to + end, from + end, bytes - end);
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace hilo

#endif  // HILO_COLLECTIVES_STREAMED_COPY_H_
