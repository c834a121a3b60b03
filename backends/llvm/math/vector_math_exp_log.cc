// exp: x = n ln2 + r with |r| <= ln2 / 2, and e^r - 1 = r + r^2 Q(r). log: x = 2^e m with m in [sqrt 1/2, sqrt 2), f =
// m - 1. In f32, log m = f - f^2/2 + f^3 P(f); in f64, where that takes twenty terms, s = f / (2 + f) and log m = 2 s +
// s^3 P(s^2). ln2 is a sum of two numbers, the first so short that its product with n is exact even without fused
// multiply-add.
#include <vector>

#include "absl/types/span.h"
#include "backends/llvm/math/math_builder.h"
#include "backends/llvm/math/math_coefficients.h"
#include "backends/llvm/math/math_functions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::codegen {

using llvm::Value;

namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
double Ln2High(const MathBuilder& m) { return m.Pick(0x1.62e4p-1, 0x1.62e42fefa3p-1); }
double Ln2Low(const MathBuilder& m) { return m.Pick(0x1.7f7d1cf79abcap-20, 0x1.3de6af278ece6p-42); }

// e ln2 + log(1 + f).
Value* LogOfParts(MathBuilder& m, Value* e, Value* f) {
  Value* tail = m.Mul(e, m.Coefficient(Ln2Low(m)));
  if (m.f64()) {
    Value* s = m.Div(f, m.Add(f, m.F(2)));
    Value* z = m.Mul(s, s);
    Value* rest = m.Sub(f, m.Mul(z, m.Poly(z, kAtanhF64)));
    tail = m.Sub(tail, m.Mul(s, rest));
  } else {
    Value* z = m.Mul(f, f);
    tail = m.Fma(m.Mul(f, z), m.Poly(f, kLogF32), tail);
    tail = m.Fma(z, m.Coefficient(-0.5), tail);
  }
  return m.Fma(e, m.Coefficient(Ln2High(m)), m.Add(f, tail));
}

// `value`, but log's results where x is zero, negative, infinite or NaN. LLVM would turn tests of both ends of the
// range, joined by "and", into a dozen integer operations.
Value* LogLimits(MathBuilder& m, Value* x, Value* value) {
  using FixUp = MathBuilder::FixUp;
  constexpr MathBuilder::FixUps kLimits = {.nan = FixUp::kQuietX,
                                           .zero = FixUp::kMinusInfinity,
                                           .one = FixUp::kKeep,
                                           .minus_infinity = FixUp::kNegativeNaN,
                                           .infinity = FixUp::kInfinity,
                                           .negative = FixUp::kNegativeNaN,
                                           .positive = FixUp::kKeep};
  if (Value* limited = m.FixUpByClass(value, x, kLimits); limited != nullptr) return limited;
  value = m.Select(m.Lt(x, m.Inf()), value, x);
  value = m.Select(m.Lt(x, m.F(0)), m.Neg(m.NaN()), value);
  return m.Select(m.Eq(x, m.F(0)), m.Neg(m.Inf()), value);
}

// The biased exponent e of 2^e m, m in [sqrt 1/2, sqrt 2), of a normal number with these bits.
Value* ExponentBits(MathBuilder& m, Value* bits) {
  const int64_t sqrt_half_bits = m.f64() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  return m.Lshr(m.IAdd(bits, m.I(m.one_bits() - sqrt_half_bits)), m.mantissa_bits());
}

// -e, of its bits.
Value* NegatedExponent(MathBuilder& m, Value* e_bits) {
  const int64_t magic_bits = m.f64() ? 0x4330000000000000 : 0x4b000000;  // 2^mantissa_bits
  const double magic = m.Pick(0x1p23 + 127, 0x1p52 + 1023);
  return m.Sub(m.F(magic), m.FromBits(m.IAdd(e_bits, m.I(magic_bits))));
}

}  // namespace

LogParts Decompose(MathBuilder& m, Value* x) {
  Value* bits = m.Bits(x);
  LogParts parts;
  parts.e_bits = ExponentBits(m, bits);
  Value* mantissa = m.IAdd(m.ISub(bits, m.Shl(parts.e_bits, m.mantissa_bits())), m.I(m.one_bits()));
  parts.f = m.Sub(m.FromBits(mantissa), m.F(1));
  parts.e = m.Neg(NegatedExponent(m, parts.e_bits));
  return parts;
}

