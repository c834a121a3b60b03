// Element-wise ops in float and double, in the words of <cmath>.
#include <cmath>
#include <type_traits>

#include "hlo/ops/elementwise/elementwise_kernels.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

template <typename W>
W FloatSign(W x) {
  return x > 0 ? W(1) : x < 0 ? W(-1) : x;  // zeros keep their sign, NaN stays
}

// 1 / (1 + e^-x), in the form whose exponential does not overflow.
template <typename W>
W FloatLogistic(W x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const W e = std::exp(x);
  return e / (1 + e);
}

// The library's double functions lose bits for huge arguments that are close to a multiple of pi / 2.
template <typename W>
using Circular = std::conditional_t<std::is_same_v<W, double>, long double, W>;

template <typename W>
constexpr OpcodeMap<UnaryKernel<W>> kFloatUnary = {
    {HloOpcode::kAbs, LoopOver1<W>([](W x) { return std::fabs(x); })},
    {HloOpcode::kAcos, LoopOver1<W>([](W x) { return std::acos(x); })},
    {HloOpcode::kAcosh, LoopOver1<W>([](W x) { return std::acosh(x); })},
    {HloOpcode::kAsin, LoopOver1<W>([](W x) { return std::asin(x); })},
    {HloOpcode::kAsinh, LoopOver1<W>([](W x) { return std::asinh(x); })},
    {HloOpcode::kAtanh, LoopOver1<W>([](W x) { return std::atanh(x); })},
    {HloOpcode::kCbrt, LoopOver1<W>([](W x) { return std::cbrt(x); })},
    {HloOpcode::kCeil, LoopOver1<W>([](W x) { return std::ceil(x); })},
    {HloOpcode::kCos, LoopOver1<W>([](W x) { return static_cast<W>(std::cos(Circular<W>(x))); })},
    {HloOpcode::kCosh, LoopOver1<W>([](W x) { return std::cosh(x); })},
    {HloOpcode::kErf, LoopOver1<W>([](W x) { return std::erf(x); })},
    {HloOpcode::kExp, LoopOver1<W>([](W x) { return std::exp(x); })},
    {HloOpcode::kExpm1, LoopOver1<W>([](W x) { return std::expm1(x); })},
    {HloOpcode::kFloor, LoopOver1<W>([](W x) { return std::floor(x); })},
    {HloOpcode::kImag, LoopOver1<W>([](W) { return W(0); })},
    {HloOpcode::kLog, LoopOver1<W>([](W x) { return std::log(x); })},
    {HloOpcode::kLog1p, LoopOver1<W>([](W x) { return std::log1p(x); })},
    {HloOpcode::kLogistic, LoopOver1<W>([](W x) { return FloatLogistic(x); })},
    {HloOpcode::kNegate, LoopOver1<W>([](W x) { return -x; })},
    {HloOpcode::kReal, LoopOver1<W>([](W x) { return x; })},
    {HloOpcode::kRoundNearestAfz, LoopOver1<W>([](W x) { return std::round(x); })},
    {HloOpcode::kRoundNearestEven, LoopOver1<W>([](W x) { return std::nearbyint(x); })},
    {HloOpcode::kRsqrt, LoopOver1<W>([](W x) { return 1 / std::sqrt(x); })},
    {HloOpcode::kSign, LoopOver1<W>([](W x) { return FloatSign(x); })},
    {HloOpcode::kSin, LoopOver1<W>([](W x) { return static_cast<W>(std::sin(Circular<W>(x))); })},
    {HloOpcode::kSinh, LoopOver1<W>([](W x) { return std::sinh(x); })},
    {HloOpcode::kSqrt, LoopOver1<W>([](W x) { return std::sqrt(x); })},
    {HloOpcode::kTan, LoopOver1<W>([](W x) { return static_cast<W>(std::tan(Circular<W>(x))); })},
    {HloOpcode::kTanh, LoopOver1<W>([](W x) { return std::tanh(x); })},
};

template <typename W>
constexpr OpcodeMap<BinaryKernel<W>> kFloatBinary = {
    {HloOpcode::kAdd, LoopOver2<W>([](W x, W y) { return x + y; })},
    {HloOpcode::kAtan2, LoopOver2<W>([](W x, W y) { return std::atan2(x, y); })},
    {HloOpcode::kDivide, LoopOver2<W>([](W x, W y) { return x / y; })},
    {HloOpcode::kMaximum, LoopOver2<W>([](W x, W y) { return MaximumOf(x, y); })},
    {HloOpcode::kMinimum, LoopOver2<W>([](W x, W y) { return MinimumOf(x, y); })},
    {HloOpcode::kMultiply, LoopOver2<W>([](W x, W y) { return x * y; })},
    {HloOpcode::kPower, LoopOver2<W>([](W x, W y) { return std::pow(x, y); })},
    {HloOpcode::kRemainder, LoopOver2<W>([](W x, W y) { return std::fmod(x, y); })},
    {HloOpcode::kSubtract, LoopOver2<W>([](W x, W y) { return x - y; })},
};

static_assert(CoversFamily(HloFamily::kUnary, kFloat,
                           [](HloOpcode opcode) { return kFloatUnary<float>[opcode] != nullptr; },
                           {HloOpcode::kIsFinite}),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kFloat,
                           [](HloOpcode opcode) { return kFloatBinary<float>[opcode] != nullptr; },
                           {HloOpcode::kComplexNumber}),
              "an op of the table that takes these types has no row above");

}  // namespace

template <>
UnaryKernel<float> FindUnaryKernel<float>(HloOpcode opcode) {
  return kFloatUnary<float>[opcode];
}
template <>
UnaryKernel<double> FindUnaryKernel<double>(HloOpcode opcode) {
  return kFloatUnary<double>[opcode];
}
template <>
BinaryKernel<float> FindBinaryKernel<float>(HloOpcode opcode) {
  return kFloatBinary<float>[opcode];
}
template <>
BinaryKernel<double> FindBinaryKernel<double>(HloOpcode opcode) {
  return kFloatBinary<double>[opcode];
}

}  // namespace hilo
