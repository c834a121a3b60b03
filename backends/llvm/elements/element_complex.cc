// Complex numbers as pairs of real floats, in formulas that neither cancel nor overflow early: Kahan's for the inverse
// functions and tanh, Smith's for the quotient, log1p for logarithms near the unit circle. Special cases are selected
// at the end, without a branch but for those of the quotient.
#include "backends/llvm/elements/op_dispatch.h"
#include "backends/llvm/math/math_builder.h"
#include "hlo/ops/table/opcode_map.h"
#include "llvm/IR/PatternMatch.h"

namespace hilo::codegen {
namespace {

using llvm::Value;
using F = HloOpcode;

class ComplexOps {
 public:
  using C = ElementValue;

  explicit ComplexOps(EmitterContext& context) : context_(context), b_(context.b()), target_(MathTargetOf(context)) {}

  C Add(C x, C y) { return {b_.CreateFAdd(x.re, y.re), b_.CreateFAdd(x.im, y.im)}; }
  C Sub(C x, C y) { return {b_.CreateFSub(x.re, y.re), b_.CreateFSub(x.im, y.im)}; }
  C Mul(C x, C y) {
    return {b_.CreateFSub(b_.CreateFMul(x.re, y.re), b_.CreateFMul(x.im, y.im)),
            b_.CreateFAdd(b_.CreateFMul(x.re, y.im), b_.CreateFMul(x.im, y.re))};
  }
  C Neg(C x) { return {b_.CreateFNeg(x.re), b_.CreateFNeg(x.im)}; }
  C Conj(C x) { return {x.re, b_.CreateFNeg(x.im)}; }
  C TimesI(C x) { return {b_.CreateFNeg(x.im), x.re}; }
  C TimesMinusI(C x) { return {x.im, b_.CreateFNeg(x.re)}; }
  C Select(Value* condition, C x, C y) {
    return {b_.CreateSelect(condition, x.re, y.re), b_.CreateSelect(condition, x.im, y.im)};
  }

  // Divides by the larger part of the divisor first. Where that gives NaN, the quotient may still be infinite or zero.
  C Div(C x, C y) {
    Value* by_re = b_.CreateFCmpOGE(Abs(y.re), Abs(y.im));
    Value *large = b_.CreateSelect(by_re, y.re, y.im), *small = b_.CreateSelect(by_re, y.im, y.re);
    Value* ratio = b_.CreateFDiv(small, large);
    Value* denominator = b_.CreateFAdd(large, b_.CreateFMul(small, ratio));
    Value *first_re = b_.CreateSelect(by_re, x.re, x.im), *second_re = b_.CreateSelect(by_re, x.im, x.re);
    Value* re = b_.CreateFDiv(b_.CreateFAdd(first_re, b_.CreateFMul(second_re, ratio)), denominator);
    Value *direct = b_.CreateFSub(x.im, b_.CreateFMul(x.re, ratio)),
          *crossed = b_.CreateFSub(b_.CreateFMul(x.im, ratio), x.re);
    const C quotient{re, b_.CreateFDiv(b_.CreateSelect(by_re, direct, crossed), denominator)};
    Value* is_nan = b_.CreateAnd(IsNan(quotient.re), IsNan(quotient.im));
    const std::vector<Value*> parts = OrRarely(b_, is_nan, {quotient.re, quotient.im}, [&] {
      const C with_edges = Select(is_nan, DivAtEdges(x, y), quotient);
      return std::vector<Value*>{with_edges.re, with_edges.im};
    });
    return {parts[0], parts[1]};
  }

