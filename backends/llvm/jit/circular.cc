// The reduction of M. Payne and R. Hanek (1983): |x| = m 2^e with an integer m of 24 bits, and of the product of |x|
// and 2 / pi only what counts modulo 4 is computed. Digits of 2 / pi that 2^e makes multiples of 4 are left out in
// front, and the 96 after them leave an error below 2^-70 after the multiplication by m, where no f32 is closer to a
// multiple of pi / 2 than 2^-30.
#include "backends/llvm/jit/circular.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace hilo::codegen {
namespace {

// 64 zeros, then the bits of 2 / pi after the point.
constexpr uint64_t kTwoOverPi[] = {0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561};

// Returns the 64 bits of the table from bit `first` on.
uint64_t BitsFrom(int first) {
  const int word = first / 64, shift = first % 64;
  return shift == 0 ? kTwoOverPi[word] : kTwoOverPi[word] << shift | kTwoOverPi[word + 1] >> (64 - shift);
}

struct Reduced {
  double r;           // |x| = quadrant pi / 2 + r modulo 2 pi, |r| <= 1
  unsigned quadrant;  // modulo 4
};

// `bits`: those of |x|, which is finite.
Reduced Reduce(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 23) - 150;
  if (exponent < -23) return {std::bit_cast<float>(bits), 0};  // below 1
  const uint64_t m = (bits & 0x7fffff) | 0x800000;
  // The bit of 2^1 in 2^e 2 / pi is that of 2^(1 - e) in 2 / pi: number e - 2 after the point.
  const int first = 64 + exponent - 2;
  const unsigned __int128 digits = static_cast<unsigned __int128>(BitsFrom(first)) << 32 | BitsFrom(first + 64) >> 32;
  const auto product = static_cast<uint64_t>(digits * m >> 32);  // modulo 4, in units of 2^-62
  const auto fraction = static_cast<int64_t>(product << 2);      // in units of 2^-64, from -1/2 on
  const auto quadrant = static_cast<unsigned>(product >> 62) + (fraction < 0 ? 1 : 0);
  return {static_cast<double>(fraction) * 0x1.921fb54442d18p-64, quadrant};
}

// The terms of the series that f64 is too short for by far less than f32 is.
double SinOf(double r) {
  const double z = r * r;
  return r + r * z *
                 (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800 +
                                                                                          z * (1.0 / 6227020800.0))))));
}
double CosOf(double r) {
  const double z = r * r;
  return 1 + z * (-0.5 + z * (1.0 / 24 +
                              z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600.0))))));
}

// Returns sin(|x| + shift pi / 2). Quadrants follow no pattern that a processor could predict: there is no branch.
double ShiftedSin(uint32_t bits, unsigned shift) {
  constexpr double kSigns[] = {1, -1};
  const Reduced reduced = Reduce(bits);
  const unsigned quadrant = reduced.quadrant + shift;
  const double values[] = {SinOf(reduced.r), CosOf(reduced.r)};
  return values[quadrant & 1] * kSigns[quadrant >> 1 & 1];
}

constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7f800000;

bool IsFinite(uint32_t magnitude) { return magnitude < kInfinity; }

}  // namespace

float Sin(float x) {
  const auto bits = std::bit_cast<uint32_t>(x), magnitude = bits & ~kSign;
  if (!IsFinite(magnitude)) return std::numeric_limits<float>::quiet_NaN();
  const double value = ShiftedSin(magnitude, 0);
  return static_cast<float>((bits & kSign) != 0 ? -value : value);
}

float Cos(float x) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(x) & ~kSign;
  if (!IsFinite(magnitude)) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(ShiftedSin(magnitude, 1));
}

float Tan(float x) {
  const auto bits = std::bit_cast<uint32_t>(x), magnitude = bits & ~kSign;
  if (!IsFinite(magnitude)) return std::numeric_limits<float>::quiet_NaN();
  const Reduced reduced = Reduce(magnitude);
  const double sine = SinOf(reduced.r), cosine = CosOf(reduced.r);
  const double value = (reduced.quadrant & 1) != 0 ? -cosine / sine : sine / cosine;
  return static_cast<float>((bits & kSign) != 0 ? -value : value);
}

}  // namespace hilo::codegen
