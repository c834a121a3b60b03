// Element-wise ops on complex numbers. std::complex has most of them, correct at the edges
// (infinities, zeros, branch cuts) as C's Annex G requires; the others are written so that they neither
// cancel nor overflow early. Functions are computed in the next wider precision and rounded once: the
// library's own are off by up to 5 units of the last place.
#include <cmath>
#include <complex>
#include <limits>

#include "hlo/ops/elementwise/elementwise_kernels.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

template <typename W>
using Real = typename W::value_type;
template <typename W>
using Wider = std::complex<std::conditional_t<std::is_same_v<W, complex64>, double, long double>>;

template <typename W, typename F>
constexpr UnaryKernel<W> InWider(F) {
  return LoopOver1<W>([](W x) { return static_cast<W>(F{}(Wider<W>(x))); });
}

template <typename W>
W Cbrt(W x) {
  if (x == W(0)) return x;
  return std::polar(std::cbrt(std::abs(x)), std::arg(x) / 3);
}
// exp(a + bi) - 1 = (expm1(a) cos b - 2 sin^2(b/2)) + i exp(a) sin b: no cancellation for small a
// and b. The real part of a zero is +0, as that of exp(0) - 1.
template <typename W>
W Expm1(W x) {
  const Real<W> a = x.real(), b = x.imag();
  if (b == 0) return W(std::expm1(a) + 0, b);
  if (!std::isfinite(a) || !std::isfinite(b)) return std::exp(x) - W(1);
  const Real<W> half = std::sin(b / 2);
  return W(std::expm1(a) * std::cos(b) - 2 * half * half + 0, std::exp(a) * std::sin(b));
}
// |1 + a + bi|^2 = 1 + a (2 + a) + b^2.
template <typename W>
W Log1p(W x) {
  const Real<W> a = x.real(), b = x.imag();
  if (std::fabs(a) > Real<W>(0.5) || std::fabs(b) > Real<W>(0.5) || a != a || b != b) return std::log(W(1 + a, b));
  return W(std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a));
}
// By the half plane where exp does not overflow. An infinite imaginary part is no angle: exp is zero there for a real
// part of -infinity, but the function is not a number.
template <typename W>
W ComplexLogistic(W x) {
  constexpr Real<W> kNan = std::numeric_limits<Real<W>>::quiet_NaN();
  if (!std::isfinite(x.imag())) return W(kNan, kNan);
  if (x.real() >= 0) return W(1) / (W(1) + std::exp(-x));
  const W e = std::exp(x);
  return e / (W(1) + e);
}
template <typename W>
W ComplexSign(W x) {
  if (x == W(0)) return x;
  const Real<W> modulus = std::abs(x);
  return W(x.real() / modulus, x.imag() / modulus);
}
// x^0 and 1^y are 1; 0^y is 0 where the real part of y is above zero, else no number; real powers of infinity on the
// real axis are 0 or infinite.
template <typename W>
W ComplexPower(W x, W y) {
  constexpr Real<W> kInfinity = std::numeric_limits<Real<W>>::infinity(),
                    kNan = std::numeric_limits<Real<W>>::quiet_NaN();
  if (y == W(0) || x == W(1)) return W(1);
  if (x == W(0)) return y.real() > 0 && std::isfinite(y.imag()) ? W(0) : W(kNan, kNan);
  if (x == W(kInfinity) && y.imag() == 0 && y.real() == y.real()) return y.real() > 0 ? W(kInfinity) : W(0);
  return std::pow(x, y);
}
// The complex continuation of atan2(y, x): -i log((x + iy) / sqrt(x^2 + y^2)).
template <typename W>
W Atan2(W y, W x) {
  const W quotient = (x + W(0, 1) * y) / std::sqrt(x * x + y * y);
  const W log = std::log(quotient);
  return W(log.imag(), -log.real());
}

