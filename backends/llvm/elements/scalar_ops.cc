// Entry points of the element-wise families: selects the family of an op, and handles what is common to all.
#include "backends/llvm/elements/scalar_ops.h"

#include <algorithm>
#include <cstring>

#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/op_dispatch.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/ops/table/total_order.h"

namespace hilo::codegen {
namespace {

absl::Status NoEmission(HloOpcode opcode, PrimitiveType type) {
  return Unimplemented(HloOpcodeString(opcode), " is not emitted for elements of type ", PrimitiveTypeName(type));
}

llvm::Value* FlipSign(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  return b.CreateXor(x, llvm::ConstantInt::get(type, llvm::APInt::getSignMask(type->getScalarSizeInBits())));
}

// Flips all bits of negative integers but their signs.
llvm::Value* FlipBelowZero(llvm::IRBuilder<>& b, llvm::Value* x) {
  const unsigned width = x->getType()->getScalarSizeInBits();
  return b.CreateXor(x, b.CreateLShr(b.CreateAShr(x, IntLike(x, width - 1)), IntLike(x, 1)));
}

// The bits of a float as a signed integer that orders as HLO's total order does.
llvm::Value* TotalOrderKey(EmitterContext& context, PrimitiveType type, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  const unsigned width = x->getType()->getScalarSizeInBits();
  llvm::Value* key = FlipBelowZero(b, b.CreateBitCast(x, x->getType()->getWithNewType(b.getIntNTy(width))));
  if (!NanIsFirst(type)) return key;
  llvm::Constant* least = llvm::ConstantInt::get(key->getType(), llvm::APInt::getSignedMinValue(width));
  return b.CreateSelect(b.CreateFCmpUNO(x, x), least, key);
}

llvm::CmpInst::Predicate FloatPredicate(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::kEq: return llvm::CmpInst::FCMP_OEQ;
    case ComparisonDirection::kNe: return llvm::CmpInst::FCMP_UNE;
    case ComparisonDirection::kGe: return llvm::CmpInst::FCMP_OGE;
    case ComparisonDirection::kGt: return llvm::CmpInst::FCMP_OGT;
    case ComparisonDirection::kLe: return llvm::CmpInst::FCMP_OLE;
    case ComparisonDirection::kLt: return llvm::CmpInst::FCMP_OLT;
  }
  return llvm::CmpInst::FCMP_FALSE;
}

llvm::CmpInst::Predicate IntPredicate(ComparisonDirection direction, bool is_signed) {
  switch (direction) {
    case ComparisonDirection::kEq: return llvm::CmpInst::ICMP_EQ;
    case ComparisonDirection::kNe: return llvm::CmpInst::ICMP_NE;
    case ComparisonDirection::kGe: return is_signed ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_UGE;
    case ComparisonDirection::kGt: return is_signed ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_UGT;
    case ComparisonDirection::kLe: return is_signed ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE;
    case ComparisonDirection::kLt: return is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT;
  }
  return llvm::CmpInst::ICMP_EQ;
}

}  // namespace

void Unify(EmitterContext& context, ElementValue* x, ElementValue* y) {
  if (x->IsUniform() == y->IsUniform()) return;
  *x = context.Splat(*x);
  *y = context.Splat(*y);
}

absl::StatusOr<ElementValue> EmitUnaryOp(EmitterContext& context, HloOpcode opcode, PrimitiveType type,
                                         ElementValue x) {
  ElementValue result;
  if (IsComplexType(type)) {
    result = EmitComplexUnary(context, opcode, x);
  } else if (IsFloatingPointType(type)) {
    if (opcode == HloOpcode::kIsFinite && type == F16)
      x = EmitBitcast(context, U16, F16, EmitBitcast(context, F16, U16, x));
    result.re = EmitFloatUnary(context, opcode, x.re);
  } else if (type == PRED) {
    if (opcode == HloOpcode::kNot) result.re = context.b().CreateNot(x.re);
  } else {
    result.re = EmitIntegerUnary(context, opcode, type, x.re);
  }
  if (result.re == nullptr) return NoEmission(opcode, type);
  return opcode == HloOpcode::kIsFinite ? result : RoundToType(context, type, result);
}

absl::StatusOr<ElementValue> EmitBinaryOp(EmitterContext& context, HloOpcode opcode, PrimitiveType type, ElementValue x,
                                          ElementValue y) {
  Unify(context, &x, &y);
  ElementValue result;
  if (opcode == HloOpcode::kComplexNumber) return ElementValue{x.re, y.re};
  if (IsComplexType(type)) {
    result = EmitComplexBinary(context, opcode, x, y);
  } else if (IsFloatingPointType(type)) {
    result.re = EmitFloatBinary(context, opcode, x.re, y.re);
  } else if (type == PRED) {
    result.re = EmitPredBinary(context, opcode, x.re, y.re);
  } else {
    HILO_ASSIGN_OR_RETURN(result.re, EmitIntegerBinary(context, opcode, type, x.re, y.re));
  }
  if (result.re == nullptr) return NoEmission(opcode, type);
  return RoundToType(context, type, result);
}

