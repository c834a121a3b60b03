// Element-wise ops on integers of any width, in 64 bits, and on PRED.
//
// Arithmetic is done on unsigned words, where wrapping is defined, and narrowing keeps the low
// bits: the element type's own wrapping. Only ops that look at high bits (shifts to the right,
// counts, mulhi) use the width. Implementation-defined results: x / 0 has
// all bits set, x % 0 is x, MIN / -1 is MIN and MIN % -1 is 0; a shift amount outside [0, width)
// moves all bits out.
#include <bit>
#include <type_traits>

#include "hlo/ops/elementwise/elementwise_kernels.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// The element's own bits, zero-extended.
uint64_t Masked(uint64_t x, int bits) { return bits == 64 ? x : x & ((uint64_t{1} << bits) - 1); }
// The element's own bits, sign-extended.
int64_t SignExtended(uint64_t x, int bits) { return static_cast<int64_t>(x << (64 - bits)) >> (64 - bits); }

template <typename W>
W Divide(W x, W y) {
  if (y == 0) return static_cast<W>(-1);
  if (std::is_signed_v<W> && y == static_cast<W>(-1)) return static_cast<W>(0 - static_cast<uint64_t>(x));
  return x / y;
}
template <typename W>
W Remainder(W x, W y) {
  if (y == 0) return x;
  if (std::is_signed_v<W> && y == static_cast<W>(-1)) return 0;
  return x % y;
}
// Wraps. With a negative exponent: what rounding the quotient 1 / x^-y toward zero gives, and 0 for
// x = 0.
template <typename W>
W IntegerPower(W x, W y) {
  uint64_t base = static_cast<uint64_t>(x);
  if (std::is_signed_v<W> && y < 0) {
    if (x == 1) return 1;
    if (x == static_cast<W>(-1)) return (y & 1) != 0 ? x : 1;
    return 0;
  }
  uint64_t power = 1;
  for (uint64_t exponent = static_cast<uint64_t>(y); exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power *= base;
    base *= base;
  }
  return static_cast<W>(power);
}
template <typename W>
W MultiplyHigh(W x, W y, int bits) {
  using Product = std::conditional_t<std::is_signed_v<W>, __int128, unsigned __int128>;
  return static_cast<W>((static_cast<Product>(x) * static_cast<Product>(y)) >> bits);
}
template <typename W>
W ShiftLeft(W x, W amount, int bits) {
  const uint64_t n = static_cast<uint64_t>(amount);
  return n >= static_cast<uint64_t>(bits) ? 0 : static_cast<W>(static_cast<uint64_t>(x) << n);
}
template <typename W>
W ShiftRightLogical(W x, W amount, int bits) {
  const uint64_t n = static_cast<uint64_t>(amount);
  return n >= static_cast<uint64_t>(bits) ? 0 : static_cast<W>(Masked(static_cast<uint64_t>(x), bits) >> n);
}
template <typename W>
W ShiftRightArithmetic(W x, W amount, int bits) {
  const uint64_t n = static_cast<uint64_t>(amount);
  return static_cast<W>(SignExtended(static_cast<uint64_t>(x), bits) >>
                        (n >= static_cast<uint64_t>(bits) ? bits - 1 : n));
}

template <typename W>
constexpr OpcodeMap<UnaryKernel<W>> kIntegerUnary = {
    {HloOpcode::kAbs, LoopOver1<W>([](W x) { return x < 0 ? static_cast<W>(0 - static_cast<uint64_t>(x)) : x; })},
    {HloOpcode::kClz, LoopOver1<W>([](W x, int bits) {
       return static_cast<W>(std::countl_zero(Masked(static_cast<uint64_t>(x), bits)) - (64 - bits));
     })},
    {HloOpcode::kNegate, LoopOver1<W>([](W x) { return static_cast<W>(0 - static_cast<uint64_t>(x)); })},
    {HloOpcode::kNot, LoopOver1<W>([](W x) { return static_cast<W>(~x); })},
    {HloOpcode::kPopulationCount,
     LoopOver1<W>([](W x, int bits) { return static_cast<W>(std::popcount(Masked(static_cast<uint64_t>(x), bits))); })},
    {HloOpcode::kSign, LoopOver1<W>([](W x) { return static_cast<W>((x > 0) - (x < 0)); })},
};

