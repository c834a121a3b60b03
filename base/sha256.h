// SHA-256 (FIPS 180-4): names for contents, and proof that bytes are those that were written.
#ifndef HILO_BASE_SHA256_H_
#define HILO_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hilo {

class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  Sha256();
  // By plain C++ even where the processor has instructions for it: for tests.
  static Sha256 Plain();

  void Update(absl::string_view bytes);
  // Of all bytes given to Update; the object is used up.
  Digest Finish();

  static Digest Of(absl::string_view bytes);

 private:
  using State = std::array<uint32_t, 8>;
  void (*compress_)(State& state, const uint8_t* bytes, size_t blocks);
  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_;  // the bytes since the last whole block
  uint64_t size_ = 0;              // of all
};

// The digest's bytes as they are, and as 64 digits.
absl::string_view DigestBytes(const Sha256::Digest& digest);
std::string DigestToHex(const Sha256::Digest& digest);

}  // namespace hilo

#endif  // HILO_BASE_SHA256_H_
