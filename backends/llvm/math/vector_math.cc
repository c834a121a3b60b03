#include "backends/llvm/math/vector_math.h"

#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/math/math_builder.h"
#include "backends/llvm/math/math_functions.h"

namespace hilo::codegen {
namespace {

using llvm::Value;

// Returns true if a function of a scalar is better computed in the first lane of a vector: integer operations on its
// bits would use the general registers, which costs some four cycles each way, and vectors have more instructions.
bool WantsVector(AccessesBits accesses_bits, const MathBuilder& m) {
  const bool in_type = accesses_bits == AccessesBits::kYes || (accesses_bits == AccessesBits::kInF32 && !m.f64());
  return !m.type()->isVectorTy() && m.target().has_avx512 && in_type;
}

llvm::Type* VectorOf(const MathBuilder& m) { return llvm::FixedVectorType::get(m.type(), m.f64() ? 2 : 4); }
Value* InFirstLane(MathBuilder& m, Value* x) {
  return m.ir().CreateInsertElement(llvm::PoisonValue::get(VectorOf(m)), x, uint64_t{0});
}

}  // namespace

Value* EmitCeil(MathBuilder& m, Value* x) { return m.ir().CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x); }
Value* EmitFloor(MathBuilder& m, Value* x) { return m.ir().CreateUnaryIntrinsic(llvm::Intrinsic::floor, x); }
Value* EmitRoundNearestAfz(MathBuilder& m, Value* x) { return m.ir().CreateUnaryIntrinsic(llvm::Intrinsic::round, x); }
Value* EmitRoundNearestEven(MathBuilder& m, Value* x) {
  return m.ir().CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
}
// f64: a last step on an error that is computed in twice the digits rounds correctly (but for one argument in 2^40 or
// so), so that the bits do not tell where the first approximation is from: a root and a division, or, in half the time,
// an estimate of 14 bits. With e = 1 - x y^2 the result is y (1 - e)^(-1/2) = y + y e (1/2 + 3/8 e + ...), which
// triples the digits of y.
Value* EmitRsqrt(MathBuilder& m, Value* x) {
  Value* y = m.RsqrtEstimate(x);
  const bool is_estimate = y != nullptr;
  if (!is_estimate) y = m.Div(m.F(1), m.Sqrt(x));
  if (!m.f64() || !m.target().has_fma) return y;
  Value* const first = y;
  const auto refine = [&](Value* error) { return m.Fma(m.Mul(y, error), m.Fma(error, m.F(0.375), m.F(0.5)), y); };
  if (is_estimate) y = refine(m.Fma(m.Neg(m.Mul(x, y)), y, m.F(1)));
  Value *root = m.Mul(x, y), *root_rest = m.Fma(x, y, m.Neg(root));
  Value* error = m.Fma(m.Neg(root_rest), y, m.Fma(m.Neg(root), y, m.F(1)));
  return m.Select(m.IsNan(error), first, refine(error));  // NaN: of zeros and infinities
}
Value* EmitSqrt(MathBuilder& m, Value* x) { return m.Sqrt(x); }

Value* EmitSign(MathBuilder& m, Value* x) {
  Value* zero_or_nan = m.ir().CreateFCmpUEQ(x, m.F(0));
  return m.Select(zero_or_nan, x, m.CopySign(m.F(1), x));
}

// |x| - trunc(|x| / |y|) |y| is exact in one fused step while the quotient is small; the quotient may be one off. Other
// cases, including all special values, call the C library.
Value* EmitRemainder(MathBuilder& m, Value* x, Value* y) {
  const char* symbol = m.f64() ? "hilo_math_fmod" : "hilo_math_fmodf";
  if (!m.target().has_fma) return m.CallPerLane(symbol, {x, y}, /*symbol_has_own_type=*/true);
  Value* a = m.Abs(x);
  Value* d = m.Abs(y);
  Value* quotient = m.Trunc(m.Div(a, d));
  Value* rest = m.Fma(m.Neg(quotient), d, a);
  rest = m.Select(m.Lt(rest, m.F(0)), m.Add(rest, d), rest);
  rest = m.Select(m.Ge(rest, d), m.Sub(rest, d), rest);
  Value* easy = m.And(m.Lt(quotient, m.F(0x1p22, 0x1p51)), m.Lt(d, m.Inf()));
  return m.OrCall(m.CopySign(rest, x), m.ir().CreateNot(easy), symbol, {x, y}, /*symbol_has_own_type=*/true);
}

MathTarget MathTarget::Of(bool has_fma, bool has_avx512, int vector_bits) {
  const bool has_avx2_alone = has_fma && !has_avx512 && vector_bits == 256;
  return {.has_fma = has_fma,
          .has_avx512 = has_avx512,
          .has_lookup = has_fma && vector_bits >= 256,  // AVX2
          .has_circular_f32 = vector_bits > 0,          // GPUs have none
          .splat_bits = has_avx2_alone ? vector_bits : 0};
}

MathTarget MathTarget::Of(const CpuFeatures& cpu) { return Of(cpu.has_fma, cpu.has_avx512, cpu.vector_bits); }

Value* EmitUnary(HloOpcode function, llvm::IRBuilderBase& b, Value* x, const MathTarget& target) {
  MathBuilder m(b, x->getType(), target);
  const UnaryMath& math = kUnaryMath[function];
  if (WantsVector(math.accesses_bits, m))
    return b.CreateExtractElement(EmitUnary(function, b, InFirstLane(m, x), target), uint64_t{0});
  return math.emit(m, x);
}

Value* EmitBinary(HloOpcode function, llvm::IRBuilderBase& b, Value* lhs, Value* rhs, const MathTarget& target) {
  MathBuilder m(b, lhs->getType(), target);
  if (function == HloOpcode::kPower) {
    if (Value* power = EmitPowerByRoots(m, lhs, rhs)) return power;
  }
  const BinaryMath& math = kBinaryMath[function];
  if (WantsVector(math.accesses_bits, m)) {
    return b.CreateExtractElement(EmitBinary(function, b, InFirstLane(m, lhs), InFirstLane(m, rhs), target),
                                  uint64_t{0});
  }
  return math.emit(m, lhs, rhs);
}

}  // namespace hilo::codegen