template <typename W>
constexpr OpcodeMap<UnaryKernel<W>> kComplexUnary = {
    {HloOpcode::kAcos, InWider<W>([](Wider<W> x) { return std::acos(x); })},
    {HloOpcode::kAcosh, InWider<W>([](Wider<W> x) { return std::acosh(x); })},
    {HloOpcode::kAsin, InWider<W>([](Wider<W> x) { return std::asin(x); })},
    {HloOpcode::kAsinh, InWider<W>([](Wider<W> x) { return std::asinh(x); })},
    {HloOpcode::kAtanh, InWider<W>([](Wider<W> x) { return std::atanh(x); })},
    {HloOpcode::kCbrt, InWider<W>([](Wider<W> x) { return Cbrt(x); })},
    {HloOpcode::kCos, InWider<W>([](Wider<W> x) { return std::cos(x); })},
    {HloOpcode::kCosh, InWider<W>([](Wider<W> x) { return std::cosh(x); })},
    {HloOpcode::kExp, InWider<W>([](Wider<W> x) { return std::exp(x); })},
    {HloOpcode::kExpm1, InWider<W>([](Wider<W> x) { return Expm1(x); })},
    {HloOpcode::kLog, InWider<W>([](Wider<W> x) { return std::log(x); })},
    {HloOpcode::kLog1p, InWider<W>([](Wider<W> x) { return Log1p(x); })},
    {HloOpcode::kLogistic, InWider<W>([](Wider<W> x) { return ComplexLogistic(x); })},
    {HloOpcode::kNegate, LoopOver1<W>([](W x) { return -x; })},
    {HloOpcode::kRsqrt, InWider<W>([](Wider<W> x) { return Wider<W>(1) / std::sqrt(x); })},
    {HloOpcode::kSign, InWider<W>([](Wider<W> x) { return ComplexSign(x); })},
    {HloOpcode::kSin, InWider<W>([](Wider<W> x) { return std::sin(x); })},
    {HloOpcode::kSinh, InWider<W>([](Wider<W> x) { return std::sinh(x); })},
    {HloOpcode::kSqrt, InWider<W>([](Wider<W> x) { return std::sqrt(x); })},
    {HloOpcode::kTan, InWider<W>([](Wider<W> x) { return std::tan(x); })},
    {HloOpcode::kTanh, InWider<W>([](Wider<W> x) { return std::tanh(x); })},
};

// The textbook product: infinities combined with NaN are not recovered, as operator* would.
template <typename W>
W Product(W x, W y) {
  return W(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
}

template <typename W>
constexpr OpcodeMap<BinaryKernel<W>> kComplexBinary = {
    {HloOpcode::kAdd, LoopOver2<W>([](W x, W y) { return x + y; })},
    {HloOpcode::kAtan2, LoopOver2<W>([](W x, W y) { return static_cast<W>(Atan2(Wider<W>(x), Wider<W>(y))); })},
    {HloOpcode::kDivide, LoopOver2<W>([](W x, W y) { return x / y; })},
    {HloOpcode::kMaximum, LoopOver2<W>([](W x, W y) { return MaximumOf(x, y); })},
    {HloOpcode::kMinimum, LoopOver2<W>([](W x, W y) { return MinimumOf(x, y); })},
    {HloOpcode::kMultiply, LoopOver2<W>([](W x, W y) { return Product(x, y); })},
    {HloOpcode::kPower, LoopOver2<W>([](W x, W y) { return static_cast<W>(ComplexPower(Wider<W>(x), Wider<W>(y))); })},
    {HloOpcode::kSubtract, LoopOver2<W>([](W x, W y) { return x - y; })},
};

static_assert(CoversFamily(HloFamily::kUnary, kComplex,
                           [](HloOpcode opcode) { return kComplexUnary<complex64>[opcode] != nullptr; },
                           {HloOpcode::kAbs, HloOpcode::kImag, HloOpcode::kReal}),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kComplex,
                           [](HloOpcode opcode) { return kComplexBinary<complex64>[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");

}  // namespace

template <>
UnaryKernel<complex64> FindUnaryKernel<complex64>(HloOpcode opcode) {
  return kComplexUnary<complex64>[opcode];
}
template <>
UnaryKernel<complex128> FindUnaryKernel<complex128>(HloOpcode opcode) {
  return kComplexUnary<complex128>[opcode];
}
template <>
BinaryKernel<complex64> FindBinaryKernel<complex64>(HloOpcode opcode) {
  return kComplexBinary<complex64>[opcode];
}
template <>
BinaryKernel<complex128> FindBinaryKernel<complex128>(HloOpcode opcode) {
  return kComplexBinary<complex128>[opcode];
}

}  // namespace hilo
