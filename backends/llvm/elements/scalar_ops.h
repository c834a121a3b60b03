// HLO's arithmetic on elements in registers: each element-wise opcode on scalars or on vectors of lanes. If some
// operands are scalars and some vectors, the scalars are splatted.
//
// Results of types narrower than 16 bits are always rounded (or wrapped) to the type; F16 and BF16 only when numerics
// are strict, or when they are compared.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_SCALAR_OPS_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_SCALAR_OPS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::codegen {

// Errors: Unimplemented for opcodes outside the family.
absl::StatusOr<ElementValue> EmitUnaryOp(EmitterContext& context, HloOpcode opcode, PrimitiveType type, ElementValue x);
absl::StatusOr<ElementValue> EmitBinaryOp(EmitterContext& context, HloOpcode opcode, PrimitiveType type, ElementValue x,
                                          ElementValue y);
ElementValue EmitCompare(EmitterContext& context, ComparisonDirection direction, ComparisonType order,
                         PrimitiveType type, ElementValue x, ElementValue y);
// Returns an unsigned integer as wide as the register (PRED: 8 bits) that orders as the elements do, floats in total
// order; `descending` reverses the order. Types: PRED, integers and floats.
llvm::Value* EmitOrderKey(EmitterContext& context, PrimitiveType type, llvm::Value* x, bool descending);
// Returns the element, an integer, F32 or F64, that has the order key `key`.
llvm::Value* EmitElementOfOrderKey(EmitterContext& context, PrimitiveType type, llvm::Value* key, bool descending);
ElementValue EmitSelect(EmitterContext& context, llvm::Value* condition, ElementValue on_true, ElementValue on_false);
ElementValue EmitClamp(EmitterContext& context, PrimitiveType type, ElementValue low, ElementValue x,
                       ElementValue high);
ElementValue EmitConvert(EmitterContext& context, PrimitiveType from, PrimitiveType to, ElementValue x);
// Bitcasts between types of equal width in memory.
ElementValue EmitBitcast(EmitterContext& context, PrimitiveType from, PrimitiveType to, ElementValue x);
// Convert an element to its bits in an integer of the type's width (PRED: 8 bits), and back.
llvm::Value* ElementToBits(EmitterContext& context, PrimitiveType type, ElementValue x);
ElementValue ElementFromBits(EmitterContext& context, PrimitiveType type, llvm::Value* bits);
ElementValue EmitReducePrecision(EmitterContext& context, PrimitiveType type, int exponent_bits, int mantissa_bits,
                                 ElementValue x);

// Emits any instruction with trait kElementwise except map, on the values of its operands. Errors: Unimplemented.
absl::StatusOr<ElementValue> EmitElementwise(EmitterContext& context, const HloInstruction* instruction,
                                             absl::Span<const ElementValue> operands);

// Returns true if an operand of an element-wise instruction is read at the result's index; scalar operands of clamp and
// select are not.
bool IsReadAtSameIndex(const HloInstruction* instruction, int64_t operand);

// Emits element `linear` of an array literal, as an immediate.
ElementValue EmitLiteral(EmitterContext& context, const Literal& literal, int64_t linear = 0);
// Returns a scalar zero of a type.
ElementValue EmitZero(EmitterContext& context, PrimitiveType type);
// Rounds to `type` as a store and a load do; integers are wrapped.
ElementValue RoundAsInMemory(EmitterContext& context, PrimitiveType type, ElementValue x);
// Rounds to `type` where the numeric options require it.
ElementValue RoundToType(EmitterContext& context, PrimitiveType type, ElementValue x);
// Makes both scalars or both vectors.
void Unify(EmitterContext& context, ElementValue* x, ElementValue* y);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_SCALAR_OPS_H_
