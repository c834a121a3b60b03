#include "backends/llvm/math/vector_math.h"

#include <cmath>
#include <iterator>

#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/math/vector_math_families.h"

namespace hilo::codegen {
namespace {

using llvm::Value;

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

// Returns true for functions without branches and calls that access the bits of floats.
bool LooksIntoBits(MathFunction function, const MathBuilder& m) {
  switch (function) {
    case MathFunction::kAcosh:
    case MathFunction::kAsinh:
    case MathFunction::kAtanh:
    case MathFunction::kCbrt:
    case MathFunction::kCosh:
    case MathFunction::kErf:
    case MathFunction::kExp:
    case MathFunction::kExpm1:
    case MathFunction::kLog:
    case MathFunction::kLog1p:
    case MathFunction::kLogistic:
    case MathFunction::kSinh:
    case MathFunction::kTanh: return true;
    case MathFunction::kPower: return !m.f64();
    default: return false;
  }
}

// Returns true if `function` of a scalar is better computed in the first lane of a vector: integer operations on its
// bits would use the general registers, which costs some four cycles each way, and vectors have more instructions.
bool WantsVector(MathFunction function, const MathBuilder& m) {
  return !m.type()->isVectorTy() && m.target().has_avx512 && LooksIntoBits(function, m);
}

llvm::Type* VectorOf(const MathBuilder& m) { return llvm::FixedVectorType::get(m.type(), m.f64() ? 2 : 4); }
Value* InFirstLane(MathBuilder& m, Value* x) {
  return m.ir().CreateInsertElement(llvm::PoisonValue::get(VectorOf(m)), x, uint64_t{0});
}

struct FunctionRow {
  MathFunction function;
  const char* name;
  int arity;
};

constexpr FunctionRow kFunctions[] = {
    {MathFunction::kAcos, "acos", 1},
    {MathFunction::kAcosh, "acosh", 1},
    {MathFunction::kAsin, "asin", 1},
    {MathFunction::kAsinh, "asinh", 1},
    {MathFunction::kAtan, "atan", 1},
    {MathFunction::kAtanh, "atanh", 1},
    {MathFunction::kCbrt, "cbrt", 1},
    {MathFunction::kCeil, "ceil", 1},
    {MathFunction::kCos, "cosine", 1},
    {MathFunction::kCosh, "cosh", 1},
    {MathFunction::kErf, "erf", 1},
    {MathFunction::kExp, "exponential", 1},
    {MathFunction::kExpm1, "exponential-minus-one", 1},
    {MathFunction::kFloor, "floor", 1},
    {MathFunction::kLog, "log", 1},
    {MathFunction::kLog1p, "log-plus-one", 1},
    {MathFunction::kLogistic, "logistic", 1},
    {MathFunction::kRoundNearestAfz, "round-nearest-afz", 1},
    {MathFunction::kRoundNearestEven, "round-nearest-even", 1},
    {MathFunction::kRsqrt, "rsqrt", 1},
    {MathFunction::kSign, "sign", 1},
    {MathFunction::kSin, "sine", 1},
    {MathFunction::kSinh, "sinh", 1},
    {MathFunction::kSqrt, "sqrt", 1},
    {MathFunction::kTan, "tan", 1},
    {MathFunction::kTanh, "tanh", 1},
    {MathFunction::kAtan2, "atan2", 2},
    {MathFunction::kPower, "power", 2},
    {MathFunction::kRemainder, "remainder", 2},
};
static_assert(std::size(kFunctions) == kMathFunctionCount);

template <typename Function>
MathSymbol Row(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}
using F1 = float(float);
using D1 = double(double);
using F2 = float(float, float);
using D2 = double(double, double);
using F3 = float(float, float, float);
using D3 = double(double, double, double);

}  // namespace

absl::string_view MathFunctionName(MathFunction function) { return kFunctions[static_cast<int>(function)].name; }
int MathFunctionArity(MathFunction function) { return kFunctions[static_cast<int>(function)].arity; }

MathTarget MathTarget::Of(const CpuFeatures& cpu) { return {.has_fma = cpu.has_fma, .has_avx512 = cpu.has_avx512}; }

Value* EmitUnary(MathFunction function, llvm::IRBuilderBase& b, Value* x, const MathTarget& target) {
  MathBuilder m(b, x->getType(), target);
  namespace intrinsic = llvm::Intrinsic;
  if (WantsVector(function, m))
    return b.CreateExtractElement(EmitUnary(function, b, InFirstLane(m, x), target), uint64_t{0});
  switch (function) {
    case MathFunction::kAcos: return EmitAcos(m, x);
    case MathFunction::kAcosh: return EmitAcosh(m, x);
    case MathFunction::kAsin: return EmitAsin(m, x);
    case MathFunction::kAsinh: return EmitAsinh(m, x);
    case MathFunction::kAtan: return EmitAtan(m, x);
    case MathFunction::kAtanh: return EmitAtanh(m, x);
    case MathFunction::kCbrt: return EmitCbrt(m, x);
    case MathFunction::kCeil: return b.CreateUnaryIntrinsic(intrinsic::ceil, x);
    case MathFunction::kCos: return EmitCos(m, x);
    case MathFunction::kCosh: return EmitCosh(m, x);
    case MathFunction::kErf: return EmitErf(m, x);
    case MathFunction::kExp: return EmitExp(m, x);
    case MathFunction::kExpm1: return EmitExpm1(m, x);
    case MathFunction::kFloor: return b.CreateUnaryIntrinsic(intrinsic::floor, x);
    case MathFunction::kLog: return EmitLog(m, x);
    case MathFunction::kLog1p: return EmitLog1p(m, x);
    case MathFunction::kLogistic: return EmitLogistic(m, x);
    case MathFunction::kRoundNearestAfz: return b.CreateUnaryIntrinsic(intrinsic::round, x);
    case MathFunction::kRoundNearestEven: return b.CreateUnaryIntrinsic(intrinsic::roundeven, x);
    case MathFunction::kRsqrt: return m.Div(m.F(1), m.Sqrt(x));
    case MathFunction::kSign: return EmitSign(m, x);
    case MathFunction::kSin: return EmitSin(m, x);
    case MathFunction::kSinh: return EmitSinh(m, x);
    case MathFunction::kSqrt: return m.Sqrt(x);
    case MathFunction::kTan: return EmitTan(m, x);
    case MathFunction::kTanh: return EmitTanh(m, x);
    case MathFunction::kAtan2:
    case MathFunction::kPower:
    case MathFunction::kRemainder: return nullptr;
  }
  return nullptr;
}

Value* EmitBinary(MathFunction function, llvm::IRBuilderBase& b, Value* lhs, Value* rhs, const MathTarget& target) {
  MathBuilder m(b, lhs->getType(), target);
  if (function == MathFunction::kPower) {
    if (Value* power = EmitPowerByRoots(m, lhs, rhs)) return power;
  }
  if (WantsVector(function, m)) {
    return b.CreateExtractElement(EmitBinary(function, b, InFirstLane(m, lhs), InFirstLane(m, rhs), target),
                                  uint64_t{0});
  }
  if (function == MathFunction::kAtan2) return EmitAtan2(m, lhs, rhs);
  if (function == MathFunction::kPower) return EmitPower(m, lhs, rhs);
  if (function == MathFunction::kRemainder) return EmitRemainder(m, lhs, rhs);
  return nullptr;
}

namespace {

// The library's double functions lose bits of huge arguments that are close to a multiple of pi / 2.
double Circular(double x, double (*function)(double), long double (*wide)(long double)) {
  return std::fabs(x) < 0x1p30 ? function(x) : static_cast<double>(wide(x));
}

}  // namespace

absl::Span<const MathSymbol> MathSymbols() {
  static const auto* const symbols = new std::vector<MathSymbol>{
      Row<D1>("hilo_math_sin", [](double x) { return Circular(x, std::sin, std::sin); }),
      Row<D1>("hilo_math_cos", [](double x) { return Circular(x, std::cos, std::cos); }),
      Row<D1>("hilo_math_tan", [](double x) { return Circular(x, std::tan, std::tan); }),
      Row<D2>("hilo_math_pow", std::pow),
      Row<F2>("hilo_math_fmodf", std::fmod),
      Row<D2>("hilo_math_fmod", std::fmod),
      // Functions that LLVM calls where the target has no instruction for an intrinsic.
      Row<F2>("fmodf", std::fmod),
      Row<D2>("fmod", std::fmod),
      Row<F3>("fmaf", std::fma),
      Row<D3>("fma", std::fma),
      Row<F1>("floorf", std::floor),
      Row<D1>("floor", std::floor),
      Row<F1>("ceilf", std::ceil),
      Row<D1>("ceil", std::ceil),
      Row<F1>("truncf", std::trunc),
      Row<D1>("trunc", std::trunc),
      Row<F1>("roundf", std::round),
      Row<D1>("round", std::round),
      Row<F1>("rintf", std::rint),
      Row<D1>("rint", std::rint),
      // The rounding mode is always to nearest even, in which these two are rint.
      Row<F1>("roundevenf", std::rint),
      Row<D1>("roundeven", std::rint),
  };
  return *symbols;
}

}  // namespace hilo::codegen