  // The root of the squares' sum; the parts are scaled to near 1 if their squares would overflow or underflow.
  Value* Modulus(C x) {
    const bool f64 = x.re->getType()->getScalarType()->isDoubleTy();
    Value *re = Abs(x.re), *im = Abs(x.im);
    Value *upper = Like(re, f64 ? 0x1p500 : 0x1p60), *lower = Like(re, f64 ? 0x1p-400 : 0x1p-40);
    Value* large = b_.CreateOr(b_.CreateFCmpOGT(re, upper), b_.CreateFCmpOGT(im, upper));
    Value* small = b_.CreateAnd(b_.CreateFCmpOLT(re, lower), b_.CreateFCmpOLT(im, lower));
    auto pick = [&](double of_large, double of_small) {
      return b_.CreateSelect(large, Like(re, of_large), b_.CreateSelect(small, Like(re, of_small), Like(re, 1)));
    };
    Value *down = pick(f64 ? 0x1p-600 : 0x1p-80, f64 ? 0x1p600 : 0x1p100),
          *up = pick(f64 ? 0x1p600 : 0x1p80, f64 ? 0x1p-600 : 0x1p-100);
    Value *a = b_.CreateFMul(re, down), *c = b_.CreateFMul(im, down);
    Value* modulus = b_.CreateFMul(M(F::kSqrt, b_.CreateFAdd(b_.CreateFMul(a, a), b_.CreateFMul(c, c))), up);
    Value* is_inf = b_.CreateOr(IsInf(x.re), IsInf(x.im));
    return b_.CreateSelect(is_inf, llvm::ConstantFP::getInfinity(re->getType()), modulus);
  }
  Value* Argument(C x) { return M2(F::kAtan2, x.im, x.re); }

  C Exp(C x) {
    Value* scale = M(F::kExp, x.re);
    // 0 * infinity must not make a NaN of a real argument.
    Value* im = b_.CreateSelect(IsZero(x.im), x.im, b_.CreateFMul(scale, M(F::kSin, x.im)));
    return {b_.CreateFMul(scale, M(F::kCos, x.im)), im};
  }

  // e^x + sign, sign +1 or -1, in the plane: without cancellation as (expm1(a) cos b) +- 2 f(b/2)^2, f the sine or
  // cosine; directly where that adds up numbers of one sign.
  C ExpPlus(C x, double sign) {
    C e = Exp(x);
    Value* half = M(sign > 0 ? F::kCos : F::kSin, b_.CreateFMul(x.im, Like(x.im, 0.5)));
    Value* close = b_.CreateFAdd(b_.CreateFMul(M(F::kExpm1, x.re), M(F::kCos, x.im)),
                                 b_.CreateFMul(Like(x.re, 2 * sign), b_.CreateFMul(half, half)));
    Value* cancels = sign > 0 ? b_.CreateFCmpOLT(e.re, Like(x.re, -0.5)) : b_.CreateFCmpOGT(e.re, Like(x.re, 0.5));
    return {b_.CreateSelect(cancels, close, b_.CreateFAdd(e.re, Like(x.re, sign))), e.im};
  }
  // The real part of a zero is +0, as that of e^0 - 1.
  C Expm1(C x) {
    const C difference = ExpPlus(x, -1);
    return {b_.CreateFAdd(difference.re, Like(x.re, 0)), difference.im};
  }

  // log|x|: near the unit circle from |x|^2 - 1 = (large - 1)(large + 1) + small^2.
  Value* LogModulus(C x) {
    Value *large = Larger(x), *small = Smaller(x);
    Value *zero = Like(large, 0), *one = Like(large, 1), *half = Like(large, 0.5);
    Value* excess =
        b_.CreateFAdd(b_.CreateFMul(b_.CreateFSub(large, one), b_.CreateFAdd(large, one)), b_.CreateFMul(small, small));
    Value* near = b_.CreateFMul(half, M(F::kLog1p, excess));
    Value* ratio = b_.CreateSelect(b_.CreateFCmpOEQ(small, large), b_.CreateSelect(IsZero(large), zero, one),
                                   b_.CreateFDiv(small, large));
    Value* far = b_.CreateFAdd(M(F::kLog, large), b_.CreateFMul(half, M(F::kLog1p, b_.CreateFMul(ratio, ratio))));
    Value* is_near = b_.CreateAnd(b_.CreateFCmpOGT(large, half), b_.CreateFCmpOLT(large, Like(large, 1.5)));
    return b_.CreateSelect(is_near, near, far);
  }
  C Log(C x) { return {LogModulus(x), Argument(x)}; }