ExpParts ReduceExp(MathBuilder& m, Value* x) {
  ExpParts parts;
  parts.rounded = m.Fma(x, m.Coefficient(kLog2E), m.F(m.round_magic()));
  parts.n = m.Sub(parts.rounded, m.F(m.round_magic()));
  Value* r = m.Fma(parts.n, m.Coefficient(-Ln2High(m)), x);
  r = m.Fma(parts.n, m.Coefficient(-Ln2Low(m)), r);
  Value* poly = m.f64() ? m.Poly(r, kExpF64) : m.Poly(r, kExpF32);
  parts.q = m.Fma(m.Mul(r, r), poly, r);
  return parts;
}

Value* Expm1OfNegative(MathBuilder& m, Value* x) {
  Value* rounded = m.Fma(x, m.Coefficient(kLog2E), m.F(m.round_magic()));
  Value* n = m.Sub(rounded, m.F(m.round_magic()));
  Value* r = m.Fma(n, m.Coefficient(-kLn2), x);  // the error of n ln2 is multiplied by 2^n
  Value* poly = m.f64() ? m.Poly(r, kExpF64) : m.Poly(r, kExpF32);
  Value* q = m.Fma(m.Mul(r, r), poly, r);
  Value* scale = m.FromBits(m.IAdd(m.Shl(m.Bits(rounded), m.mantissa_bits()), m.I(m.one_bits())));
  return m.Fma(scale, q, m.Sub(scale, m.F(1)));
}

Value* MinusTanhOfPositive(MathBuilder& m, Value* a) {
  // -2 a = n ln2 - 2 r, and q = (e^(-2 r) - 1) / 2: both t and 2 + t are one step from q.
  Value* rounded = m.Fma(a, m.Coefficient(-2 * kLog2E), m.F(m.round_magic()));
  Value* n = m.Sub(rounded, m.F(m.round_magic()));
  Value* r = m.Fma(n, m.Coefficient(kLn2 / 2), a);
  const absl::Span<const double> exp = m.f64() ? absl::MakeConstSpan(kExpF64) : absl::MakeConstSpan(kExpF32);
  std::vector<double> coefficients(exp.begin(), exp.end());
  double factor = 2;
  for (double& coefficient : coefficients) {
    coefficient *= factor;
    factor *= -2;
  }
  Value* q = m.Fma(m.Mul(r, r), m.Poly(r, coefficients), m.Neg(r));
  Value* exponent = m.Shl(m.Bits(rounded), m.mantissa_bits());
  Value* scale = m.FromBits(m.IAdd(exponent, m.I(m.one_bits())));  // 2^n
  Value* twice = m.FromBits(m.IAdd(exponent, m.I(m.one_bits() + (int64_t{1} << m.mantissa_bits()))));
  Value* t = m.Fma(twice, q, m.Sub(scale, m.F(1)));
  return m.Div(t, m.Fma(twice, q, m.Add(scale, m.F(1))));
}

namespace {

// e^x of f32, from the machine's 2^y: x log2(e) = y + r, where y is rounded, and e^x = 2^y (1 + r ln2). 2^y is within 2
// units in the last place, and the two roundings behind it add one.
Value* ExpByExp2(MathBuilder& m, Value* x) {
  constexpr auto kRoundedLog2E = static_cast<float>(kLog2E);
  // Beyond these bounds the result is infinite or zero for all x. An infinite y would have no rest.
  x = m.ir().CreateBinaryIntrinsic(llvm::Intrinsic::minimum, x, m.F(89));
  x = m.ir().CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, m.F(-104));
  Value* y = m.Mul(x, m.F(kRoundedLog2E));
  Value* rest = m.Fma(x, m.F(kRoundedLog2E), m.Neg(y));
  rest = m.Fma(x, m.F(kLog2E - static_cast<double>(kRoundedLog2E)), rest);
  Value* power = m.ir().CreateIntrinsic(m.type(), llvm::Intrinsic::nvvm_ex2_approx_f, {y});
  return m.Mul(power, m.Fma(rest, m.F(kLn2), m.F(1)));
}

bool UsesExp2(const MathBuilder& m) { return m.target().has_exp2_f32 && !m.f64(); }

}  // namespace

