// Rounding and special values of all small floats, checked against a search over all values of the
// type.
#include <cmath>
#include <limits>
#include <map>

#include "gtest/gtest.h"
#include "hilo/primitive_type.h"
#include "shape/convert.h"

namespace hilo {
namespace {

constexpr double kDoubleInfinity = std::numeric_limits<double>::infinity();
constexpr double kDoubleNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
constexpr uint32_t kPatterns = T::type == F4E2M1FN ? 16u : 1u << (8 * sizeof(T));

// All finite values and their patterns; +0 wins over -0.
template <typename T>
std::map<double, uint32_t> FiniteValues() {
  std::map<double, uint32_t> values;
  for (uint32_t bits = 0; bits < kPatterns<T>; ++bits) {
    const double value = static_cast<double>(T::FromBits(bits));
    if (std::isfinite(value)) values.emplace(value, bits);
  }
  return values;
}

template <typename T>
void CheckRoundTrip() {
  for (uint32_t bits = 0; bits < kPatterns<T>; ++bits) {
    const T value = T::FromBits(bits);
    if (std::isnan(static_cast<float>(value))) {
      EXPECT_TRUE(std::isnan(static_cast<float>(T(static_cast<float>(value)))));
    } else {
      ASSERT_EQ(T(static_cast<float>(value)).bits, bits) << PrimitiveTypeName(T::type);
      ASSERT_EQ(T(static_cast<double>(value)).bits, bits) << PrimitiveTypeName(T::type);
    }
  }
}

// Between any two neighbours: the midpoint goes to the even pattern, the numbers right beside it to
// the nearer one.
template <typename T>
void CheckMidpoints() {
  const std::map<double, uint32_t> values = FiniteValues<T>();
  for (auto low = values.begin(), high = std::next(low); high != values.end(); ++low, ++high) {
    const double middle = low->first + (high->first - low->first) / 2;
    const bool low_is_even = (low->second & 1) == 0;
    const double expected = T::type == F8E8M0FNU || !low_is_even ? high->first : low->first;
    ASSERT_EQ(static_cast<double>(T(middle)), expected) << PrimitiveTypeName(T::type) << " " << middle;
    ASSERT_EQ(static_cast<double>(T(std::nextafter(middle, -kDoubleInfinity))), low->first) << middle;
    ASSERT_EQ(static_cast<double>(T(std::nextafter(middle, kDoubleInfinity))), high->first) << middle;
  }
}

template <typename T>
void CheckAll() {
  CheckRoundTrip<T>();
  CheckMidpoints<T>();
}

TEST(SmallFloat, RoundTripsAndRoundsToNearestEven) {
  CheckAll<half>();
  CheckAll<bfloat16>();
  CheckAll<f8e5m2>();
  CheckAll<f8e4m3>();
  CheckAll<f8e3m4>();
  CheckAll<f8e4m3fn>();
  CheckAll<f8e4m3b11fnuz>();
  CheckAll<f8e4m3fnuz>();
  CheckAll<f8e5m2fnuz>();
  CheckAll<f8e8m0fnu>();
  CheckAll<f4e2m1fn>();
}

// Largest finite value, smallest positive value: facts of the formats' definitions.
template <typename T>
void CheckRange(double largest, double smallest) {
  const std::map<double, uint32_t> values = FiniteValues<T>();
  EXPECT_EQ(values.rbegin()->first, largest) << PrimitiveTypeName(T::type);
  EXPECT_EQ(values.upper_bound(0)->first, smallest) << PrimitiveTypeName(T::type);
}

TEST(SmallFloat, Ranges) {
  CheckRange<half>(65504, std::ldexp(1, -24));
  CheckRange<bfloat16>(std::ldexp(255, 120), std::ldexp(1, -133));
  CheckRange<f8e5m2>(57344, std::ldexp(1, -16));
  CheckRange<f8e4m3>(240, std::ldexp(1, -9));
  CheckRange<f8e3m4>(15.5, std::ldexp(1, -6));
  CheckRange<f8e4m3fn>(448, std::ldexp(1, -9));
  CheckRange<f8e4m3b11fnuz>(30, std::ldexp(1, -13));
  CheckRange<f8e4m3fnuz>(240, std::ldexp(1, -10));
  CheckRange<f8e5m2fnuz>(57344, std::ldexp(1, -17));
  CheckRange<f8e8m0fnu>(std::ldexp(1, 127), std::ldexp(1, -127));
  CheckRange<f4e2m1fn>(6, 0.5);
}

TEST(SmallFloat, OverflowAndNan) {
  EXPECT_EQ(half(65519.0).bits, 0x7bff);
  EXPECT_EQ(half(65520.0).bits, 0x7c00);
  EXPECT_EQ(bfloat16(-1e300).bits, 0xff80);
  EXPECT_EQ(f8e5m2(1e30f).bits, 0x7c);
  EXPECT_EQ(f8e4m3(-kDoubleInfinity).bits, 0xf8);
  EXPECT_EQ(f8e4m3fn(464.0).bits, 0x7e);
  EXPECT_EQ(f8e4m3fn(465.0).bits, 0x7f);
  EXPECT_EQ(f8e4m3fn(-kDoubleInfinity).bits, 0xff);
  EXPECT_EQ(f8e4m3fnuz(1000.0).bits, 0x80);
  EXPECT_EQ(f8e4m3fnuz(-0.0).bits, 0);
  EXPECT_EQ(f8e5m2fnuz(-1e-30).bits, 0);
  EXPECT_EQ(f8e4m3b11fnuz(kDoubleNan).bits, 0x80);
  EXPECT_EQ(f4e2m1fn(1e30).bits, 0x7);
  EXPECT_EQ(f4e2m1fn(-kDoubleInfinity).bits, 0xf);
  EXPECT_EQ(f4e2m1fn(kDoubleNan).bits, 0x8);
  EXPECT_EQ(f4e2m1fn(-kDoubleNan).bits, 0x8);
  EXPECT_EQ(f8e8m0fnu(0.0).bits, 0xff);
  EXPECT_EQ(f8e8m0fnu(-1.0).bits, 0xff);
  EXPECT_EQ(f8e8m0fnu(kDoubleInfinity).bits, 0xff);
  EXPECT_EQ(f8e8m0fnu(kDoubleNan).bits, 0xff);
  EXPECT_EQ(f8e8m0fnu(1e-300).bits, 0);
  EXPECT_EQ(f8e8m0fnu(1.5).bits, 0x80);
  EXPECT_EQ(half(kDoubleNan).bits, 0x7e00);
  EXPECT_EQ(half(-kDoubleNan).bits, 0xfe00);
  EXPECT_EQ(bfloat16(kDoubleNan).bits, 0x7fc0);
}

TEST(SmallFloat, RoundsOnce) {
  // 1 + 2^-11 + 2^-40: to float first would make it the midpoint 1 + 2^-11, which goes down.
  EXPECT_EQ(static_cast<double>(half(1 + std::ldexp(1, -11) + std::ldexp(1, -40))), 1 + std::ldexp(1, -10));
  // 2^62 + 2^54 + 1: to double first would make it a midpoint of bfloat16.
  const int64_t big = (int64_t{1} << 62) + (int64_t{1} << 54) + 1;
  EXPECT_EQ(static_cast<double>(bfloat16(big)), std::ldexp(1, 62) + std::ldexp(1, 55));
  EXPECT_EQ(static_cast<double>(bfloat16(-big)), -std::ldexp(1, 62) - std::ldexp(1, 55));
  EXPECT_EQ(static_cast<double>(bfloat16(big - 1)), std::ldexp(1, 62));
}

TEST(SmallInt, WrapsAndKeepsTheSign) {
  EXPECT_EQ(static_cast<int>(s4(9)), -7);
  EXPECT_EQ(static_cast<int>(s2(2)), -2);
  EXPECT_EQ(static_cast<int>(s1(1)), -1);
  EXPECT_EQ(static_cast<int>(u4(17)), 1);
  EXPECT_EQ(static_cast<int>(u2(-1)), 3);
  EXPECT_EQ(static_cast<int>(u1(2)), 0);
}

TEST(Convert, FloatToIntegerSaturates) {
  EXPECT_EQ((ConvertElement<float, int32_t>(kDoubleNan)), 0);
  EXPECT_EQ((ConvertElement<float, int32_t>(kDoubleInfinity)), INT32_MAX);
  EXPECT_EQ((ConvertElement<float, int32_t>(-kDoubleInfinity)), INT32_MIN);
  EXPECT_EQ((ConvertElement<float, int32_t>(3e9f)), INT32_MAX);
  EXPECT_EQ((ConvertElement<float, int32_t>(-3e9f)), INT32_MIN);
  EXPECT_EQ((ConvertElement<double, int32_t>(2147483647.5)), INT32_MAX);
  EXPECT_EQ((ConvertElement<double, int32_t>(-1.9)), -1);
  EXPECT_EQ((ConvertElement<float, int64_t>(9.3e18f)), INT64_MAX);
  EXPECT_EQ((ConvertElement<float, int64_t>(-9.3e18f)), INT64_MIN);
  EXPECT_EQ((ConvertElement<double, uint64_t>(1.8446744073709552e19)), UINT64_MAX);
  EXPECT_EQ((ConvertElement<double, uint64_t>(9223372036854775808.0)), uint64_t{1} << 63);
  EXPECT_EQ((ConvertElement<float, uint8_t>(kDoubleNan)), 0);
  EXPECT_EQ((ConvertElement<float, uint8_t>(300)), 255);
  EXPECT_EQ((ConvertElement<float, uint8_t>(-5)), 0);
  EXPECT_EQ((ConvertElement<float, uint8_t>(kDoubleInfinity)), 255);
  EXPECT_EQ((ConvertElement<float, s4>(100).value), 7);
  EXPECT_EQ((ConvertElement<float, s4>(-100).value), -8);
  EXPECT_EQ((ConvertElement<half, s1>(half(3)).value), 0);
  EXPECT_EQ((ConvertElement<half, s1>(half(-3)).value), -1);
  EXPECT_EQ((ConvertElement<f8e5m2, u2>(f8e5m2(3.5)).value), 3);
}

TEST(Convert, OtherRules) {
  EXPECT_EQ((ConvertElement<int32_t, int8_t>(300)), 44);
  EXPECT_EQ((ConvertElement<int32_t, uint32_t>(-1)), UINT32_MAX);
  EXPECT_EQ((ConvertElement<int64_t, s4>(-9).value), 7);
  EXPECT_EQ((ConvertElement<s4, uint8_t>(s4(-1))), 255);
  EXPECT_EQ((ConvertElement<bool, s1>(true).value), -1);
  EXPECT_EQ((ConvertElement<bool, float>(true)), 1.0f);
  EXPECT_TRUE((ConvertElement<float, bool>(kDoubleNan)));
  EXPECT_TRUE((ConvertElement<float, bool>(0.1f)));
  EXPECT_FALSE((ConvertElement<float, bool>(-0.0f)));
  EXPECT_TRUE((ConvertElement<int32_t, bool>(256)));
  EXPECT_FALSE((ConvertElement<complex64, bool>({0, 1})));
  EXPECT_EQ((ConvertElement<complex64, int32_t>({2.7f, 9})), 2);
  EXPECT_EQ((ConvertElement<int32_t, complex64>(3)), complex64(3, 0));
  EXPECT_EQ((ConvertElement<complex128, complex64>({1, 2})), complex64(1, 2));
  EXPECT_EQ((ConvertElement<int64_t, float>((int64_t{1} << 53) + 1)), std::ldexp(1.0f, 53));
  EXPECT_EQ((ConvertElement<int32_t, half>(100000).bits), 0x7c00);
  EXPECT_EQ((ConvertElement<bfloat16, half>(bfloat16(1.5)).bits), half(1.5).bits);
}

}  // namespace
}  // namespace hilo