  C Log1p(C x) {
    Value* half = Like(x.re, 0.5);
    C shifted{b_.CreateFAdd(x.re, Like(x.re, 1)), x.im};
    Value* excess = b_.CreateFAdd(b_.CreateFMul(x.re, b_.CreateFAdd(x.re, Like(x.re, 2))), b_.CreateFMul(x.im, x.im));
    Value* is_small = b_.CreateFCmpOLE(Larger(x), half);
    Value* re = b_.CreateSelect(is_small, b_.CreateFMul(half, M(F::kLog1p, excess)), LogModulus(shifted));
    return {re, Argument(shifted)};
  }

  C Sqrt(C x) {
    Value* half = Like(x.re, 0.5);
    Value* root = M(F::kSqrt, b_.CreateFAdd(b_.CreateFMul(half, Modulus(x)), b_.CreateFMul(half, Abs(x.re))));
    Value* other = b_.CreateSelect(IsZero(root), x.im, b_.CreateFDiv(x.im, b_.CreateFMul(Like(root, 2), root)));
    Value* right = b_.CreateFCmpOGE(x.re, Like(x.re, 0));
    C result = Select(right, {root, other}, {Abs(other), CopySign(root, x.im)});
    result = Select(b_.CreateFCmpUNO(x.re, x.im), {b_.CreateFAdd(x.re, x.im), b_.CreateFAdd(x.re, x.im)}, result);
    return Select(IsInf(x.im), {llvm::ConstantFP::getInfinity(x.re->getType()), x.im}, result);
  }
  C Rsqrt(C x) {
    C zero{Like(x.re, 0), CopySign(Like(x.re, 0), b_.CreateFNeg(x.im))};
    return Select(HasInf(x), zero, Div({Like(x.re, 1), Like(x.re, 0)}, Sqrt(x)));
  }
  C Cbrt(C x) {
    Value* modulus = M(F::kCbrt, Modulus(x));
    Value* angle = b_.CreateFDiv(Argument(x), Like(x.re, 3));
    return Select(IsZero(x), x, {b_.CreateFMul(modulus, M(F::kCos, angle)), b_.CreateFMul(modulus, M(F::kSin, angle))});
  }

  // The hyperbolic sine and cosine of a real number as sinh * factor and cosh * factor. The factor is 1 but for large
  // numbers, of which these are the sine and cosine of x / 2 and the factor is 2 cosh(x / 2): they overflow only after
  // a factor between -1 and 1 is multiplied with them. There cosh(x) and 2 cosh(x / 2)^2 = cosh(x) + 1 are the same.
  struct Hyperbolic {
    Value *sinh, *cosh, *factor;
  };
  Hyperbolic HyperbolicOf(C x) {
    Value* large = b_.CreateFCmpOGT(Abs(x.re), Like(x.re, IsDouble(x) ? 700 : 85));
    Value* argument = b_.CreateSelect(large, b_.CreateFMul(x.re, Like(x.re, 0.5)), x.re);
    Value* cosh = M(F::kCosh, argument);
    return {M(F::kSinh, argument), cosh, b_.CreateSelect(large, b_.CreateFMul(Like(x.re, 2), cosh), Like(x.re, 1))};
  }
  // Real arguments have real values, even where these are infinite or NaN.
  C Sinh(C x) {
    const Hyperbolic of = HyperbolicOf(x);
    Value* im = b_.CreateFMul(b_.CreateFMul(of.cosh, M(F::kSin, x.im)), of.factor);
    return {b_.CreateFMul(b_.CreateFMul(of.sinh, M(F::kCos, x.im)), of.factor),
            b_.CreateSelect(IsZero(x.im), x.im, im)};
  }
  C Cosh(C x) {
    const Hyperbolic of = HyperbolicOf(x);
    Value* zero = b_.CreateFMul(x.im, CopySign(Like(x.re, 1), x.re));
    Value* im = b_.CreateFMul(b_.CreateFMul(of.sinh, M(F::kSin, x.im)), of.factor);
    return {b_.CreateFMul(b_.CreateFMul(of.cosh, M(F::kCos, x.im)), of.factor),
            b_.CreateSelect(IsZero(x.im), zero, im)};
  }
  C Tanh(C x) {
    Value *one = Like(x.re, 1), *tangent = M(F::kTan, x.im), *sine = M(F::kSinh, x.re);
    Value* sine2 = b_.CreateFMul(sine, sine);
    Value* rho = M(F::kSqrt, b_.CreateFAdd(one, sine2));
    Value* beta = b_.CreateFAdd(one, b_.CreateFMul(tangent, tangent));
    Value* denominator = b_.CreateFAdd(one, b_.CreateFMul(beta, sine2));
    C near{b_.CreateFDiv(b_.CreateFMul(b_.CreateFMul(beta, rho), sine), denominator),
           b_.CreateFDiv(tangent, denominator)};
    Value* decay = M(F::kExp, b_.CreateFMul(Like(x.re, -2), Abs(x.re)));
    Value* wave = b_.CreateFMul(Like(x.re, 4), b_.CreateFMul(M(F::kSin, x.im), M(F::kCos, x.im)));
    // Along an angle that is infinite or NaN only the limit of an infinite real part exists.
    Value* no_angle = b_.CreateFSub(x.im, x.im);  // NaN, or 0
    Value* at_limit = b_.CreateAnd(IsInf(x.re), b_.CreateFCmpUNO(no_angle, no_angle));
    C far{CopySign(b_.CreateSelect(at_limit, one, b_.CreateFAdd(one, no_angle)), x.re),
          b_.CreateSelect(at_limit, CopySign(Like(x.re, 0), x.im), b_.CreateFMul(wave, decay))};
    C result = Select(b_.CreateFCmpOGT(Abs(x.re), Like(x.re, IsDouble(x) ? 20 : 10)), far, near);
    return {result.re, b_.CreateSelect(IsZero(x.im), x.im, result.im)};
  }

