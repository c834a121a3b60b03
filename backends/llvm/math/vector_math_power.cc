// Powers. Most constant exponents in programs, multiples of a half or a quarter, become a few products, roots and
// quotients: at most four roundings each, and no intermediate overflows or loses bits where the result does not. Any
// other in f32 is 2^(y log2 x), computed in f64.
#include <cmath>
#include <optional>

#include "backends/llvm/math/math_builder.h"
#include "backends/llvm/math/math_coefficients.h"
#include "backends/llvm/math/math_functions.h"
#include "llvm/IR/Constants.h"

namespace hilo::codegen {

using llvm::Value;

namespace {

// The exponent of all lanes, if it is a constant.
std::optional<double> UniformExponent(Value* y) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(y);
  if (constant != nullptr && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  if (number == nullptr) return std::nullopt;
  return number->getType()->isDoubleTy() ? number->getValueAPF().convertToDouble()
                                         : number->getValueAPF().convertToFloat();
}

// x^y of integers -3 ... 4; null for others.
Value* IntegerPower(MathBuilder& m, Value* x, double y) {
  if (y == 0) return m.F(1);
  if (y == 1) return x;
  Value* square = m.Mul(x, x);
  if (y == 2) return square;
  if (y == 3) return m.Mul(square, x);
  if (y == 4) return m.Mul(square, square);
  Value* inverse = m.Div(m.F(1), x);
  if (y == -1) return inverse;
  if (y == -2) return m.Mul(inverse, inverse);
  if (y == -3) return m.Div(inverse, square);
  return nullptr;
}

// a^y of a >= 0 for y in quarters; null for most.
Value* RootPower(MathBuilder& m, Value* a, double y) {
  Value* root = m.Sqrt(a);
  if (y == 0.5) return root;
  if (y == 0.25) return m.Sqrt(root);
  if (y == 1.5) return m.Mul(a, root);
  if (y == 2.5) return m.Mul(m.Mul(a, a), root);
  if (y == 3.5) return m.Mul(m.Mul(a, a), m.Mul(a, root));
  const bool is_quarter = std::trunc(4 * y) == 4 * y && std::trunc(2 * y) != 2 * y;
  Value* quarter = is_quarter ? m.Sqrt(root) : nullptr;
  if (y == 0.75) return m.Mul(root, quarter);
  if (y == 1.25) return m.Mul(a, quarter);
  if (y == 1.75) return m.Mul(a, m.Mul(root, quarter));
  if (y == -0.25) return m.Div(m.F(1), quarter);
  if (y == -0.75) return m.Div(m.F(1), m.Mul(root, quarter));
  Value* inverse = m.Div(m.F(1), root);
  if (y == -0.5) return inverse;
  if (y == -1.5) return m.Div(inverse, a);  // a * root may overflow where the result is subnormal
  if (y == -2.5) return m.Div(inverse, m.Mul(a, a));
  return nullptr;
}

// |x|^y for f32 through f64: log2 to 2^-44 relative and exp2 to 2^-34, so that only the last rounding matters.
Value* PowerOfMagnitude(MathBuilder& m, Value* magnitude, Value* y) {
  llvm::IRBuilderBase& b = m.ir();
  llvm::Type* wide_type = m.WithElement(b.getDoubleTy());
  MathBuilder d(b, wide_type, m.target());
  Value* x = b.CreateFPExt(magnitude, wide_type);
  const LogParts parts = Decompose(d, x);
  Value* s = d.Div(parts.f, d.Add(parts.f, d.F(2)));
  Value* z = d.Mul(s, s);
  Value* log = d.Fma(d.Mul(s, z), d.Poly(z, kAtanhPowF32), d.Add(s, s));
  Value* log2 = d.Fma(log, d.F(kLog2E), parts.e);
  log2 = d.Select(d.Eq(x, d.F(0)), d.Neg(d.Inf()), log2);
  log2 = d.Select(d.Eq(x, d.Inf()), d.Inf(), log2);
  Value* power = d.Mul(b.CreateFPExt(y, wide_type), log2);
  power = d.Select(d.Eq(x, d.F(1)), d.F(0), power);  // 0 * inf
  power = d.AtLeast(d.AtMost(power, 400), -400);     // far outside f32, well inside f64
  Value* rounded = d.Add(power, d.F(d.round_magic()));
  Value* r = d.Sub(power, d.Sub(rounded, d.F(d.round_magic())));
  Value* bits = d.IAdd(d.Bits(d.Poly(r, kExp2PowF32)), d.Shl(d.Bits(rounded), d.mantissa_bits()));
  return b.CreateFPTrunc(d.FromBits(bits), m.type());
}

}  // namespace

Value* EmitPowerByRoots(MathBuilder& m, Value* x, Value* y) {
  const std::optional<double> exponent = UniformExponent(y);
  if (!exponent.has_value()) return nullptr;
  if (std::trunc(*exponent) == *exponent) return IntegerPower(m, x, *exponent);
  // -0 counts as 0, and so does -inf as inf.
  Value* power = RootPower(m, m.Abs(x), *exponent);
  if (power == nullptr) return nullptr;
  return m.Select(m.And(m.Lt(x, m.F(0)), m.Gt(x, m.Neg(m.Inf()))), m.NaN(), power);
}

Value* EmitPower(MathBuilder& m, Value* x, Value* y) {
  if (m.f64()) return m.CallPerLane("hilo_math_pow", {x, y}, /*symbol_has_own_type=*/true);
  Value* power = PowerOfMagnitude(m, m.Abs(x), y);
  Value* half = m.Mul(y, m.F(0.5));
  Value* integer = m.Eq(m.Trunc(y), y);
  Value* odd = m.And(integer, m.ir().CreateFCmpUNE(m.Trunc(half), half));
  power = m.FlipSign(power, m.ir().CreateSelect(odd, m.SignBits(x), m.I(0)));
  Value* finite_negative = m.And(m.Lt(x, m.F(0)), m.Gt(x, m.Neg(m.Inf())));
  Value* nan = m.Or(m.And(finite_negative, m.ir().CreateNot(integer)), m.ir().CreateFCmpUNO(x, y));
  power = m.Select(nan, m.NaN(), power);
  return m.Select(m.Or(m.Eq(x, m.F(1)), m.Eq(y, m.F(0))), m.F(1), power);
}

}  // namespace hilo::codegen
