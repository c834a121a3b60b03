// Functions of the dialect chlo that HLO has no opcode for. In artifacts they come with a decomposition; in text they do not, so here is one.
//
// Each is a computation of its own that is called. What is not exact in f32 is computed in f64: series and continued fractions in place of tables
// of coefficients that a type would need.
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/import/stablehlo/built_call.h"

namespace hilo::stablehlo {
namespace {

constexpr double kPi = 3.14159265358979323846;

// A number in the type and shape of `like`.
XlaOp Number(XlaOp like, double value) {
  const absl::StatusOr<Shape> shape = like.builder()->GetShape(like);
  if (!shape.ok()) return like.builder()->ReportError(shape.status());
  return Broadcast(ConstantLiteral(like.builder(), LiteralUtil::FromDouble(shape->element_type(), value)), shape->dimensions());
}

XlaOp Square(XlaOp x) { return Mul(x, x); }
XlaOp Conjugate(XlaOp x) { return Complex(Real(x), Neg(Imag(x))); }
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

// erfc(x) = 1 - erf(x) below 2; above, where that would cancel, the continued fraction exp(-x^2) / sqrt(pi) / (x + 1/2 / (x + 2/2 / (x + ...))).
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
  const XlaOp value = Select(Ge(Abs(x), Number(x, 1)), Select(Eq(Abs(x), Number(x, 1)), infinity, Number(x, std::nan(""))), y);
  return Select(Eq(x, Number(x, 0)), x, Select(Ne(x, x), x, Mul(Sign(x), value)));
}

// Numerators of Stirling's series: B(2k) / (2k (2k - 1)) and, for its derivative, B(2k) / (2k), with Bernoulli numbers B.
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
  const XlaOp result = Select(is_pole, Number(x, std::nan("")), Select(reflects, reflected, value));
  return Select(Eq(x, Number(x, std::numeric_limits<double>::infinity())), x, result);
}

template <XlaOp (*kFunction)(XlaOp)>
absl::StatusOr<Results> InItsType(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  XlaBuilder builder(std::string(c.op.name));
  kFunction(ParametersFor(c.operands, &builder)[0]);
  return CallBuilt(c, c.operands, &builder);
}

template <XlaOp (*kFunction)(XlaOp)>
absl::StatusOr<Results> InF64(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  const PrimitiveType type = c.operands[0]->shape().element_type();
  if (!IsFloatingPointType(type)) return InvalidArgument("expected floats, got ", c.operands[0]->shape().ToString());
  XlaBuilder builder(std::string(c.op.name));
  ConvertElementType(kFunction(ConvertElementType(ParametersFor(c.operands, &builder)[0], F64)), type);
  return CallBuilt(c, c.operands, &builder);
}

absl::StatusOr<Results> ConvertNextAfter(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  XlaBuilder builder(std::string(c.op.name));
  const std::vector<XlaOp> operands = ParametersFor(c.operands, &builder);
  NextAfter(operands[0], operands[1]);
  return CallBuilt(c, c.operands, &builder);
}

constexpr ConversionRule kRules[] = {
    {"chlo.atan", InItsType<Arctangent>}, {"chlo.conj", InItsType<Conjugate>},  {"chlo.digamma", InF64<Digamma>},
    {"chlo.erf_inv", InF64<InverseError>}, {"chlo.erfc", InF64<ComplementaryError>}, {"chlo.lgamma", InF64<LogGamma>},
    {"chlo.next_after", ConvertNextAfter}, {"chlo.square", InItsType<Square>},
};

}  // namespace

absl::Span<const ConversionRule> SpecialFunctionRules() { return kRules; }

}  // namespace hilo::stablehlo