  // Far from zero asin, acos and acosh are logarithms of 2x, up to multiples of pi / 2; infinite parts come here too.
  Value* IsFar(C x) {
    Value* bound = Like(x.re, IsDouble(x) ? 0x1p60 : 0x1p30);
    return b_.CreateOr(b_.CreateFCmpOGT(Abs(x.re), bound), b_.CreateFCmpOGT(Abs(x.im), bound));
  }
  Value* LogModulusOfTwice(C x) {
    Value* finite = b_.CreateFAdd(LogModulus(x), Like(x.re, 0.69314718055994530942));
    return b_.CreateSelect(HasInf(x), llvm::ConstantFP::getInfinity(x.re->getType()), finite);
  }

  C Acos(C x) {
    C below = Sqrt({b_.CreateFSub(Like(x.re, 1), x.re), b_.CreateFNeg(x.im)}),
      above = Sqrt({b_.CreateFAdd(x.re, Like(x.re, 1)), x.im});
    C near{b_.CreateFMul(Like(x.re, 2), M2(F::kAtan2, below.re, above.re)), M(F::kAsinh, Mul(Conj(above), below).im)};
    C far{M2(F::kAtan2, Abs(x.im), x.re), CopySign(LogModulusOfTwice(x), b_.CreateFNeg(x.im))};
    return Select(IsFar(x), far, near);
  }
  C Asin(C x) {
    C below = Sqrt({b_.CreateFSub(Like(x.re, 1), x.re), b_.CreateFNeg(x.im)}),
      above = Sqrt({b_.CreateFAdd(x.re, Like(x.re, 1)), x.im});
    C near{M2(F::kAtan2, x.re, Mul(below, above).re), M(F::kAsinh, Mul(Conj(below), above).im)};
    C far{M2(F::kAtan2, x.re, Abs(x.im)), CopySign(LogModulusOfTwice(x), x.im)};
    return Select(IsFar(x), far, near);
  }
  C Acosh(C x) {
    C below = Sqrt({b_.CreateFSub(x.re, Like(x.re, 1)), x.im}),
      above = Sqrt({b_.CreateFAdd(x.re, Like(x.re, 1)), x.im});
    C near{M(F::kAsinh, Mul(Conj(below), above).re), b_.CreateFMul(Like(x.re, 2), M2(F::kAtan2, below.im, above.re))};
    return Select(IsFar(x), {LogModulusOfTwice(x), Argument(x)}, near);
  }
  // log(|1 + x|^2 / |1 - x|^2) / 4, of the x right of zero: 1 + 4a / |1 - x|^2 is a sum of positive numbers. Next to 1,
  // where the square may vanish, log(2 / |1 - x|) / 2.
  C Atanh(C x) {
    Value *one = Like(x.re, 1), *a = Abs(x.re), *below = b_.CreateFSub(one, a), *above = b_.CreateFAdd(one, a),
          *im2 = b_.CreateFMul(x.im, x.im);
    Value* distance = b_.CreateFAdd(b_.CreateFMul(below, below), im2);
    Value* away = b_.CreateFMul(Like(a, 0.25), M(F::kLog1p, b_.CreateFDiv(b_.CreateFMul(Like(a, 4), a), distance)));
    C rest{below, x.im};
    Value* next =
        b_.CreateFMul(Like(a, 0.5), b_.CreateFSub(Like(a, 0.69314718055994530942), M(F::kLog, Modulus(rest))));
    Value* re = b_.CreateSelect(b_.CreateFCmpOLT(Larger(rest), Like(a, 0x1p-30)), next, away);
    Value* im = M2(F::kAtan2, b_.CreateFMul(Like(a, 2), x.im), b_.CreateFSub(b_.CreateFMul(below, above), im2));
    // Far from zero 1 / x, and pi / 2.
    Value* modulus = Modulus(x);
    Value* inverse = b_.CreateSelect(HasInf(x), Like(a, 0), b_.CreateFDiv(b_.CreateFDiv(a, modulus), modulus));
    C far{CopySign(inverse, x.re), CopySign(Like(a, 1.57079632679489661923), x.im)};
    return Select(IsFar(x), far, {CopySign(re, x.re), b_.CreateFMul(Like(a, 0.5), im)});
  }