llvm::Value* EmitOrderKey(EmitterContext& context, PrimitiveType type, llvm::Value* x, bool descending) {
  llvm::IRBuilder<>& b = context.b();
  if (IsFloatingPointType(type)) x = TotalOrderKey(context, type, x);
  if (IsFloatingPointType(type) || IsSignedIntegralType(type)) x = FlipSign(b, x);
  if (descending) x = b.CreateNot(x);
  return type == PRED ? b.CreateZExt(x, b.getInt8Ty()) : x;
}

llvm::Value* EmitElementOfOrderKey(EmitterContext& context, PrimitiveType type, llvm::Value* key, bool descending) {
  llvm::IRBuilder<>& b = context.b();
  if (descending) key = b.CreateNot(key);
  if (IsFloatingPointType(type) || IsSignedIntegralType(type)) key = FlipSign(b, key);
  if (!IsFloatingPointType(type)) return key;
  return b.CreateBitCast(FlipBelowZero(b, key), key->getType()->getWithNewType(RegisterType(b.getContext(), type)));
}

ElementValue EmitCompare(EmitterContext& context, ComparisonDirection direction, ComparisonType order,
                         PrimitiveType type, ElementValue x, ElementValue y) {
  llvm::IRBuilder<>& b = context.b();
  Unify(context, &x, &y);
  if (IsComplexType(type)) {
    llvm::Value* re = b.CreateFCmp(FloatPredicate(direction), x.re, y.re);
    llvm::Value* im = b.CreateFCmp(FloatPredicate(direction), x.im, y.im);
    return {direction == ComparisonDirection::kNe ? b.CreateOr(re, im) : b.CreateAnd(re, im)};
  }
  if (IsFloatingPointType(type)) {
    if (order != ComparisonType::kTotalOrder) return {b.CreateFCmp(FloatPredicate(direction), x.re, y.re)};
    return {b.CreateICmp(IntPredicate(direction, true), TotalOrderKey(context, type, x.re),
                         TotalOrderKey(context, type, y.re))};
  }
  return {b.CreateICmp(IntPredicate(direction, IsSignedIntegralType(type)), x.re, y.re)};
}

ElementValue EmitSelect(EmitterContext& context, llvm::Value* condition, ElementValue on_true, ElementValue on_false) {
  Unify(context, &on_true, &on_false);
  if (condition->getType()->isVectorTy()) {
    on_true = context.Splat(on_true);
    on_false = context.Splat(on_false);
  }
  llvm::IRBuilder<>& b = context.b();
  ElementValue result{b.CreateSelect(condition, on_true.re, on_false.re)};
  if (on_true.im != nullptr) result.im = b.CreateSelect(condition, on_true.im, on_false.im);
  return result;
}

ElementValue EmitClamp(EmitterContext& context, PrimitiveType type, ElementValue low, ElementValue x,
                       ElementValue high) {
  // Neither operation can fail on a type that clamp takes.
  auto raised = EmitBinaryOp(context, HloOpcode::kMaximum, type, low, x);
  if (!raised.ok()) return x;
  auto bounded = EmitBinaryOp(context, HloOpcode::kMinimum, type, *raised, high);
  return bounded.ok() ? *bounded : x;
}

