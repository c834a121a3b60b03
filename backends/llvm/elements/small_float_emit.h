// Conversions of element types as LLVM IR, on scalars and fixed vectors. All small floats are converted through f32.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_SMALL_FLOAT_EMIT_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_SMALL_FLOAT_EMIT_H_

#include "hilo/primitive_type.h"

namespace llvm {
class IRBuilderBase;
class Type;
class Value;
}  // namespace llvm

namespace hilo::codegen {

// Converts f32 to the bits of a small float, in the low bits of an i8 (or an i16, for formats of more than 8 bits):
// rounds to nearest, ties to even; overflow, NaN and f8e8m0fnu as FloatSpecials specifies.
llvm::Value* EmitFloatToSmall(llvm::IRBuilderBase& b, llvm::Value* f32, const FloatFormat& format);

// Converts the bits of a small float, in an integer of any width whose other bits are 0, to f32; exact.
llvm::Value* EmitSmallToFloat(llvm::IRBuilderBase& b, llvm::Value* bits, const FloatFormat& format);

// Convert f32 to half and back. With F16C (`has_f16c`) one instruction, else arithmetic on bits: LLVM would call its
// run-time library.
llvm::Value* EmitFloatToHalf(llvm::IRBuilderBase& b, llvm::Value* f32, bool has_f16c);
llvm::Value* EmitHalfToFloat(llvm::IRBuilderBase& b, llvm::Value* half, bool has_f16c);

// Convert f32 to bfloat and back, without LLVM's run-time library.
llvm::Value* EmitFloatToBfloat(llvm::IRBuilderBase& b, llvm::Value* f32);
llvm::Value* EmitBfloatToFloat(llvm::IRBuilderBase& b, llvm::Value* bfloat);

// Rounds toward zero; out-of-range values saturate, NaN becomes 0.
llvm::Value* EmitFloatToInt(llvm::IRBuilderBase& b, llvm::Value* x, llvm::Type* to, bool is_signed);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_SMALL_FLOAT_EMIT_H_