  C Sign(C x) {
    Value* modulus = Modulus(x);
    return Select(IsZero(x), x, {b_.CreateFDiv(x.re, modulus), b_.CreateFDiv(x.im, modulus)});
  }

  // 1 / (1 + e^-x), by e^x / (1 + e^x) in the left half plane.
  C Logistic(C x) {
    Value* right = b_.CreateFCmpOGE(x.re, Like(x.re, 0));
    C one{Like(x.re, 1), Like(x.re, 0)};
    C e = Exp(Select(right, Neg(x), x));
    C shifted = ExpPlus(Select(right, Neg(x), x), 1);
    return Div(Select(right, one, e), shifted);
  }

  // x^0 and 1^y are 1; 0^y is 0 where the real part of y is above zero; real powers of infinity on the real axis are 0
  // or infinite. Products are exact where the result has the type's bits, and cost less than a logarithm.
  C Power(C x, C y) {
    C zero{Like(x.re, 0), Like(x.re, 0)}, one{Like(x.re, 1), Like(x.re, 0)};
    C infinity{llvm::ConstantFP::getInfinity(x.re->getType()), zero.im};
    const auto is_real = [&](C number, Value* part) {
      return b_.CreateAnd(b_.CreateFCmpOEQ(number.re, part), IsZero(number.im));
    };
    Value *rises = b_.CreateAnd(IsZero(y.im), b_.CreateFCmpOGT(y.re, zero.re)),
          *falls = b_.CreateAnd(IsZero(y.im), b_.CreateFCmpOLT(y.re, zero.re)), *x_is_inf = is_real(x, infinity.re);
    Value* positive = b_.CreateAnd(b_.CreateFCmpOGT(y.re, zero.re), b_.CreateFCmpOLT(Abs(y.im), infinity.re));
    C power = IsConstant(y, 2) ? Mul(x, x) : IsConstant(y, 3) ? Mul(Mul(x, x), x) : Exp(Mul(y, Log(x)));
    power = Select(b_.CreateOr(b_.CreateAnd(IsZero(x), positive), b_.CreateAnd(x_is_inf, falls)), zero, power);
    power = Select(b_.CreateAnd(x_is_inf, rises), infinity, power);
    return Select(b_.CreateOr(IsZero(y), is_real(x, one.re)), one, power);
  }
  C Atan2(C y, C x) { return TimesMinusI(Log(Div(Add(x, TimesI(y)), Sqrt(Add(Mul(x, x), Mul(y, y)))))); }

