#include "backends/cpu/kernels/even_part.h"

#include <algorithm>
#include <cstdint>

#include "base/math.h"
#include "gtest/gtest.h"

namespace hilo::cpu {
namespace {

TEST(EvenPart, HasTwoEqualPartsRatherThanAPartAndARest) {
  EXPECT_EQ(EvenPart(90, 64, 8), 48);
  EXPECT_EQ(EvenPart(100, 40, 8), 56);
  EXPECT_EQ(EvenPart(1500, 512, 128), 768);
}

TEST(EvenPart, KeepsPartsThatEndTogether) {
  EXPECT_EQ(EvenPart(128, 64, 8), 64);
  EXPECT_EQ(EvenPart(2100, 512, 128), 512);  // the rest is small
  EXPECT_EQ(EvenPart(250, 40, 8), 40);       // shorter parts would gain a little
}

TEST(EvenPart, KeepsOnePartAndMany) {
  EXPECT_EQ(EvenPart(40, 64, 8), 64);
  EXPECT_EQ(EvenPart(1000, 48, 8), 48);
}

TEST(EvenPart, IsNearThePartAndNeverEndsLater) {
  const auto longer_share = [](int64_t size, int64_t part) {
    int64_t first = 0, second = 0;
    for (int64_t begin = 0; begin < size; begin += 2 * part) {
      first += std::min(part, size - begin);
      second += std::clamp<int64_t>(size - begin - part, 0, part);
    }
    return std::max(first, second);
  };
  for (int64_t size = 1; size < 600; ++size) {
    for (const int64_t part : {8, 40, 64, 128}) {
      const int64_t even = EvenPart(size, part, 8);
      EXPECT_EQ(even % 8, 0);
      EXPECT_GE(4 * even, 3 * part);
      EXPECT_LE(2 * even, 3 * part);
      EXPECT_LE(longer_share(size, even), CeilDiv(longer_share(size, part), 8) * 8) << size << " " << part;
    }
  }
}

}  // namespace
}  // namespace hilo::cpu
