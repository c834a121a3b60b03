#include "backends/llvm/jit/circular.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace hilo::codegen {
namespace {

// Numbers of all magnitudes, and those that are closest to multiples of pi / 2.
std::vector<float> Arguments() {
  std::vector<float> arguments;
  for (uint32_t bits = 0; bits < 0x7f800000; bits += 0x4321) arguments.push_back(std::bit_cast<float>(bits));
  constexpr long double kQuarter = 1.57079632679489661923132169163975144L;
  for (int exponent = 0; exponent < 60; ++exponent) {
    for (int i = 0; i < 50; ++i) {
      const long double multiple = std::round(std::ldexp(1 + i / 50.0L, exponent) / kQuarter) * kQuarter;
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(multiple));
      for (const uint32_t at : {bits - 1, bits, bits + 1}) arguments.push_back(std::bit_cast<float>(at));
    }
  }
  // Closest of all: 2^-29.2 from a multiple of pi / 2.
  for (const float x : {0x1.61a3dep+117F, 0x1.3b9ff2p+92F, 0x1.6ac5b2p+62F, 0x1.fffffep+127F}) arguments.push_back(x);
  return arguments;
}

// Expects the function within 0.501 units of the last place, which long double is exact enough to tell.
void ExpectRounded(float (*function)(float), long double (*wide)(long double)) {
  for (const float x : Arguments()) {
    const long double expected = wide(x);
    int exponent = 0;
    std::frexp(expected, &exponent);
    const long double ulp = std::ldexp(1.0L, std::max(exponent - 24, -149));
    EXPECT_LE(std::fabs(function(x) - expected), 0.501L * ulp) << x;
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(CircularTest, Sin) { ExpectRounded(Sin, std::sin); }
TEST(CircularTest, Cos) { ExpectRounded(Cos, std::cos); }
TEST(CircularTest, Tan) { ExpectRounded(Tan, std::tan); }

TEST(CircularTest, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(Sin(x)) && std::isnan(Cos(x)) && std::isnan(Tan(x))) << x;
  }
  EXPECT_TRUE(std::signbit(Sin(-0.0F)) && std::signbit(Tan(-0.0F)));
  EXPECT_EQ(Sin(-0x1p80F), -Sin(0x1p80F));
  EXPECT_EQ(Tan(-0x1p80F), -Tan(0x1p80F));
  EXPECT_EQ(Cos(-0x1p80F), Cos(0x1p80F));
}

}  // namespace
}  // namespace hilo::codegen