  // By real parts, then imaginary parts; the first operand with a NaN wins.
  C Extreme(C x, C y, bool maximum) {
    C low = maximum ? x : y, high = maximum ? y : x;
    Value* below = b_.CreateOr(b_.CreateFCmpOLT(low.re, high.re),
                               b_.CreateAnd(b_.CreateFCmpOEQ(low.re, high.re), b_.CreateFCmpOLT(low.im, high.im)));
    Value* take_y = b_.CreateOr(b_.CreateFCmpUNO(y.re, y.im), below);
    return Select(b_.CreateFCmpUNO(x.re, x.im), x, Select(take_y, y, x));
  }

 private:
  // Quotients by zero, of infinity by a finite number and of a finite number by infinity, as in Annex G of the C
  // standard. NaN for other numbers whose quotient is NaN.
  C DivAtEdges(C x, C y) {
    // Of infinite numbers only the direction counts: +-1 for infinite parts, +-0 for the others.
    const auto direction = [&](C z) -> C {
      const auto of = [&](Value* part) {
        return CopySign(b_.CreateSelect(IsInf(part), Like(part, 1), Like(part, 0)), part);
      };
      return {of(z.re), of(z.im)};
    };
    Value* to_zero = HasInf(y);
    Value* infinity = llvm::ConstantFP::getInfinity(x.re->getType());
    Value* scale = b_.CreateSelect(to_zero, Like(x.re, 0), infinity);
    const C product = Mul(Select(to_zero, x, direction(x)), Conj(Select(to_zero, direction(y), y)));
    Value* pole = CopySign(infinity, y.re);
    return Select(IsZero(y), {b_.CreateFMul(pole, x.re), b_.CreateFMul(pole, x.im)},
                  {b_.CreateFMul(scale, product.re), b_.CreateFMul(scale, product.im)});
  }

  Value* Like(Value* x, double value) { return FloatLike(x, value); }
  Value* M(HloOpcode function, Value* x) { return EmitUnary(function, b_, x, target_); }
  Value* M2(HloOpcode function, Value* x, Value* y) { return EmitBinary(function, b_, x, y, target_); }
  Value* Abs(Value* x) { return Fabs(context_, x); }
  Value* CopySign(Value* magnitude, Value* sign) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
  }
  Value* IsZero(Value* x) { return b_.CreateFCmpOEQ(x, Like(x, 0)); }
  Value* IsNan(Value* x) { return b_.CreateFCmpUNO(x, x); }
  Value* IsZero(C x) { return b_.CreateAnd(IsZero(x.re), IsZero(x.im)); }
  bool IsConstant(C x, double value) {
    return llvm::PatternMatch::match(x.re, llvm::PatternMatch::m_SpecificFP(value)) &&
           llvm::PatternMatch::match(x.im, llvm::PatternMatch::m_AnyZeroFP());
  }
  bool IsDouble(C x) { return x.re->getType()->getScalarType()->isDoubleTy(); }
  Value* HasInf(C x) { return b_.CreateOr(IsInf(x.re), IsInf(x.im)); }
  Value* IsInf(Value* x) { return b_.CreateFCmpOEQ(Abs(x), llvm::ConstantFP::getInfinity(x->getType())); }
  // Of the parts' magnitudes; NaN if either is.
  Value* Larger(C x) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, Abs(x.re), Abs(x.im)); }
  Value* Smaller(C x) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, Abs(x.re), Abs(x.im)); }

  EmitterContext& context_;
  llvm::IRBuilder<>& b_;
  MathTarget target_;
};

