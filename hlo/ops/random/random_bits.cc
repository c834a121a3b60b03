#include "hlo/ops/random/random_bits.h"

#include <mutex>

namespace hilo {

std::array<uint32_t, 2> ThreeFry2x32(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  uint32_t x = counter[0] + keys[0], y = counter[1] + keys[1];
  for (int group = 0; group < 5; ++group) {  // of four rounds
    for (int rotation : kRotations[group % 2]) {
      x += y;
      y = (y << rotation | y >> (32 - rotation)) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

std::array<uint64_t, 2> AdvanceRandomState(uint64_t delta) {
  static std::mutex mutex;
  static std::array<uint64_t, 2> state = {0x7012395, 0};  // XLA starts here too
  std::lock_guard<std::mutex> lock(mutex);
  const std::array<uint64_t, 2> before = state;
  state[0] += delta;
  state[1] += state[0] < delta ? 1 : 0;
  return before;
}

}  // namespace hilo
