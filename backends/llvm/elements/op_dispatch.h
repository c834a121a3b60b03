// The families of scalar_ops by number kind, one file per family. Private to backends/llvm/elements. Operands are
// unified: all scalars or all vectors.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_OP_DISPATCH_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_OP_DISPATCH_H_

#include "absl/status/statusor.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "backends/llvm/math/vector_math.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo::codegen {

// Return null if the family has no such op.
llvm::Value* EmitIntegerUnary(EmitterContext& context, HloOpcode opcode, PrimitiveType type, llvm::Value* x);
llvm::Value* EmitFloatUnary(EmitterContext& context, HloOpcode opcode, llvm::Value* x);
ElementValue EmitComplexUnary(EmitterContext& context, HloOpcode opcode, ElementValue x);

absl::StatusOr<llvm::Value*> EmitIntegerBinary(EmitterContext& context, HloOpcode opcode, PrimitiveType type,
                                               llvm::Value* x, llvm::Value* y);
llvm::Value* EmitPredBinary(EmitterContext& context, HloOpcode opcode, llvm::Value* x, llvm::Value* y);
llvm::Value* EmitFloatBinary(EmitterContext& context, HloOpcode opcode, llvm::Value* x, llvm::Value* y);
ElementValue EmitComplexBinary(EmitterContext& context, HloOpcode opcode, ElementValue x, ElementValue y);

// Wraps an integer to the range of a type of fewer than 8 bits; others pass through.
llvm::Value* WrapInteger(EmitterContext& context, PrimitiveType type, llvm::Value* x);

// A float constant and an integer constant (sign-extended) of x's type.
llvm::Constant* FloatLike(llvm::Value* x, double value);
llvm::Constant* IntLike(llvm::Value* x, int64_t value);
llvm::Value* Fabs(EmitterContext& context, llvm::Value* x);
MathTarget MathTargetOf(const EmitterContext& context);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_OP_DISPATCH_H_
