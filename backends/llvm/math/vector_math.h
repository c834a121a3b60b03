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

#include "backends/llvm/math/math_target.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace llvm {
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace hilo::codegen {

// Emit an op for which IsMathFunction() (math_functions.h) is true. The builder must be in a function of a module whose
// data layout is set.
llvm::Value* EmitUnary(HloOpcode function, llvm::IRBuilderBase& b, llvm::Value* x, const MathTarget& target);

// atan2(y, x), power(base, exponent), remainder(dividend, divisor); operands of one type. The remainder has the sign of
// the dividend, as C's fmod.
llvm::Value* EmitBinary(HloOpcode function, llvm::IRBuilderBase& b, llvm::Value* lhs, llvm::Value* rhs,
                        const MathTarget& target);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_VECTOR_MATH_H_
