// Executables carry their constants, so hashing must not be slower than reading a file: where the processor has SHA
// instructions (1.6 GB/s) they are used, else plain C++ (0.25 GB/s).
#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/escaping.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace hilo {
namespace {

constexpr size_t kBlock = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using HashState = std::array<uint32_t, 8>;
// Takes `blocks` blocks of 64 bytes into the state.
using Compress = void(HashState& state, const uint8_t* bytes, size_t blocks);

uint32_t BigEndian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

void CompressPlain(HashState& state, const uint8_t* bytes, size_t blocks) {
  for (; blocks > 0; --blocks, bytes += kBlock) {
    uint32_t w[64];
    for (int t = 0; t < 16; ++t) w[t] = BigEndian(bytes + 4 * t);
    for (int t = 16; t < 64; ++t) {
      const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
      const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (int t = 0; t < 64; ++t) {
      const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t one = h + sum1 + ((e & f) ^ (~e & g)) + kRoundConstants[t] + w[t];
      const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t two = sum0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += after[i];
  }
}

#ifdef __x86_64__
// The instructions hold the state as (a, b, e, f) and (c, d, g, h), and do four rounds at a time.
__attribute__((target("sha,sse4.1"))) void CompressSha(HashState& state, const uint8_t* bytes, size_t blocks) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&state[0])), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&state[4])), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; blocks > 0; --blocks, bytes += kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * i)), big_endian);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i& now = w[i % 4];
      const __m128i sum = _mm_add_epi32(now, _mm_load_si128(reinterpret_cast<const __m128i*>(kRoundConstants + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      const __m128i last = w[(i + 3) % 4];
      const __m128i partly =
          _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]), _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
      now = _mm_sha256msg2_epu32(partly, last);  // the words of four rounds later
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[0]), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[4]), _mm_alignr_epi8(dchg, feba, 8));
}

bool HasShaInstructions() {
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}
#endif

Compress* BestCompress() {
#ifdef __x86_64__
  if (HasShaInstructions()) return &CompressSha;
#endif
  return &CompressPlain;
}

}  // namespace

Sha256::Sha256() {
  static Compress* const best = BestCompress();
  compress_ = best;
}

Sha256 Sha256::Plain() {
  Sha256 hash;
  hash.compress_ = &CompressPlain;
  return hash;
}

void Sha256::Update(absl::string_view bytes) {
  if (bytes.empty()) return;
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  const size_t held = size_ % kBlock;
  size_ += left;
  if (held > 0) {
    const size_t taken = std::min(left, kBlock - held);
    std::memcpy(block_.data() + held, data, taken);
    if (held + taken < kBlock) return;
    compress_(state_, block_.data(), 1);
    data += taken;
    left -= taken;
  }
  compress_(state_, data, left / kBlock);
  if (left % kBlock > 0) std::memcpy(block_.data(), data + left / kBlock * kBlock, left % kBlock);
}

Sha256::Digest Sha256::Finish() {
  const uint64_t bits = size_ * 8;
  // A one, zeros up to the last eight bytes of a block, and the number of bits.
  uint8_t tail[2 * kBlock] = {0x80};
  const size_t zeros_end = (size_ % kBlock < kBlock - 8 ? kBlock : 2 * kBlock) - 8 - size_ % kBlock;
  for (int i = 0; i < 8; ++i) tail[zeros_end + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  Update({reinterpret_cast<const char*>(tail), zeros_end + 8});
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256::Digest Sha256::Of(absl::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

absl::string_view DigestBytes(const Sha256::Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string DigestToHex(const Sha256::Digest& digest) { return absl::BytesToHexString(DigestBytes(digest)); }

}  // namespace hilo