using C = ElementValue;
constexpr OpcodeMap<C (*)(ComplexOps& ops, C x)> kComplexUnary = {
    {HloOpcode::kAbs, [](ComplexOps& ops, C x) -> C { return {ops.Modulus(x)}; }},
    {HloOpcode::kAcos, [](ComplexOps& ops, C x) -> C { return ops.Acos(x); }},
    {HloOpcode::kAcosh, [](ComplexOps& ops, C x) -> C { return ops.Acosh(x); }},
    {HloOpcode::kAsin, [](ComplexOps& ops, C x) -> C { return ops.Asin(x); }},
    {HloOpcode::kAsinh, [](ComplexOps& ops, C x) -> C { return ops.TimesMinusI(ops.Asin(ops.TimesI(x))); }},
    {HloOpcode::kAtanh, [](ComplexOps& ops, C x) -> C { return ops.Atanh(x); }},
    {HloOpcode::kCbrt, [](ComplexOps& ops, C x) -> C { return ops.Cbrt(x); }},
    {HloOpcode::kCos, [](ComplexOps& ops, C x) -> C { return ops.Cosh(ops.TimesI(x)); }},
    {HloOpcode::kCosh, [](ComplexOps& ops, C x) -> C { return ops.Cosh(x); }},
    {HloOpcode::kExp, [](ComplexOps& ops, C x) -> C { return ops.Exp(x); }},
    {HloOpcode::kExpm1, [](ComplexOps& ops, C x) -> C { return ops.Expm1(x); }},
    {HloOpcode::kImag, [](ComplexOps&, C x) -> C { return {x.im}; }},
    {HloOpcode::kLog, [](ComplexOps& ops, C x) -> C { return ops.Log(x); }},
    {HloOpcode::kLog1p, [](ComplexOps& ops, C x) -> C { return ops.Log1p(x); }},
    {HloOpcode::kLogistic, [](ComplexOps& ops, C x) -> C { return ops.Logistic(x); }},
    {HloOpcode::kNegate, [](ComplexOps& ops, C x) -> C { return ops.Neg(x); }},
    {HloOpcode::kReal, [](ComplexOps&, C x) -> C { return {x.re}; }},
    {HloOpcode::kRsqrt, [](ComplexOps& ops, C x) -> C { return ops.Rsqrt(x); }},
    {HloOpcode::kSign, [](ComplexOps& ops, C x) -> C { return ops.Sign(x); }},
    {HloOpcode::kSin, [](ComplexOps& ops, C x) -> C { return ops.TimesMinusI(ops.Sinh(ops.TimesI(x))); }},
    {HloOpcode::kSinh, [](ComplexOps& ops, C x) -> C { return ops.Sinh(x); }},
    {HloOpcode::kSqrt, [](ComplexOps& ops, C x) -> C { return ops.Sqrt(x); }},
    {HloOpcode::kTan, [](ComplexOps& ops, C x) -> C { return ops.TimesMinusI(ops.Tanh(ops.TimesI(x))); }},
    {HloOpcode::kTanh, [](ComplexOps& ops, C x) -> C { return ops.Tanh(x); }},
};

constexpr OpcodeMap<C (*)(ComplexOps& ops, C x, C y)> kComplexBinary = {
    {HloOpcode::kAdd, [](ComplexOps& ops, C x, C y) -> C { return ops.Add(x, y); }},
    {HloOpcode::kAtan2, [](ComplexOps& ops, C x, C y) -> C { return ops.Atan2(x, y); }},
    {HloOpcode::kDivide, [](ComplexOps& ops, C x, C y) -> C { return ops.Div(x, y); }},
    {HloOpcode::kMaximum, [](ComplexOps& ops, C x, C y) -> C { return ops.Extreme(x, y, true); }},
    {HloOpcode::kMinimum, [](ComplexOps& ops, C x, C y) -> C { return ops.Extreme(x, y, false); }},
    {HloOpcode::kMultiply, [](ComplexOps& ops, C x, C y) -> C { return ops.Mul(x, y); }},
    {HloOpcode::kPower, [](ComplexOps& ops, C x, C y) -> C { return ops.Power(x, y); }},
    {HloOpcode::kSubtract, [](ComplexOps& ops, C x, C y) -> C { return ops.Sub(x, y); }},
};
static_assert(CoversFamily(HloFamily::kUnary, kComplex,
                           [](HloOpcode opcode) { return kComplexUnary[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kComplex,
                           [](HloOpcode opcode) { return kComplexBinary[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");

}  // namespace

ElementValue EmitComplexUnary(EmitterContext& context, HloOpcode opcode, ElementValue x) {
  ComplexOps ops(context);
  return kComplexUnary[opcode] == nullptr ? ElementValue() : kComplexUnary[opcode](ops, x);
}

ElementValue EmitComplexBinary(EmitterContext& context, HloOpcode opcode, ElementValue x, ElementValue y) {
  ComplexOps ops(context);
  return kComplexBinary[opcode] == nullptr ? ElementValue() : kComplexBinary[opcode](ops, x, y);
}

}  // namespace hilo::codegen
