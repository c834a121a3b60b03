#include "hlo/ops/random/random_bits.h"

#include "gtest/gtest.h"

namespace hilo {
namespace {

// The generators' published answers.
TEST(RandomBits, ThreeFry) {
  using Pair = std::array<uint32_t, 2>;
  EXPECT_EQ(ThreeFry2x32({0, 0}, {0, 0}), (Pair{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(ThreeFry2x32({~0u, ~0u}, {~0u, ~0u}), (Pair{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(ThreeFry2x32({0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}), (Pair{0xc4923a9c, 0x483df7a0}));
}

TEST(RandomBits, Philox) {
  using Four = std::array<uint32_t, 4>;
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBits, TheStateMovesOnAndCarries) {
  const std::array<uint64_t, 2> first = AdvanceRandomState(5);
  const std::array<uint64_t, 2> second = AdvanceRandomState(~uint64_t{0});
  EXPECT_EQ(second[0], first[0] + 5);
  const std::array<uint64_t, 2> third = AdvanceRandomState(0);
  EXPECT_EQ(third[0], second[0] - 1);
  EXPECT_EQ(third[1], second[1] + 1);
}

}  // namespace
}  // namespace hilo