namespace {

using Operands = absl::Span<const ElementValue>;
using Elementwise = absl::StatusOr<ElementValue> (*)(EmitterContext&, const HloInstruction*, Operands);

// Returns the instruction whose elements `value` has at other indices.
const HloInstruction* MovedBy(const HloInstruction* value) {
  while (HasTrait(value->opcode(), kMovement) && value->opcode() != HloOpcode::kConcatenate) value = value->operand(0);
  return value;
}

// A value in memory may be what the other side of the comparison is too, or its maximum: both are rounded then, unless
// one is a constant.
absl::StatusOr<ElementValue> EmitCompareOp(EmitterContext& context, const HloInstruction* compare, Operands operands) {
  const CompareAttrs& attrs = compare->attrs<CompareAttrs>();
  const PrimitiveType type = compare->operand(0)->shape().element_type();
  const HloInstruction *lhs = MovedBy(compare->operand(0)), *rhs = MovedBy(compare->operand(1));
  const auto rounded = [&](const HloInstruction& value, ElementValue x) {
    return value.IsParameter() || lhs->IsConstant() || rhs->IsConstant() ? x : RoundAsInMemory(context, type, x);
  };
  return EmitCompare(context, attrs.direction, attrs.type, type, rounded(*lhs, operands[0]),
                     rounded(*rhs, operands[1]));
}
absl::StatusOr<ElementValue> EmitReducePrecisionOp(EmitterContext& context, const HloInstruction* instruction,
                                                   Operands operands) {
  const auto& attrs = instruction->attrs<ReducePrecisionAttrs>();
  const int exponent_bits = static_cast<int>(std::min<int64_t>(attrs.exponent_bits, 64));
  const int mantissa_bits = static_cast<int>(std::min<int64_t>(attrs.mantissa_bits, 64));
  return EmitReducePrecision(context, instruction->operand(0)->shape().element_type(), exponent_bits, mantissa_bits,
                             operands[0]);
}
absl::StatusOr<ElementValue> EmitClampOp(EmitterContext& context, const HloInstruction* clamp, Operands operands) {
  return EmitClamp(context, clamp->shape().element_type(), operands[0], operands[1], operands[2]);
}
absl::StatusOr<ElementValue> EmitConvertOp(EmitterContext& context, const HloInstruction* convert, Operands operands) {
  return EmitConvert(context, convert->operand(0)->shape().element_type(), convert->shape().element_type(),
                     operands[0]);
}
absl::StatusOr<ElementValue> EmitSelectOp(EmitterContext& context, const HloInstruction*, Operands operands) {
  return EmitSelect(context, operands[0].re, operands[1], operands[2]);
}
absl::StatusOr<ElementValue> EmitCopyOp(EmitterContext&, const HloInstruction*, Operands operands) {
  return operands[0];
}

// The element-wise ops beside the two families.
constexpr OpcodeMap<Elementwise> kElementwise = {
    {HloOpcode::kClamp, EmitClampOp},
    {HloOpcode::kCompare, EmitCompareOp},
    {HloOpcode::kConvert, EmitConvertOp},
    {HloOpcode::kCopy, EmitCopyOp},
    {HloOpcode::kReducePrecision, EmitReducePrecisionOp},
    {HloOpcode::kSelect, EmitSelectOp},
};

}  // namespace

bool IsReadAtSameIndex(const HloInstruction* instruction, int64_t operand) {
  return instruction->operand(operand)->shape().rank() == instruction->shape().rank();
}

absl::StatusOr<ElementValue> EmitElementwise(EmitterContext& context, const HloInstruction* instruction,
                                             absl::Span<const ElementValue> operands) {
  const HloOpcode opcode = instruction->opcode();
  const HloFamily family = OpcodeInfo(opcode).family;
  const PrimitiveType type = instruction->operand(0)->shape().element_type();
  if (family == HloFamily::kUnary) return EmitUnaryOp(context, opcode, type, operands[0]);
  if (family == HloFamily::kBinary) return EmitBinaryOp(context, opcode, type, operands[0], operands[1]);
  if (kElementwise[opcode] != nullptr) return kElementwise[opcode](context, instruction, operands);
  return Unimplemented(HloOpcodeString(opcode), " is not an element-wise operation that can be emitted");
}

namespace {

llvm::Constant* LiteralPart(llvm::LLVMContext& context, PrimitiveType type, const uint8_t* bytes) {
  const int64_t size = PrimitiveTypeByteSize(type);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, size);
  llvm::Type* register_type = RegisterType(context, type);
  if (type == F64)
    return llvm::ConstantFP::get(register_type, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
  if (IsFloatingPointType(type)) {
    uint32_t float_bits = static_cast<uint32_t>(bits);
    if (type != F32) {
      const float value = ArrayTypeSwitch(type, [&](auto tag) -> float {
        using T = typename decltype(tag)::type;
        if constexpr (is_small_float<T>) {
          return static_cast<float>(T::FromBits(static_cast<decltype(T::bits)>(bits)));
        } else {
          return 0;
        }
      });
      std::memcpy(&float_bits, &value, sizeof value);
    }
    return llvm::ConstantFP::get(register_type,
                                 llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, float_bits)));
  }
  if (type == PRED) bits = bits != 0;
  return llvm::ConstantInt::get(register_type, bits);
}

}  // namespace

ElementValue EmitLiteral(EmitterContext& context, const Literal& literal, int64_t linear) {
  const PrimitiveType type = literal.shape().element_type(), part = ComplexComponentType(type);
  const uint8_t* bytes = literal.untyped_data().data() + linear * PrimitiveTypeByteSize(type);
  ElementValue value{LiteralPart(context.llvm_context(), part, bytes)};
  if (IsComplexType(type)) value.im = LiteralPart(context.llvm_context(), part, bytes + PrimitiveTypeByteSize(part));
  return value;
}

ElementValue EmitZero(EmitterContext& context, PrimitiveType type) {
  llvm::Value* zero = llvm::Constant::getNullValue(RegisterType(context.llvm_context(), type));
  return {zero, IsComplexType(type) ? zero : nullptr};
}

}  // namespace hilo::codegen
