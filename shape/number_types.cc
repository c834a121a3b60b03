// Small floats.
//
// All formats are read as "sign, exponent, mantissa" of given widths; below the sign, patterns are
// ordered like their values, so rounding may carry from the mantissa into the exponent by plain
// addition, and overflow is one comparison with the largest finite pattern. Only what the patterns
// at the ends mean differs (FloatSpecials).
#include <bit>
#include <cmath>
#include <limits>

#include "hilo/primitive_type.h"

namespace hilo {
namespace {

constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleBias = 1023;
constexpr uint64_t kDoubleMantissaMask = (uint64_t{1} << kDoubleMantissaBits) - 1;

// The largest pattern below the sign.
uint32_t AllOnes(const FloatFormat& f) { return (uint32_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1; }

uint32_t SignBit(const FloatFormat& f) { return AllOnes(f) + 1; }

uint32_t InfinityBits(const FloatFormat& f) { return ((uint32_t{1} << f.exponent_bits) - 1) << f.mantissa_bits; }

float DecodeScale(uint32_t bits) {
  if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, static_cast<int>(bits) - 127);
}

// Exponents round to the nearer power of two by value, ties up: 1.5 gives 2 and 3 gives 4.
uint32_t EncodeScale(double value) {
  constexpr uint32_t kNan = 0xff;
  if (!(value > 0) || std::isinf(value)) return kNan;
  int exponent;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const int rounded = exponent - 1 + (fraction >= 0.75 ? 1 : 0) + 127;
  if (rounded < 0) return 0;
  return rounded >= 0xff ? kNan : static_cast<uint32_t>(rounded);
}

uint32_t EncodeNan(const FloatFormat& f, bool negative, uint64_t payload) {
  const uint32_t sign = negative ? SignBit(f) : 0;
  switch (f.specials) {
    case FloatSpecials::kIeee: {
      const uint32_t top = static_cast<uint32_t>(payload >> (kDoubleMantissaBits - f.mantissa_bits));
      return sign | InfinityBits(f) | uint32_t{1} << (f.mantissa_bits - 1) | top;
    }
    case FloatSpecials::kFiniteNan: return sign | AllOnes(f);
    case FloatSpecials::kFiniteOnly:
    case FloatSpecials::kUnsignedZero:
    case FloatSpecials::kScale: break;
  }
  return SignBit(f);
}

// What a magnitude beyond the largest finite one becomes.
uint32_t EncodeOverflow(const FloatFormat& f, bool negative) {
  const uint32_t sign = negative ? SignBit(f) : 0;
  switch (f.specials) {
    case FloatSpecials::kIeee: return sign | InfinityBits(f);
    case FloatSpecials::kFiniteOnly:
    case FloatSpecials::kFiniteNan: return sign | AllOnes(f);
    case FloatSpecials::kUnsignedZero:
    case FloatSpecials::kScale: break;
  }
  return SignBit(f);
}

uint32_t LargestFinite(const FloatFormat& f) {
  if (f.specials == FloatSpecials::kIeee) return InfinityBits(f) - 1;
  return f.specials == FloatSpecials::kFiniteNan ? AllOnes(f) - 1 : AllOnes(f);
}

bool IsNanPattern(const FloatFormat& f, bool negative, uint32_t magnitude) {
  switch (f.specials) {
    case FloatSpecials::kIeee: return magnitude > InfinityBits(f);
    case FloatSpecials::kFiniteNan: return magnitude == AllOnes(f);
    case FloatSpecials::kUnsignedZero: return negative && magnitude == 0;
    case FloatSpecials::kFiniteOnly:
    case FloatSpecials::kScale: break;
  }
  return false;
}

}  // namespace

float DecodeFloat(const FloatFormat& f, uint32_t bits) {
  if (f.specials == FloatSpecials::kScale) return DecodeScale(bits & 0xff);
  // bfloat16 is the upper half of a float.
  if (f.exponent_bits == 8) return std::bit_cast<float>(bits << (23 - f.mantissa_bits));
  const bool negative = (bits & SignBit(f)) != 0;
  const uint32_t magnitude = bits & AllOnes(f);
  const uint32_t exponent = magnitude >> f.mantissa_bits;
  const uint32_t mantissa = magnitude & ((uint32_t{1} << f.mantissa_bits) - 1);
  uint32_t result;
  if (IsNanPattern(f, negative, magnitude)) {
    const uint32_t payload = f.specials == FloatSpecials::kIeee ? mantissa << (23 - f.mantissa_bits) : 0x400000;
    result = 0x7f800000 | payload;
  } else if (f.specials == FloatSpecials::kIeee && magnitude == InfinityBits(f)) {
    result = 0x7f800000;
  } else if (exponent == 0) {
    const uint32_t scale = static_cast<uint32_t>(1 - f.bias - f.mantissa_bits + 127) << 23;
    result = std::bit_cast<uint32_t>(static_cast<float>(mantissa) * std::bit_cast<float>(scale));
  } else {
    result = (exponent + 127 - static_cast<uint32_t>(f.bias)) << 23 | mantissa << (23 - f.mantissa_bits);
  }
  const bool keeps_sign = f.specials != FloatSpecials::kUnsignedZero || magnitude != 0;
  return std::bit_cast<float>(result | (negative && keeps_sign ? 0x80000000u : 0));
}

uint32_t EncodeFloat(const FloatFormat& f, double value) {
  if (f.specials == FloatSpecials::kScale) return EncodeScale(value);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const int64_t double_exponent = static_cast<int64_t>(bits >> kDoubleMantissaBits & 0x7ff);
  const uint64_t double_mantissa = bits & kDoubleMantissaMask;
  if (double_exponent == 0x7ff) {
    return double_mantissa != 0 ? EncodeNan(f, negative, double_mantissa) : EncodeOverflow(f, negative);
  }
  // Subnormal doubles lie far below half of any format's smallest value.
  uint32_t magnitude = 0;
  if (double_exponent != 0) {
    const uint64_t significand = double_mantissa | uint64_t{1} << kDoubleMantissaBits;
    const int64_t exponent = double_exponent - kDoubleBias + f.bias;
    const int64_t shift = kDoubleMantissaBits - f.mantissa_bits + (exponent < 1 ? 1 - exponent : 0);
    if (exponent > int64_t{1} << f.exponent_bits) return EncodeOverflow(f, negative);
    if (shift <= kDoubleMantissaBits + 1) {
      const uint64_t half = uint64_t{1} << (shift - 1);
      const uint64_t remainder = significand & (2 * half - 1);
      uint64_t rounded = significand >> shift;
      rounded += remainder > half || (remainder == half && (rounded & 1) != 0) ? 1 : 0;
      // The implicit bit of `rounded` adds the last one to the exponent field.
      if (exponent > 1) rounded += static_cast<uint64_t>(exponent - 1) << f.mantissa_bits;
      magnitude = static_cast<uint32_t>(rounded);
    }
  }
  if (magnitude > LargestFinite(f)) return EncodeOverflow(f, negative);
  if (magnitude == 0 && f.specials == FloatSpecials::kUnsignedZero) return 0;
  return magnitude | (negative ? SignBit(f) : 0);
}

double SignificantDouble(uint64_t magnitude, bool negative) {
  // Bits that a double has no room for are folded into its last bit: still on the same side of
  // every tie.
  const int excess = 64 - std::countl_zero(magnitude) - (kDoubleMantissaBits + 1);
  if (excess > 0) {
    const uint64_t lost = magnitude & ((uint64_t{1} << excess) - 1);
    magnitude -= lost;
    if (lost != 0) magnitude |= uint64_t{1} << excess;
  }
  const double value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

}  // namespace hilo