template <typename W>
constexpr OpcodeMap<BinaryKernel<W>> kIntegerBinary = {
    {HloOpcode::kAdd,
     LoopOver2<W>([](W x, W y) { return static_cast<W>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y)); })},
    {HloOpcode::kAnd, LoopOver2<W>([](W x, W y) { return x & y; })},
    {HloOpcode::kDivide, LoopOver2<W>([](W x, W y) { return Divide(x, y); })},
    {HloOpcode::kMaximum, LoopOver2<W>([](W x, W y) { return MaximumOf(x, y); })},
    {HloOpcode::kMinimum, LoopOver2<W>([](W x, W y) { return MinimumOf(x, y); })},
    {HloOpcode::kMulhi, LoopOver2<W>([](W x, W y, int bits) { return MultiplyHigh(x, y, bits); })},
    {HloOpcode::kMultiply,
     LoopOver2<W>([](W x, W y) { return static_cast<W>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y)); })},
    {HloOpcode::kOr, LoopOver2<W>([](W x, W y) { return x | y; })},
    {HloOpcode::kPower, LoopOver2<W>([](W x, W y) { return IntegerPower(x, y); })},
    {HloOpcode::kRemainder, LoopOver2<W>([](W x, W y) { return Remainder(x, y); })},
    {HloOpcode::kShiftLeft, LoopOver2<W>([](W x, W y, int bits) { return ShiftLeft(x, y, bits); })},
    {HloOpcode::kShiftRightArithmetic,
     LoopOver2<W>([](W x, W y, int bits) { return ShiftRightArithmetic(x, y, bits); })},
    {HloOpcode::kShiftRightLogical, LoopOver2<W>([](W x, W y, int bits) { return ShiftRightLogical(x, y, bits); })},
    {HloOpcode::kSubtract,
     LoopOver2<W>([](W x, W y) { return static_cast<W>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y)); })},
    {HloOpcode::kXor, LoopOver2<W>([](W x, W y) { return x ^ y; })},
};

constexpr BinaryKernel<bool> kOr = LoopOver2<bool>([](bool x, bool y) { return x || y; });
constexpr BinaryKernel<bool> kAnd = LoopOver2<bool>([](bool x, bool y) { return x && y; });
constexpr OpcodeMap<BinaryKernel<bool>> kPredBinary = {
    {HloOpcode::kAdd, kOr},
    {HloOpcode::kAnd, kAnd},
    {HloOpcode::kMaximum, kOr},
    {HloOpcode::kMinimum, kAnd},
    {HloOpcode::kMultiply, kAnd},
    {HloOpcode::kOr, kOr},
    {HloOpcode::kXor, LoopOver2<bool>([](bool x, bool y) { return x != y; })},
};

static_assert(CoversFamily(HloFamily::kUnary, kInt,
                           [](HloOpcode opcode) { return kIntegerUnary<int64_t>[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kInt,
                           [](HloOpcode opcode) { return kIntegerBinary<int64_t>[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kBool, [](HloOpcode opcode) { return kPredBinary[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");

}  // namespace

template <>
UnaryKernel<int64_t> FindUnaryKernel<int64_t>(HloOpcode opcode) {
  return kIntegerUnary<int64_t>[opcode];
}
template <>
UnaryKernel<uint64_t> FindUnaryKernel<uint64_t>(HloOpcode opcode) {
  return kIntegerUnary<uint64_t>[opcode];
}
template <>
UnaryKernel<bool> FindUnaryKernel<bool>(HloOpcode opcode) {
  if (opcode == HloOpcode::kNot) return LoopOver1<bool>([](bool x) { return !x; });
  return nullptr;
}
template <>
BinaryKernel<int64_t> FindBinaryKernel<int64_t>(HloOpcode opcode) {
  return kIntegerBinary<int64_t>[opcode];
}
template <>
BinaryKernel<uint64_t> FindBinaryKernel<uint64_t>(HloOpcode opcode) {
  return kIntegerBinary<uint64_t>[opcode];
}
template <>
BinaryKernel<bool> FindBinaryKernel<bool>(HloOpcode opcode) {
  return kPredBinary[opcode];
}

}  // namespace hilo
