// sin and cos: |x| = k pi + r (sin) or (k + 1/2) pi + r (cos), |r| <= pi / 2, and one polynomial sin r = r + r^3
// S(r^2); the sign is the parity of k. tan: k pi / 2 + r and the quotient of two short polynomials. pi is subtracted in
// three parts by fused multiply-adds, of which the first is exact; without them f64 takes four parts of 27 bits, and
// f32 reduces in f64. Arguments too large for that go to functions that have enough digits of pi: jit/circular.h, of
// f64 the C library. atan: a quotient in [0, 1] and t + t^3 A(t^2). asin: a^2 <= 1/4, else pi / 2 - 2 asin sqrt((1 - a)
// / 2).
#include "absl/strings/str_cat.h"
#include "backends/llvm/math/math_builder.h"
#include "backends/llvm/math/math_coefficients.h"
#include "backends/llvm/math/math_functions.h"
#include "llvm/IR/PatternMatch.h"

namespace hilo::codegen {

using llvm::Value;

namespace {

// pi as a sum, for each way of subtracting multiples of it. Only the last part may be long: its product is rounded.
constexpr double kPiF32[] = {0x1.921fb6p+1, -0x1.777a5cp-24, -0x1.ee59dap-49};
constexpr double kPiF64[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, -0x1.f1976b7ed8fbcp-109};
constexpr double kPiShort[] = {0x1.921fb54p+1, 0x1.10b461p-29, 0x1.a62633p-57, 0x1.45c06e0e68948p-85};
constexpr double kPiHigh = 0x1.921fb54442d18p+1;
constexpr double kPiLow = 0x1.1a62633145c07p-53;

struct Reduced {
  Value* r;
  Value* k;  // an integer, of which only the low bits count
};

// a - (k + half) p with p = pi * scale, scale a power of two, and k the integer that makes it smallest.
Reduced ReduceIn(MathBuilder& m, Value* a, double scale, double half, absl::Span<const double> pi) {
  constexpr double kInversePi = 0x1.45f306dc9c883p-2;
  Value* quotient = m.Fma(a, m.Coefficient(kInversePi / scale), m.F(-half));
  Value* rounded = m.Add(quotient, m.F(m.round_magic()));
  Value* multiple = m.Sub(rounded, m.F(m.round_magic()));
  if (half != 0) multiple = m.Add(multiple, m.F(half));
  Value* r = a;
  for (double part : pi) r = m.Fma(multiple, m.Coefficient(-part * scale), r);
  return {r, m.Bits(rounded)};
}

Reduced Reduce(MathBuilder& m, Value* a, double scale, double half) {
  if (m.target().has_fma) {
    return m.f64() ? ReduceIn(m, a, scale, half, kPiF64) : ReduceIn(m, a, scale, half, kPiF32);
  }
  if (m.f64()) return ReduceIn(m, a, scale, half, kPiShort);
  llvm::IRBuilderBase& b = m.ir();
  MathBuilder wide(b, m.WithElement(b.getDoubleTy()), m.target());
  const Reduced reduced = ReduceIn(wide, b.CreateFPExt(a, wide.type()), scale, half, kPiShort);
  return {b.CreateFPTrunc(reduced.r, m.type()), b.CreateTrunc(reduced.k, m.bits_type())};
}

// Where the multiples above are no longer exact.
Value* IsHuge(MathBuilder& m, Value* a) { return m.Gt(a, m.F(0x1p16, m.target().has_fma ? 0x1p30 : 0x1p24)); }

// Returns `value`, but of huge magnitudes `a` of `x` what the library's function does: that of f64, or of f32 ("f").
Value* OrLibrary(MathBuilder& m, Value* value, Value* a, Value* x, absl::string_view symbol) {
  const bool is_f32 = !m.f64() && m.target().has_circular_f32;
  return m.OrCall(value, IsHuge(m, a), absl::StrCat(symbol, is_f32 ? "f" : ""), {x}, /*symbol_has_own_type=*/is_f32);
}

// r + r^3 P(r^2)
Value* OddPoly(MathBuilder& m, Value* r, absl::Span<const double> coefficients) {
  Value* z = m.Mul(r, r);
  return m.Fma(m.Mul(r, z), m.Poly(z, coefficients), r);
}

Value* SinOfReduced(MathBuilder& m, Value* r) { return m.f64() ? OddPoly(m, r, kSinF64) : OddPoly(m, r, kSinF32); }
Value* AtanOfUnit(MathBuilder& m, Value* t) { return m.f64() ? OddPoly(m, t, kAtanF64) : OddPoly(m, t, kAtanF32); }
Value* AsinOfHalf(MathBuilder& m, Value* t) { return m.f64() ? OddPoly(m, t, kAsinF64) : OddPoly(m, t, kAsinF32); }

// high + low = multiple of pi, in the type of m, minus `angle` (or plus).
Value* PiTimes(MathBuilder& m, double multiple, Value* angle, bool minus) {
  const double high = m.f64() ? kPiHigh * multiple : static_cast<double>(static_cast<float>(kPiHigh * multiple));
  const double low = m.f64() ? kPiLow * multiple : kPiHigh * multiple - high;
  Value* rest = minus ? m.Sub(m.F(low), angle) : m.Add(m.F(low), angle);
  return m.Add(m.F(high), rest);
}

}  // namespace

Value* EmitSin(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  const Reduced reduced = Reduce(m, a, 1, 0);
  Value* sign = m.ir().CreateXor(m.SignBits(x), m.SignOfParity(reduced.k));
  Value* value = m.FlipSign(SinOfReduced(m, reduced.r), sign);
  return OrLibrary(m, value, a, x, "hilo_math_sin");
}

Value* EmitCos(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  const Reduced reduced = Reduce(m, a, 1, 0.5);
  // cos((k + 1/2) pi + r) = -(-1)^k sin r
  Value* value = m.Neg(m.FlipSign(SinOfReduced(m, reduced.r), m.SignOfParity(reduced.k)));
  return OrLibrary(m, value, a, x, "hilo_math_cos");
}

Value* EmitTan(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  const Reduced reduced = Reduce(m, a, 0.5, 0);
  Value* z = m.Mul(reduced.r, reduced.r);
  Value* sine = m.f64() ? OddPoly(m, reduced.r, kSinQuarterF64) : OddPoly(m, reduced.r, kSinQuarterF32);
  Value* poly = m.f64() ? m.Poly(z, kCosQuarterF64) : m.Poly(z, kCosQuarterF32);
  Value* cosine = m.Fma(m.Mul(z, z), poly, m.Fma(z, m.F(-0.5), m.F(1)));
  // tan(r + pi / 2) = -cos r / sin r
  Value* odd = m.ir().CreateICmpNE(m.ir().CreateAnd(reduced.k, m.I(1)), m.I(0));
  Value* quotient = m.Div(m.Select(odd, cosine, sine), m.Select(odd, m.Neg(sine), cosine));
  Value* value = m.FlipSign(quotient, m.SignBits(x));
  return OrLibrary(m, value, a, x, "hilo_math_tan");
}

Value* EmitAtan(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  Value* steep = m.Gt(a, m.F(1));
  Value* angle = AtanOfUnit(m, m.Select(steep, m.Div(m.F(1), a), a));
  return m.CopySign(m.Select(steep, PiTimes(m, 0.5, angle, true), angle), x);
}

Value* EmitAtan2(MathBuilder& m, Value* y, Value* x) {
  if (llvm::PatternMatch::match(x, llvm::PatternMatch::m_SpecificFP(1))) return EmitAtan(m, y);
  Value* ax = m.Abs(x);
  Value* ay = m.Abs(y);
  Value* steep = m.Gt(ay, ax);
  Value* large = m.Select(steep, ay, ax);
  Value* small = m.Select(steep, ax, ay);
  Value* t = m.Div(small, large);
  // The quotients that are 0 / 0 and inf / inf.
  t = m.Select(m.Eq(small, large), m.Select(m.Eq(large, m.F(0)), m.F(0), m.F(1)), t);
  Value* angle = AtanOfUnit(m, t);
  angle = m.Select(steep, PiTimes(m, 0.5, angle, true), angle);
  Value* left = m.ir().CreateICmpSLT(m.Bits(x), m.I(0));  // -0 is left as well
  angle = m.Select(left, PiTimes(m, 1, angle, true), angle);
  return m.Select(m.ir().CreateFCmpUNO(x, y), m.NaN(), m.CopySign(angle, y));
}

Value* EmitAsin(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  Value* far = m.Gt(a, m.F(0.5));
  Value* root = m.Sqrt(m.Fma(a, m.F(-0.5), m.F(0.5)));  // exact before the root; NaN beyond 1
  Value* angle = AsinOfHalf(m, m.Select(far, root, a));
  return m.CopySign(m.Select(far, PiTimes(m, 0.5, m.Add(angle, angle), true), angle), x);
}

Value* EmitAcos(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  Value* far = m.Gt(a, m.F(0.5));
  Value* root = m.Sqrt(m.Fma(a, m.F(-0.5), m.F(0.5)));
  Value* angle = AsinOfHalf(m, m.Select(far, root, a));
  Value* twice = m.Add(angle, angle);
  Value* outer = m.Select(m.Lt(x, m.F(0)), PiTimes(m, 1, twice, true), twice);
  return m.Select(far, outer, PiTimes(m, 0.5, m.CopySign(angle, x), true));
}

}  // namespace hilo::codegen