Value* EmitExp(MathBuilder& m, Value* x) {
  if (UsesExp2(m)) return ExpByExp2(m, x);
  // Beyond these bounds the result is infinite or zero for all x.
  x = m.AtLeast(m.AtMost(x, m.Pick(89, 710)), m.Pick(-104, -746));
  const ExpParts parts = ReduceExp(m, x);
  return m.ScaleByPowerOfTwo(m.Add(parts.q, m.F(1)), parts.n, parts.rounded);
}

Value* EmitExpm1(MathBuilder& m, Value* x) {
  Value* bounded = m.AtLeast(m.AtMost(x, m.Pick(89, 710)), m.Pick(-18, -38));
  const ExpParts parts = ReduceExp(m, bounded);
  // Half of everything, because 2^n alone overflows first.
  const int64_t half_bits = m.one_bits() - (int64_t{1} << m.mantissa_bits());
  Value* scale = m.FromBits(m.IAdd(m.Shl(m.Bits(parts.rounded), m.mantissa_bits()), m.I(half_bits)));
  Value* half = m.Fma(scale, parts.q, m.Sub(scale, m.F(0.5)));
  Value* tiny = m.Lt(m.Abs(x), m.F(0x1p-26, 0x1p-55));  // also keeps -0 and what halving would round
  return m.Select(tiny, x, m.Add(half, half));
}

Value* EmitLog(MathBuilder& m, Value* x) {
  Value* subnormal = m.Lt(x, m.F(m.min_normal()));
  Value* scaled = m.Select(subnormal, m.Mul(x, m.F(0x1p24, 0x1p54)), x);
  const LogParts parts = Decompose(m, scaled);
  Value* e = m.Sub(parts.e, m.Select(subnormal, m.F(24, 54), m.F(0)));
  return LogLimits(m, x, LogOfParts(m, e, parts.f));
}

Value* EmitLog1p(MathBuilder& m, Value* x) {
  Value* u = m.Add(x, m.F(1));
  LogParts parts{};
  Value* minus_e = NegatedExponent(m, ExponentBits(m, m.Bits(u)));
  if (Value* scale = m.ScaleDirectly(m.F(1), minus_e); scale != nullptr) {
    // f = (1 + x) 2^-e - 1, rounded once: 2^-e - 1 is exact, or -1 where 1 is at most half a unit of x's last place.
    parts.e = m.Neg(minus_e);
    parts.f = m.Fma(x, scale, m.Sub(scale, m.F(1)));
  } else {
    parts = Decompose(m, u);
    Value* lost = m.Sub(x, m.Sub(u, m.F(1)));  // what rounding 1 + x took away, exactly where it matters
    // (u + lost) 2^-e - 1 = f + lost 2^-e. e is at most 128 (1024), where 2^-e is taken as 0: nothing is lost of such
    // x.
    Value* scale_bits = m.ISub(m.I(2 * (m.f64() ? 1023 : 127)), parts.e_bits);
    scale_bits = m.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smax, scale_bits, m.I(0));
    parts.f = m.Fma(lost, m.FromBits(m.Shl(scale_bits, m.mantissa_bits())), parts.f);
  }
  Value* value = LogLimits(m, u, LogOfParts(m, parts.e, parts.f));
  using FixUp = MathBuilder::FixUp;
  constexpr MathBuilder::FixUps kZero = {.nan = FixUp::kKeep,
                                         .zero = FixUp::kX,
                                         .one = FixUp::kKeep,
                                         .minus_infinity = FixUp::kKeep,
                                         .infinity = FixUp::kKeep,
                                         .negative = FixUp::kKeep,
                                         .positive = FixUp::kKeep};
  if (Value* signed_zero = m.FixUpByClass(value, x, kZero); signed_zero != nullptr) return signed_zero;
  return m.Select(m.Eq(x, m.F(0)), x, value);
}

Value* EmitLogistic(MathBuilder& m, Value* x) {
  // 1 / (1 + e^-|x|), times e^-|x| on the negative side: nothing overflows and small results stay precise.
  Value* magnitude = m.AtMost(m.Abs(x), m.Pick(104, 746));
  Value* e = nullptr;
  if (UsesExp2(m)) {
    e = ExpByExp2(m, m.Neg(magnitude));
  } else {
    const ExpParts parts = ReduceExp(m, m.Neg(magnitude));
    e = m.ScaleByPowerOfTwo(m.Add(parts.q, m.F(1)), parts.n, parts.rounded);
  }
  return m.Div(m.Select(m.Lt(x, m.F(0)), e, m.F(1)), m.Add(e, m.F(1)));
}

}  // namespace hilo::codegen
