// Functions of the dialect chlo that HLO has no opcode for. In artifacts they come with a decomposition; in text they
// do not, so here is one.
//
// Each is a separate computation that is called. Functions that are inexact in f32 are computed in f64: series and
// continued fractions instead of tables of coefficients for each type. The two that networks and random numbers are
// made of have polynomials for f32, and for what is narrower.
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/built_call.h"

namespace hilo::stablehlo {
namespace {

constexpr double kPi = 3.14159265358979323846;

// A number in the type and shape of `like`.
XlaOp Number(XlaOp like, double value) {
  const absl::StatusOr<Shape> shape = like.builder()->GetShape(like);
  if (!shape.ok()) return like.builder()->ReportError(shape.status());
  return Broadcast(ConstantLiteral(like.builder(), LiteralUtil::FromDouble(shape->element_type(), value)),
                   shape->dimensions());
}

bool IsComplex(XlaOp x) {
  const absl::StatusOr<Shape> shape = x.builder()->GetShape(x);
  return shape.ok() && IsComplexType(shape->element_type());
}

// A complex square is written so that it neither cancels nor overflows where its result does not.
XlaOp Square(XlaOp x) {
  if (!IsComplex(x)) return Mul(x, x);
  const XlaOp re = Real(x), im = Imag(x), product = Mul(re, im);
  return Complex(Mul(Sub(re, im), Add(re, im)), Add(product, product));
}
XlaOp Conjugate(XlaOp x) { return IsComplex(x) ? Complex(Real(x), Neg(Imag(x))) : x; }
XlaOp Arctangent(XlaOp x) { return Atan2(x, Number(x, 1)); }

// The neighbour of x in the direction of y: the bits of floats are in the order of their magnitudes.
XlaOp NextAfter(XlaOp x, XlaOp y) {
  const absl::StatusOr<Shape> shape = x.builder()->GetShape(x);
  if (!shape.ok()) return x.builder()->ReportError(shape.status());
  const PrimitiveType type = shape->element_type();
  const int bytes = PrimitiveTypeByteSize(type);
  const PrimitiveType integer = bytes == 8 ? S64 : bytes == 4 ? S32 : bytes == 2 ? S16 : S8;
  auto bits = [&](XlaOp value) { return BitcastConvertType(value, integer); };
  const XlaOp one = Number(bits(x), 1), zero = Number(x, 0);
  const XlaOp lowest = Broadcast(ConstantLiteral(x.builder(), LiteralUtil::MinValue(integer)), shape->dimensions());
  const XlaOp away = Eq(Lt(x, y), Gt(x, zero));
  const XlaOp moved = Select(away, Add(bits(x), one), Sub(bits(x), one));
  const XlaOp smallest = Select(Gt(y, zero), one, Or(one, lowest));
  const XlaOp next = BitcastConvertType(Select(Eq(x, zero), smallest, moved), type);
  const XlaOp is_nan = Or(Ne(x, x), Ne(y, y));
  return Select(is_nan, Add(x, y), Select(Eq(x, y), y, next));
}

// erfc(x) = 1 - erf(x) below 2; above, where that would cancel, the continued fraction exp(-x^2) / sqrt(pi) / (x + 1/2
// / (x + 2/2 / (x + ...))).
XlaOp ComplementaryError(XlaOp x) {
  constexpr int kTerms = 40;
  const XlaOp two = Number(x, 2);
  const XlaOp large = Max(x, two);
  XlaOp fraction = Number(x, 0);
  for (int n = kTerms; n >= 1; --n) fraction = Div(Number(x, n / 2.0), Add(large, fraction));
  const XlaOp tail = Div(Div(Exp(Neg(Mul(large, large))), Number(x, std::sqrt(kPi))), Add(large, fraction));
  // NaN compares as not large.
  return Select(Ge(x, two), tail, Sub(Number(x, 1), Erf(x)));
}

// Coefficients of x^0 first.
XlaOp Polynomial(XlaOp x, absl::Span<const double> coefficients) {
  XlaOp sum = Number(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = Add(Mul(sum, x), Number(x, coefficients[i]));
  return sum;
}

// In f32: erfc(x) = exp(-x^2) t P(t) from 1 on, with t = 2 / (2 + x); P was fitted to 3e-9. The square of the leading
// bits of x is exact, so no digits of the exponential are lost in it.
XlaOp ComplementaryErrorF32(XlaOp x) {
  constexpr double kZero = 12;  // erfc(12) is 0
  constexpr int64_t kLeadingBits = -(int64_t{1} << 12);
  const XlaOp one = Number(x, 1), two = Number(x, 2);
  const XlaOp large = Min(Max(x, one), Number(x, kZero));
  const XlaOp bits = BitcastConvertType(large, S32);
  const XlaOp high = BitcastConvertType(And(bits, Number(bits, kLeadingBits)), F32);
  const XlaOp exponential = Mul(Exp(Neg(Mul(high, high))), Exp(Neg(Mul(Sub(large, high), Add(large, high)))));
  const XlaOp t = Div(two, Add(large, two));
  const XlaOp scaled = Polynomial(t, {0.282085631, 0.282351567, 0.243753108, 0.196981931, -0.00124824473, 0.214229284,
                                      -0.395189583, 0.213674585, -0.036409992});
  return Select(Ge(x, one), Mul(exponential, Mul(t, scaled)), Sub(one, Erf(x)));
}

// In f32, after Giles, "Approximating the erfinv function": x P(w), with w = -log(1 - x^2).
XlaOp InverseErrorF32(XlaOp x) {
  const XlaOp one = Number(x, 1);
  const XlaOp w = Neg(Log(Mul(Sub(one, x), Add(one, x))));
  const XlaOp central =
      Polynomial(Sub(w, Number(x, 2.5)), {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087,
                                          -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  const XlaOp tail =
      Polynomial(Sub(Sqrt(w), Number(x, 3)), {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773,
                                              -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257});
  const XlaOp factor = Select(Lt(w, Number(x, 5)), central, tail);
  return Mul(x, Select(Eq(Abs(x), one), Number(x, std::numeric_limits<double>::infinity()), factor));
}

// An estimate by elementary functions (Winitzki), then steps of Newton's method on erf.
XlaOp InverseError(XlaOp x) {
  constexpr double a = 0.147;
  const XlaOp magnitude = Min(Abs(x), Number(x, 1 - std::numeric_limits<double>::epsilon() / 2));
  const XlaOp log = Log1p(Neg(Mul(magnitude, magnitude)));
  const XlaOp b = Add(Number(x, 2 / (kPi * a)), Mul(log, Number(x, 0.5)));
  XlaOp y = Sqrt(Sub(Sqrt(Sub(Mul(b, b), Mul(log, Number(x, 1 / a)))), b));
  for (int step = 0; step < 4; ++step) {
    // Near 1 the difference is of erfc, which keeps its digits there.
    const XlaOp near_one = Sub(Sub(Number(x, 1), magnitude), ComplementaryError(y));
    const XlaOp error = Select(Gt(magnitude, Number(x, 0.5)), near_one, Sub(Erf(y), magnitude));
    const XlaOp slope = Mul(Exp(Neg(Mul(y, y))), Number(x, 2 / std::sqrt(kPi)));
    const XlaOp ratio = Div(error, slope);
    // Halley's correction of Newton's step.
    y = Sub(y, Div(ratio, Sub(Number(x, 1), Mul(y, Neg(ratio)))));
  }
  const XlaOp infinity = Number(x, std::numeric_limits<double>::infinity());
  const XlaOp value =
      Select(Ge(Abs(x), Number(x, 1)), Select(Eq(Abs(x), Number(x, 1)), infinity, Number(x, std::nan(""))), y);
  return Select(Eq(x, Number(x, 0)), x, Select(Ne(x, x), x, Mul(Sign(x), value)));
}

// Numerators of Stirling's series: B(2k) / (2k (2k - 1)) and, for its derivative, B(2k) / (2k), with Bernoulli numbers
// B.
constexpr double kBernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};
constexpr int kShift = 10;  // arguments that the series takes are at least this

// log(gamma(x)) of x >= 1/2: gamma(x + 10) by Stirling's series, divided by x (x + 1) ... (x + 9).
XlaOp LogGammaOfPositive(XlaOp x) {
  const XlaOp y = Add(x, Number(x, kShift));
  XlaOp product = x;
  for (int k = 1; k < kShift; ++k) product = Mul(product, Add(x, Number(x, k)));
  const XlaOp square = Mul(y, y);
  XlaOp power = y, series = Number(x, 0);
  for (int k = 1; k <= 7; ++k) {
    series = Add(series, Div(Number(x, kBernoulli[k - 1] / (2.0 * k * (2.0 * k - 1))), power));
    power = Mul(power, square);
  }
  const XlaOp log = Log(y);
  const XlaOp stirling = Add(Add(Sub(Mul(Sub(y, Number(x, 0.5)), log), y), Number(x, 0.5 * std::log(2 * kPi))), series);
  // A large argument needs no shift, and its product would overflow.
  const XlaOp large = Gt(x, Number(x, 1e17));
  const XlaOp direct = Mul(x, Sub(Log(x), Number(x, 1)));
  return Select(large, direct, Sub(stirling, Log(product)));
}

// gamma(x) gamma(1 - x) = pi / sin(pi x).
XlaOp LogGamma(XlaOp x) {
  const XlaOp reflects = Lt(x, Number(x, 0.5));
  const XlaOp inner = LogGammaOfPositive(Select(reflects, Sub(Number(x, 1), x), x));
  const XlaOp part = Sub(Abs(x), Floor(Abs(x)));
  const XlaOp sine = Sin(Mul(Number(x, kPi), Min(part, Sub(Number(x, 1), part))));
  const XlaOp value = Select(reflects, Sub(Sub(Number(x, std::log(kPi)), Log(sine)), inner), inner);
  const XlaOp infinity = Number(x, std::numeric_limits<double>::infinity());
  return Select(Eq(Abs(x), infinity), infinity, value);
}

// digamma(x) = digamma(x + 10) - 1/x - 1/(x + 1) ... - 1/(x + 9); digamma(1 - x) - digamma(x) = pi / tan(pi x).
XlaOp Digamma(XlaOp x) {
  const XlaOp reflects = Lt(x, Number(x, 0.5));
  const XlaOp z = Select(reflects, Sub(Number(x, 1), x), x);
  const XlaOp y = Add(z, Number(x, kShift));
  XlaOp value = Sub(Log(y), Div(Number(x, 0.5), y));
  const XlaOp square = Mul(y, y);
  XlaOp power = square;
  for (int k = 1; k <= 7; ++k) {
    value = Sub(value, Div(Number(x, kBernoulli[k - 1] / (2.0 * k)), power));
    power = Mul(power, square);
  }
  for (int k = 0; k < kShift; ++k) value = Sub(value, Div(Number(x, 1), Add(z, Number(x, k))));
  const XlaOp part = Sub(x, RoundNearestEven(x));
  const XlaOp reflected = Sub(value, Div(Number(x, kPi), Tan(Mul(Number(x, kPi), part))));
  const XlaOp is_pole = And(Le(x, Number(x, 0)), Eq(x, Floor(x)));
  const XlaOp at_pole = Select(Eq(x, Number(x, 0)), Div(Number(x, -1), x), Number(x, std::nan("")));
  const XlaOp result = Select(is_pole, at_pole, Select(reflects, reflected, value));
  return Select(Eq(x, Number(x, std::numeric_limits<double>::infinity())), x, result);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

XlaOp IsInfinite(XlaOp x) { return Eq(Abs(x), Number(x, kInfinity)); }
XlaOp IsPositiveInfinity(XlaOp x) { return Eq(x, Number(x, kInfinity)); }
XlaOp IsNegativeInfinity(XlaOp x) { return Eq(x, Number(x, -kInfinity)); }

// exp(-|x|) I1(x). Below the bound by the power series, all of whose terms are positive; above by the asymptotic one,
// (1 - 3 / (8 x) - ...) / sqrt(2 pi x), whose term k is ((2 k - 1)^2 - 4) / (8 k x) times the one before.
XlaOp ScaledBessel1(XlaOp x) {
  constexpr double kBound = 30;
  constexpr int kTerms = 70, kAsymptoticTerms = 25;
  const XlaOp magnitude = Abs(x);
  const XlaOp small = Min(magnitude, Number(x, kBound)), large = Max(magnitude, Number(x, kBound));
  const XlaOp half = Mul(small, Number(x, 0.5)), square = Mul(half, half);
  XlaOp series = Number(x, 1);
  for (int k = kTerms; k >= 1; --k)
    series = Add(Number(x, 1), Mul(series, Mul(square, Number(x, 1.0 / (k * (k + 1.0))))));
  const XlaOp below = Mul(Exp(Neg(small)), Mul(half, series));
  const XlaOp inverse = Div(Number(x, 1), large);
  XlaOp tail = Number(x, 1);
  for (int k = kAsymptoticTerms; k >= 1; --k) {
    const double odd = 2.0 * k - 1;
    tail = Sub(Number(x, 1), Mul(tail, Mul(inverse, Number(x, (4 - odd * odd) / (8.0 * k)))));
  }
  const XlaOp above = Div(tail, Sqrt(Mul(Number(x, 2 * kPi), large)));
  const XlaOp value = Select(Lt(magnitude, Number(x, kBound)), below, above);
  return Select(Ne(x, x), x, Mul(Sign(x), value));
}

// The Hurwitz zeta function, sum of (q + k)^-x for k = 0, 1 ...: kShift terms as they are, the others by the formula of
// Euler and Maclaurin.
XlaOp Zeta(XlaOp x, XlaOp q) {
  // B(2j) / (2j)!, with Bernoulli numbers B.
  constexpr double kCoefficients[] = {1.0 / 12,
                                      -1.0 / 720,
                                      1.0 / 30240,
                                      -1.0 / 1209600,
                                      1.0 / 47900160,
                                      -691.0 / 1307674368000,
                                      1.0 / 74724249600,
                                      -3617.0 / 10670622842880000,
                                      43867.0 / 5109094217170944000};
  const XlaOp one = Number(x, 1), zero = Number(x, 0), two = Number(x, 2);
  XlaOp sum = zero, base = q;
  for (int k = 0; k < kShift; ++k) {
    sum = Add(sum, Pow(base, Neg(x)));
    base = Add(base, one);
  }
  const XlaOp power = Pow(base, Neg(x));
  sum = Add(sum, Add(Div(Mul(power, base), Sub(x, one)), Mul(power, Number(x, 0.5))));
  XlaOp factor = Div(Mul(x, power), base);
  const XlaOp square = Mul(base, base);
  double j = 0;
  for (const double coefficient : kCoefficients) {
    sum = Add(sum, Mul(factor, Number(x, coefficient)));
    ++j;
    factor = Div(Mul(factor, Mul(Add(x, Number(x, 2 * j - 1)), Add(x, Number(x, 2 * j)))), square);
  }
  // A power that underflows leaves the first term.
  sum = Select(Eq(Pow(base, Neg(x)), zero), Select(Ne(sum, sum), Pow(q, Neg(x)), sum), sum);
  const XlaOp infinity = Number(x, kInfinity), nan = Number(x, std::nan(""));
  const XlaOp is_whole = Eq(x, Floor(x)), is_even = Eq(Mul(two, Floor(Div(x, two))), x);
  const XlaOp is_pole = And(Le(q, zero), Eq(q, Floor(q)));
  XlaOp value = Select(And(Le(q, zero), Not(is_whole)), nan, sum);
  value = Select(Lt(x, one), nan, value);
  value = Select(is_pole, Select(is_even, infinity, nan), value);
  value = Select(Eq(x, one), infinity, value);
  return Select(Or(Ne(x, x), Ne(q, q)), nan, value);
}

// The derivative of order n of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
XlaOp Polygamma(XlaOp n, XlaOp x) {
  const XlaOp one = Number(x, 1), zero = Number(x, 0), two = Number(x, 2);
  const XlaOp next = Add(n, one);
  const XlaOp is_odd = Ne(Mul(two, Floor(Div(n, two))), n);
  const XlaOp value = Mul(Select(is_odd, one, Neg(one)), Mul(Exp(LogGamma(next)), Zeta(next, x)));
  const XlaOp is_order = And(And(Ge(n, zero), Lt(n, Number(x, kInfinity))), Eq(n, Floor(n)));
  return Select(is_order, Select(Eq(n, zero), Digamma(x), value), Number(x, std::nan("")));
}

// Of z = x + iy the number w with asin z = complex(atan2(x, Re w), sign(y) Im w), and acos likewise: after Hull,
// Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using exception handling", without its
// cases for numbers near the ends of the range, as it is computed in f64.
XlaOp AsinAcosKernel(XlaOp z) {
  const XlaOp x = Abs(Real(z)), y = Abs(Imag(z));
  const XlaOp zero = Number(x, 0), one = Number(x, 1), half = Number(x, 0.5);
  const XlaOp above = Add(x, one), below = Sub(x, one);
  const XlaOp r = Abs(Complex(above, y)), s = Abs(Complex(below, y));
  const XlaOp square = Mul(y, y);
  const XlaOp a = Mul(half, Add(r, s));
  const XlaOp from_r = Div(square, Add(r, above));  // r - |x + 1|
  const XlaOp is_inside = Lt(x, one);
  const XlaOp inside = Select(is_inside, Div(square, Sub(s, Min(below, zero))), Add(s, Max(below, zero)));
  // s - |x - 1| for x >= 1; s + |x - 1| is never 0 where it divides but for y = 0.
  const XlaOp beyond = Div(square, Add(s, Max(below, zero)));
  const XlaOp from_s = Select(Eq(y, zero), zero, Select(is_inside, inside, beyond));
  const XlaOp a_minus_one = Mul(half, Add(from_r, Select(is_inside, from_s, Add(s, below))));
  const XlaOp to_axis = Select(is_inside, Sub(s, below), from_s);  // s + (1 - x)
  const XlaOp real = Sqrt(Mul(Mul(half, Add(a, x)), Add(from_r, to_axis)));
  const XlaOp imaginary = Log1p(Add(a_minus_one, Sqrt(Mul(a_minus_one, Add(a, one)))));
  return Complex(real, imaginary);
}

template <XlaOp (*kFunction)(XlaOp)>
absl::StatusOr<Results> InC128(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  const PrimitiveType type = c.operands[0]->shape().element_type();
  if (!IsComplexType(type)) return InvalidArgument("expected complex numbers, got ", c.operands[0]->shape().ToString());
  XlaBuilder builder(std::string(c.op.name));
  ConvertElementType(kFunction(ConvertElementType(ParametersFor(c.operands, &builder)[0], C128)), type);
  return CallBuilt(c, c.operands, &builder);
}

template <XlaOp (*kFunction)(XlaOp)>
absl::StatusOr<Results> InItsType(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  XlaBuilder builder(std::string(c.op.name));
  kFunction(ParametersFor(c.operands, &builder)[0]);
  return CallBuilt(c, c.operands, &builder);
}

template <XlaOp (*kFunction)(XlaOp), XlaOp (*kFunctionF32)(XlaOp) = nullptr>
absl::StatusOr<Results> InF64(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  const PrimitiveType type = c.operands[0]->shape().element_type();
  if (!IsFloatingPointType(type)) return InvalidArgument("expected floats, got ", c.operands[0]->shape().ToString());
  XlaBuilder builder(std::string(c.op.name));
  const XlaOp x = ParametersFor(c.operands, &builder)[0];
  const bool is_f32 = kFunctionF32 != nullptr && type != F64;
  ConvertElementType(is_f32 ? kFunctionF32(ConvertElementType(x, F32)) : kFunction(ConvertElementType(x, F64)), type);
  return CallBuilt(c, c.operands, &builder);
}

template <XlaOp (*kFunction)(XlaOp, XlaOp)>
absl::StatusOr<Results> InF64OfTwo(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  const PrimitiveType type = c.operands[0]->shape().element_type();
  if (!IsFloatingPointType(type)) return InvalidArgument("expected floats, got ", c.operands[0]->shape().ToString());
  XlaBuilder builder(std::string(c.op.name));
  const std::vector<XlaOp> operands = ParametersFor(c.operands, &builder);
  ConvertElementType(kFunction(ConvertElementType(operands[0], F64), ConvertElementType(operands[1], F64)), type);
  return CallBuilt(c, c.operands, &builder);
}

absl::StatusOr<Results> ConvertNextAfter(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  XlaBuilder builder(std::string(c.op.name));
  const std::vector<XlaOp> operands = ParametersFor(c.operands, &builder);
  NextAfter(operands[0], operands[1]);
  return CallBuilt(c, c.operands, &builder);
}

constexpr ConversionRule kSpecialFunctionRules[] = {
    {"chlo._asin_acos_kernel", InC128<AsinAcosKernel>},
    {"chlo.atan", InItsType<Arctangent>},
    {"chlo.bessel_i1e", InF64<ScaledBessel1>},
    {"chlo.conj", InItsType<Conjugate>},
    {"chlo.digamma", InF64<Digamma>},
    {"chlo.erf_inv", InF64<InverseError, InverseErrorF32>},
    {"chlo.erfc", InF64<ComplementaryError, ComplementaryErrorF32>},
    {"chlo.is_inf", InItsType<IsInfinite>},
    {"chlo.is_neg_inf", InItsType<IsNegativeInfinity>},
    {"chlo.is_pos_inf", InItsType<IsPositiveInfinity>},
    {"chlo.lgamma", InF64<LogGamma>},
    {"chlo.next_after", ConvertNextAfter},
    {"chlo.polygamma", InF64OfTwo<Polygamma>},
    {"chlo.square", InItsType<Square>},
    {"chlo.zeta", InF64OfTwo<Zeta>},
};

}  // namespace

absl::Span<const ConversionRule> SpecialFunctionRules() { return kSpecialFunctionRules; }

}  // namespace hilo::stablehlo
