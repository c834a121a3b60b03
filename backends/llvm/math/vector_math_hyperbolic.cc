// All of them through expm1 and log1p, whose relative precision near zero is preserved.
#include "backends/llvm/math/math_builder.h"
#include "backends/llvm/math/math_functions.h"

namespace hilo::codegen {

using llvm::Value;

namespace {
// Beyond these magnitudes x^2 + 1 = x^2 and acosh x = asinh x = log 2 x.
Value* IsLarge(MathBuilder& m, Value* a) { return m.Gt(a, m.F(0x1p14, 0x1p28)); }
Value* AddLn2Where(MathBuilder& m, Value* large, Value* log) {
  return m.Add(log, m.Select(large, m.F(0x1.62e42fefa39efp-1), m.F(0)));
}
}  // namespace

Value* EmitTanh(MathBuilder& m, Value* x) {
  Value* a = m.AtMost(m.Abs(x), m.Pick(9.1, 19.1));  // tanh is 1 from there on
  return m.CopySign(MinusTanhOfPositive(m, a), x);
}

Value* EmitCosh(MathBuilder& m, Value* x) {
  // e^|x| / 2 + e^-|x| / 2, the first as one scaled number because e^|x| alone overflows first.
  Value* a = m.AtMost(m.Abs(x), m.Pick(90, 711));
  const ExpParts parts = ReduceExp(m, a);
  Value* one = m.F(1);
  Value* half = m.ScaleByPowerOfTwo(m.Add(parts.q, one), m.Sub(parts.n, one), m.Sub(parts.rounded, one));
  return m.Add(half, m.Div(m.F(0.25), half));
}

Value* EmitSinh(MathBuilder& m, Value* x) {
  // With h = (e^|x| - 1) / 2: h + h / (2 h + 1). Computed from h / 2, whose power of two never overflows.
  Value* a = m.AtMost(m.Abs(x), m.Pick(89.5, 710.5));
  const ExpParts parts = ReduceExp(m, a);
  const int64_t quarter_bits = m.one_bits() - (int64_t{2} << m.mantissa_bits());
  Value* scale = m.FromBits(m.IAdd(m.Shl(m.Bits(parts.rounded), m.mantissa_bits()), m.I(quarter_bits)));
  Value* quarter = m.Fma(scale, parts.q, m.Sub(scale, m.F(0.25)));
  Value* h = m.Add(quarter, quarter);
  Value* value = m.Add(h, m.Div(h, m.Fma(h, m.F(2), m.F(1))));
  value = m.Select(m.Gt(h, m.F(0x1p60)), h, value);  // where 2 h + 1 may be infinite, and h is it
  Value* tiny = m.Lt(m.Abs(x), m.F(0x1p-13, 0x1p-27));
  return m.Select(tiny, x, m.CopySign(value, x));
}

Value* EmitAsinh(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  Value* large = IsLarge(m, a);
  Value* square = m.Mul(a, a);
  Value* rest = m.Div(square, m.Add(m.Sqrt(m.Add(square, m.F(1))), m.F(1)));
  Value* log = EmitLog1p(m, m.Select(large, m.Sub(a, m.F(1)), m.Add(a, rest)));
  return m.CopySign(AddLn2Where(m, large, log), x);
}

Value* EmitAcosh(MathBuilder& m, Value* x) {
  Value* large = IsLarge(m, x);
  Value* t = m.Sub(x, m.F(1));
  Value* root = m.Sqrt(m.Fma(t, t, m.Add(t, t)));
  Value* value = AddLn2Where(m, large, EmitLog1p(m, m.Select(large, t, m.Add(t, root))));
  return m.Select(m.Lt(x, m.F(1)), m.NaN(), value);
}

Value* EmitAtanh(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  Value* log = EmitLog1p(m, m.Div(m.Add(a, a), m.Sub(m.F(1), a)));
  // Below the bound atanh x = x; half of twice a would round a subnormal log.
  Value* tiny = m.Lt(a, m.F(0x1p-13, 0x1p-28));
  return m.Select(tiny, x, m.CopySign(m.Mul(log, m.F(0.5)), x));
}

}  // namespace hilo::codegen
