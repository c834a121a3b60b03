// erf |x| in f32 is a polynomial on each of eight intervals, whose coefficients lanes read from registers: half of the
// multiplications of any one formula. Elsewhere it is 1 - e^g with g = log erfc |x|: one polynomial on the whole range,
// where erf itself would take a polynomial and a quotient on three. The relative error stays small near zero because
// e^g - 1 is computed as expm1, and far out because there the error of g is multiplied by erfc. cbrt: y ~ x^(-1/3) from
// the bits of x, improved by the series (1
// - h)^(-1/3) in h = 1 - x y^3, without a division.
#include <iterator>

#include "backends/llvm/math/math_builder.h"
#include "backends/llvm/math/math_coefficients.h"
#include "backends/llvm/math/math_functions.h"

namespace hilo::codegen {

using llvm::Value;

namespace {

// By lookups. x = n kErfStep + t for the nearest n.
Value* ErfByPieces(MathBuilder& m, Value* x) {
  Value* a = m.AtMost(m.Abs(x), 3.95);  // erf is 1 from there on
  Value* rounded = m.Fma(a, m.F(1 / kErfStep), m.F(m.round_magic()));
  Value* n = m.Sub(rounded, m.F(m.round_magic()));
  Value* t = m.Fma(n, m.F(-kErfStep), a);
  Value* index = m.Bits(rounded);
  Value* sum = nullptr;
  for (size_t i = std::size(kErfF32); i-- > 0;) {
    Value* coefficient = m.Lookup(kErfF32[i], index);
    sum = sum == nullptr ? coefficient : m.Fma(sum, t, coefficient);
  }
  return m.CopySign(sum, x);
}

// Of fewer lanes than a lookup takes.
Value* ErfOfFewByPieces(MathBuilder& m, Value* x) {
  llvm::IRBuilderBase& b = m.ir();
  auto* wide = llvm::FixedVectorType::get(b.getFloatTy(), MathBuilder::kTable);
  MathBuilder wide_m(b, wide, m.target());
  if (!m.type()->isVectorTy()) {
    Value* lane = b.CreateInsertElement(llvm::PoisonValue::get(wide), x, uint64_t{0});
    return b.CreateExtractElement(ErfByPieces(wide_m, lane), uint64_t{0});
  }
  llvm::SmallVector<int> lanes(MathBuilder::kTable, llvm::PoisonMaskElem), kept;
  for (int lane = 0; lane < static_cast<int>(m.lanes()); ++lane) {
    lanes[lane] = lane;
    kept.push_back(lane);
  }
  return b.CreateShuffleVector(ErfByPieces(wide_m, b.CreateShuffleVector(x, lanes)), kept);
}

}  // namespace

Value* EmitErf(MathBuilder& m, Value* x) {
  if (!m.f64() && m.target().has_lookup)
    return m.lanes() % MathBuilder::kTable == 0 ? ErfByPieces(m, x) : ErfOfFewByPieces(m, x);
  Value* a = m.AtMost(m.Abs(x), m.Pick(3.95, 5.95));  // erf is 1 from there on
  Value* rest = m.f64() ? m.Poly(a, kLogErfcF64) : m.Poly(a, kLogErfcF32);
  // log erfc a = a (-2 / sqrt pi + a R(a)), with that constant to twice the precision.
  const double slope = m.Pick(-0x1.20dd76p+0, -0x1.20dd750429b6dp+0);
  const double slope_rest = m.Pick(0x1.f7ac925dca38bp-25, -0x1.1ae3a914fed80p-56);
  rest = m.Fma(rest, a, m.Coefficient(slope_rest));
  Value* log_erfc = m.Fma(a, m.Coefficient(slope), m.Mul(rest, a));
  return m.CopySign(Expm1OfNegative(m, log_erfc), x);
}

Value* EmitCbrt(MathBuilder& m, Value* x) {
  Value* a = m.Abs(x);
  Value* subnormal = m.Lt(a, m.F(m.min_normal()));
  Value* scaled = m.Select(subnormal, m.Mul(a, m.F(0x1p24, 0x1p54)), a);

  // log2 of a float is nearly linear in its bits: takes the top ones as a number, multiplies by -1/3, puts them back.
  const int dropped = m.f64() ? 32 : 8;
  const double unit = m.Pick(0x1p15, 0x1p20);  // of an exponent, in the top bits
  const double magic = m.Pick(0x1p23, 0x1p52);
  const int64_t magic_bits = m.f64() ? 0x4330000000000000 : 0x4b000000;
  const double bias = m.Pick(127, 1023);
  Value* top = m.Sub(m.FromBits(m.IAdd(m.Lshr(m.Bits(scaled), dropped), m.I(magic_bits))), m.F(magic));
  Value* guess = m.Fma(top, m.F(-1.0 / 3), m.F((4.0 / 3 * bias - 0.058) * unit));
  Value* y = m.FromBits(m.Shl(m.Bits(m.Add(guess, m.F(magic))), dropped));

  constexpr double kSeries[] = {1.0 / 3, 2.0 / 9, 14.0 / 81, 35.0 / 243};
  for (int step = 0; step < (m.f64() ? 2 : 1); ++step) {
    Value* h = m.Fma(m.Neg(m.Mul(scaled, y)), m.Mul(y, y), m.F(1));
    y = m.Fma(m.Mul(y, h), m.Poly(h, kSeries), y);
  }
  Value* square = m.Mul(y, y);
  Value* root = m.Mul(scaled, square);
  // One step of Newton, at half size, because a rounded cube of the root may overflow.
  Value* error = m.Fma(m.Neg(m.Mul(root, root)), m.Mul(root, m.F(0.5)), m.Mul(scaled, m.F(0.5)));
  root = m.Fma(error, m.Mul(square, m.F(2.0 / 3)), root);
  root = m.Select(subnormal, m.Mul(root, m.F(0x1p-8, 0x1p-18)), root);
  Value* ordinary = m.Select(m.Lt(a, m.Inf()), m.CopySign(root, x), x);
  return m.Select(m.Gt(a, m.F(0)), ordinary, x);
}

}  // namespace hilo::codegen
