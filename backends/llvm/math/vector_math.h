// Mathematical functions as inline LLVM IR, on a scalar or a fixed vector of f32 or f64.
//
// A lane's result depends on that lane's argument only: it is the same at every vector width, on every instruction set
// with fused multiply-add, and for all fast-math flags of the builder (they are cleared inside). NaN gives NaN;
// infinities, signed zeros and overflow are as in C's <math.h>; subnormal arguments and results are preserved.
// docs/numerics.md lists the errors in ULP. All code is branch-free except sin, cos, tan and remainder, which leave the
// fast path for huge arguments: these functions may end the builder's current block and continue in a new one, so
// callers must query GetInsertBlock() afterwards.
#ifndef HILO_BACKENDS_LLVM_MATH_VECTOR_MATH_H_
#define HILO_BACKENDS_LLVM_MATH_VECTOR_MATH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace llvm {
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace hilo::codegen {

struct CpuFeatures;

enum class MathFunction {
  // One operand.
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kCbrt,
  kCeil,
  kCos,
  kCosh,
  kErf,
  kExp,
  kExpm1,
  kFloor,
  kLog,
  kLog1p,
  kLogistic,
  kRoundNearestAfz,
  kRoundNearestEven,
  kRsqrt,
  kSign,
  kSin,
  kSinh,
  kSqrt,
  kTan,
  kTanh,
  // Two operands.
  kAtan2,
  kPower,
  kRemainder,
};

inline constexpr int kMathFunctionCount = static_cast<int>(MathFunction::kRemainder) + 1;

// "exp", "log1p", "round-nearest-even": XLA's names of the operations.
absl::string_view MathFunctionName(MathFunction function);
int MathFunctionArity(MathFunction function);

// Properties of the target.
struct MathTarget {
  bool has_fma = true;
  bool has_avx512 = false;

  static MathTarget Of(const CpuFeatures& cpu);
};

// Emits `function` of one operand at `x`. The builder must be in a function of a module whose data layout is set.
llvm::Value* EmitUnary(MathFunction function, llvm::IRBuilderBase& b, llvm::Value* x, const MathTarget& target);

// atan2(y, x), power(base, exponent), remainder(dividend, divisor); operands of one type. The remainder has the sign of
// the dividend, as C's fmod.
llvm::Value* EmitBinary(MathFunction function, llvm::IRBuilderBase& b, llvm::Value* lhs, llvm::Value* rhs,
                        const MathTarget& target);

// Functions of the process that the code above may call, and those that LLVM itself calls for its intrinsics.
struct MathSymbol {
  std::string name;
  void* address = nullptr;
};
absl::Span<const MathSymbol> MathSymbols();

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_VECTOR_MATH_H_
