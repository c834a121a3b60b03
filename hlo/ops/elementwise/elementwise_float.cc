// Element-wise ops in float and double, in the words of <cmath>.
#include <cmath>
#include <type_traits>

#include "hlo/ops/elementwise/elementwise_kernels.h"

namespace hilo {
namespace {

template <typename W>
W Sign(W x) {
  return x > 0 ? W(1) : x < 0 ? W(-1) : x;  // zeros keep their sign, NaN stays
}

// 1 / (1 + e^-x), in the form whose exponential does not overflow.
template <typename W>
W Logistic(W x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const W e = std::exp(x);
  return e / (1 + e);
}

// The library's double functions lose bits for huge arguments that are close to a multiple of pi / 2.
template <typename W>
using Circular = std::conditional_t<std::is_same_v<W, double>, long double, W>;

template <typename W>
UnaryKernel<W> FindFloatUnary(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAbs: return LoopOver1<W>([](W x) { return std::fabs(x); });
    case HloOpcode::kAcos: return LoopOver1<W>([](W x) { return std::acos(x); });
    case HloOpcode::kAcosh: return LoopOver1<W>([](W x) { return std::acosh(x); });
    case HloOpcode::kAsin: return LoopOver1<W>([](W x) { return std::asin(x); });
    case HloOpcode::kAsinh: return LoopOver1<W>([](W x) { return std::asinh(x); });
    case HloOpcode::kAtanh: return LoopOver1<W>([](W x) { return std::atanh(x); });
    case HloOpcode::kCbrt: return LoopOver1<W>([](W x) { return std::cbrt(x); });
    case HloOpcode::kCeil: return LoopOver1<W>([](W x) { return std::ceil(x); });
    case HloOpcode::kCos: return LoopOver1<W>([](W x) { return static_cast<W>(std::cos(Circular<W>(x))); });
    case HloOpcode::kCosh: return LoopOver1<W>([](W x) { return std::cosh(x); });
    case HloOpcode::kErf: return LoopOver1<W>([](W x) { return std::erf(x); });
    case HloOpcode::kExp: return LoopOver1<W>([](W x) { return std::exp(x); });
    case HloOpcode::kExpm1: return LoopOver1<W>([](W x) { return std::expm1(x); });
    case HloOpcode::kFloor: return LoopOver1<W>([](W x) { return std::floor(x); });
    case HloOpcode::kImag: return LoopOver1<W>([](W) { return W(0); });
    case HloOpcode::kLog: return LoopOver1<W>([](W x) { return std::log(x); });
    case HloOpcode::kLog1p: return LoopOver1<W>([](W x) { return std::log1p(x); });
    case HloOpcode::kLogistic: return LoopOver1<W>([](W x) { return Logistic(x); });
    case HloOpcode::kNegate: return LoopOver1<W>([](W x) { return -x; });
    case HloOpcode::kReal: return LoopOver1<W>([](W x) { return x; });
    case HloOpcode::kRoundNearestAfz: return LoopOver1<W>([](W x) { return std::round(x); });
    case HloOpcode::kRoundNearestEven: return LoopOver1<W>([](W x) { return std::nearbyint(x); });
    case HloOpcode::kRsqrt: return LoopOver1<W>([](W x) { return 1 / std::sqrt(x); });
    case HloOpcode::kSign: return LoopOver1<W>([](W x) { return Sign(x); });
    case HloOpcode::kSin: return LoopOver1<W>([](W x) { return static_cast<W>(std::sin(Circular<W>(x))); });
    case HloOpcode::kSinh: return LoopOver1<W>([](W x) { return std::sinh(x); });
    case HloOpcode::kSqrt: return LoopOver1<W>([](W x) { return std::sqrt(x); });
    case HloOpcode::kTan: return LoopOver1<W>([](W x) { return static_cast<W>(std::tan(Circular<W>(x))); });
    case HloOpcode::kTanh: return LoopOver1<W>([](W x) { return std::tanh(x); });
    default: return nullptr;
  }
}

template <typename W>
BinaryKernel<W> FindFloatBinary(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAdd: return LoopOver2<W>([](W x, W y) { return x + y; });
    case HloOpcode::kAtan2: return LoopOver2<W>([](W x, W y) { return std::atan2(x, y); });
    case HloOpcode::kDivide: return LoopOver2<W>([](W x, W y) { return x / y; });
    case HloOpcode::kMaximum: return LoopOver2<W>([](W x, W y) { return MaximumOf(x, y); });
    case HloOpcode::kMinimum: return LoopOver2<W>([](W x, W y) { return MinimumOf(x, y); });
    case HloOpcode::kMultiply: return LoopOver2<W>([](W x, W y) { return x * y; });
    case HloOpcode::kPower: return LoopOver2<W>([](W x, W y) { return std::pow(x, y); });
    case HloOpcode::kRemainder: return LoopOver2<W>([](W x, W y) { return std::fmod(x, y); });
    case HloOpcode::kSubtract: return LoopOver2<W>([](W x, W y) { return x - y; });
    default: return nullptr;
  }
}

}  // namespace

template <>
UnaryKernel<float> FindUnaryKernel<float>(HloOpcode opcode) {
  return FindFloatUnary<float>(opcode);
}
template <>
UnaryKernel<double> FindUnaryKernel<double>(HloOpcode opcode) {
  return FindFloatUnary<double>(opcode);
}
template <>
BinaryKernel<float> FindBinaryKernel<float>(HloOpcode opcode) {
  return FindFloatBinary<float>(opcode);
}
template <>
BinaryKernel<double> FindBinaryKernel<double>(HloOpcode opcode) {
  return FindFloatBinary<double>(opcode);
}

}  // namespace hilo
