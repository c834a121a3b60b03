// Values between types: convert, bitcast, reduce-precision, and the memory form of small floats.
//
// Every value is rounded once. Conversions that hardware would round twice (an integer or a double to a type below
// float) go through a float that was rounded to odd: its last bit then records that bits were cut off, and the second
// rounding gives the result of a single one.
#include "backends/llvm/elements/element_convert.h"

#include <cmath>
#include <limits>

#include "backends/llvm/elements/op_dispatch.h"
#include "backends/llvm/elements/small_float_emit.h"
#include "llvm/IR/PatternMatch.h"

namespace hilo::codegen {
namespace {

FloatFormat FormatOf(PrimitiveType type) {
  return ArrayTypeSwitch(type, [](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_small_float<T>) {
      return T::format;
    } else if constexpr (std::is_same_v<T, double>) {
      return FloatFormat{11, 52, 1023, FloatSpecials::kIeee};
    } else {
      return FloatFormat{8, 23, 127, FloatSpecials::kIeee};
    }
  });
}

llvm::Type* Like(llvm::Value* x, llvm::Type* scalar) { return x->getType()->getWithNewType(scalar); }

bool IsNarrowFloat(PrimitiveType type) { return IsFloatingPointType(type) && type != F32 && type != F64; }

// The memory form of a float type below F32, and back.
llvm::Value* Decode(EmitterContext& context, PrimitiveType type, llvm::Value* bits) {
  llvm::IRBuilder<>& b = context.b();
  if (type == F16)
    return EmitHalfToFloat(b, b.CreateBitCast(bits, Like(bits, b.getHalfTy())), context.target().has_f16c);
  if (type == BF16) return EmitBfloatToFloat(b, b.CreateBitCast(bits, Like(bits, b.getBFloatTy())));
  if (type == F4E2M1FN) bits = b.CreateAnd(bits, IntLike(bits, 15));
  return EmitSmallToFloat(b, bits, FormatOf(type));
}

// Returns the memory form of half precision that Decode made `x` from, or null. LLVM, which rounds nothing twice, does
// not see it behind the fence of EmitHalfToFloat.
llvm::Value* BitsOfHalf(EmitterContext& context, llvm::Value* x) {
  using namespace llvm::PatternMatch;
  llvm::Value* half;
  if (!match(x, m_Intrinsic<llvm::Intrinsic::arithmetic_fence>(m_FPExt(m_Value(half)))) ||
      !half->getType()->getScalarType()->isHalfTy())
    return nullptr;
  return context.b().CreateBitCast(half, Like(x, context.b().getInt16Ty()));
}

llvm::Value* Encode(EmitterContext& context, PrimitiveType type, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  if (type == F16) {
    if (llvm::Value* bits = BitsOfHalf(context, x)) return bits;
    return b.CreateBitCast(EmitFloatToHalf(b, x, context.target().has_f16c), Like(x, b.getInt16Ty()));
  }
  if (type == BF16) {
    llvm::Value* bfloat =
        context.target().has_bf16_rounding ? b.CreateFPTrunc(x, Like(x, b.getBFloatTy())) : EmitFloatToBfloat(b, x);
    return b.CreateBitCast(bfloat, Like(x, b.getInt16Ty()));
  }
  return EmitFloatToSmall(b, x, FormatOf(type));
}
llvm::Value* Round(EmitterContext& context, PrimitiveType type, llvm::Value* x) {
  return IsNarrowFloat(type) ? Decode(context, type, Encode(context, type, x)) : x;
}

llvm::Value* DoubleToFloatOdd(EmitterContext& context, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  llvm::Value* near = b.CreateFPTrunc(x, Like(x, b.getFloatTy()));
  llvm::Value* back = b.CreateFPExt(near, x->getType());
  llvm::Value* bits = b.CreateBitCast(near, Like(x, b.getInt32Ty()));
  llvm::Value* above = b.CreateFCmpOGT(Fabs(context, back), Fabs(context, x));
  llvm::Value* inexact = b.CreateFCmpONE(back, x);
  bits = b.CreateSub(bits, b.CreateZExt(above, bits->getType()));
  bits = b.CreateOr(bits, b.CreateZExt(inexact, bits->getType()));
  return b.CreateBitCast(bits, near->getType());
}

llvm::Value* ConvertFloats(EmitterContext& context, PrimitiveType from, PrimitiveType to, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  if (to == F64) return from == F64 ? x : b.CreateFPExt(x, Like(x, b.getDoubleTy()));
  if (from == F64) x = to == F32 ? b.CreateFPTrunc(x, Like(x, b.getFloatTy())) : DoubleToFloatOdd(context, x);
  return from == to ? x : Round(context, to, x);
}

// Rounds integers that `digits` bits cannot hold to odd: the last bit that such a float always keeps records whether
// one below it was set.
llvm::Value* IntegerToOdd(EmitterContext& context, llvm::Value* x, bool is_signed, int digits) {
  llvm::IRBuilder<>& b = context.b();
  const int lost = static_cast<int>(x->getType()->getScalarSizeInBits()) - digits;
  llvm::Value* low = b.CreateAnd(x, IntLike(x, (int64_t{1} << lost) - 1));
  llvm::Value* sticky = b.CreateShl(b.CreateZExt(b.CreateIsNotNull(low), x->getType()), IntLike(x, lost));
  llvm::Value* odd = b.CreateOr(b.CreateXor(x, low), sticky);
  llvm::Value* magnitude = is_signed ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse()) : x;
  return b.CreateSelect(b.CreateICmpULT(magnitude, IntLike(x, int64_t{1} << digits)), x, odd);
}

llvm::Value* IntegerToFloat(EmitterContext& context, PrimitiveType from, PrimitiveType to, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  const bool is_signed = IsSignedIntegralType(from);
  const int bits = PrimitiveTypeBitWidth(from);
  const auto real = [&](llvm::Type* type) {
    return is_signed ? b.CreateSIToFP(x, Like(x, type)) : b.CreateUIToFP(x, Like(x, type));
  };
  if (to == F64) return real(b.getDoubleTy());
  if (IsNarrowFloat(to) && bits == 32) {
    x = IntegerToOdd(context, x, is_signed, 24);
    return Round(context, to, real(b.getFloatTy()));
  }
  if (IsNarrowFloat(to) && bits == 64) {
    x = IntegerToOdd(context, x, is_signed, 53);
    return ConvertFloats(context, F64, to, real(b.getDoubleTy()));
  }
  // Integers of 16 bits are floats already.
  return ConvertFloats(context, F32, to, real(b.getFloatTy()));
}

llvm::Value* FloatToInteger(EmitterContext& context, PrimitiveType to, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  const bool is_signed = IsSignedIntegralType(to);
  llvm::Value* value = EmitFloatToInt(b, x, Like(x, RegisterType(context.llvm_context(), to)), is_signed);
  const int bits = PrimitiveTypeBitWidth(to);
  if (bits >= 8) return value;
  if (!is_signed) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, value, IntLike(value, (1 << bits) - 1));
  value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, IntLike(value, (1 << (bits - 1)) - 1));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, IntLike(value, -(1 << (bits - 1))));
}

// Between real types.
llvm::Value* ConvertPart(EmitterContext& context, PrimitiveType from, PrimitiveType to, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  if (from == to) return x;
  if (IsFloatingPointType(from)) {
    if (IsFloatingPointType(to)) return ConvertFloats(context, from, to, x);
    if (to == PRED) return b.CreateFCmpUNE(x, FloatLike(x, 0));
    return FloatToInteger(context, to, x);
  }
  if (to == PRED) return b.CreateIsNotNull(x);
  if (IsFloatingPointType(to))
    return IntegerToFloat(context, from == PRED ? U8 : from, to,
                          from == PRED ? b.CreateZExt(x, Like(x, b.getInt8Ty())) : x);
  llvm::Type* type = Like(x, RegisterType(context.llvm_context(), to));
  x = IsSignedIntegralType(from) ? b.CreateSExtOrTrunc(x, type) : b.CreateZExtOrTrunc(x, type);
  return WrapInteger(context, to, x);
}

}  // namespace

llvm::Type* RegisterType(llvm::LLVMContext& context, PrimitiveType type) {
  type = ComplexComponentType(type);
  if (type == PRED) return llvm::Type::getInt1Ty(context);
  if (type == F64) return llvm::Type::getDoubleTy(context);
  if (IsFloatingPointType(type)) return llvm::Type::getFloatTy(context);
  return llvm::Type::getIntNTy(context, 8 * PrimitiveTypeByteSize(type));
}

llvm::Type* MemoryType(llvm::LLVMContext& context, PrimitiveType type) {
  type = ComplexComponentType(type);
  if (type == F32 || type == F64) return RegisterType(context, type);
  return llvm::Type::getIntNTy(context, 8 * PrimitiveTypeByteSize(type));
}

llvm::Value* FromMemory(EmitterContext& context, PrimitiveType type, llvm::Value* stored) {
  type = ComplexComponentType(type);
  if (type == PRED) return context.b().CreateIsNotNull(stored);
  return IsNarrowFloat(type) ? Decode(context, type, stored) : stored;
}

// Returns the bits from which `value` was decoded, if it is a bfloat that was only moved, or null. It is stored
// unchanged, NaNs too.
static llvm::Value* StoredBfloat(PrimitiveType type, llvm::Value* value) {
  using namespace llvm::PatternMatch;
  llvm::Value* bits;
  if (type != BF16 || !match(value, m_BitCast(m_Shl(m_ZExt(m_Value(bits)), m_SpecificInt(16))))) return nullptr;
  return bits->getType()->getScalarSizeInBits() == 16 ? bits : nullptr;
}

llvm::Value* ToMemory(EmitterContext& context, PrimitiveType type, llvm::Value* value) {
  type = ComplexComponentType(type);
  if (type == PRED) return context.b().CreateZExt(value, Like(value, context.b().getInt8Ty()));
  if (!IsNarrowFloat(type)) return value;
  llvm::Value* stored = StoredBfloat(type, value);
  return stored != nullptr ? stored : Encode(context, type, value);
}

ElementValue RoundAsInMemory(EmitterContext& context, PrimitiveType type, ElementValue x) {
  if (IsIntegralType(type)) return {WrapInteger(context, type, x.re)};
  return IsNarrowFloat(type) ? ElementValue{Round(context, type, x.re)} : x;
}

ElementValue RoundToType(EmitterContext& context, PrimitiveType type, ElementValue x) {
  const bool may_be_wider = !context.numerics().strict && (type == F16 || type == BF16);
  return may_be_wider ? x : RoundAsInMemory(context, type, x);
}

ElementValue EmitConvert(EmitterContext& context, PrimitiveType from, PrimitiveType to, ElementValue x) {
  if (from == to) return x;
  const PrimitiveType from_part = ComplexComponentType(from), to_part = ComplexComponentType(to);
  ElementValue result{ConvertPart(context, from_part, to_part, x.re)};
  if (!IsComplexType(to)) return result;
  result.im = IsComplexType(from) ? ConvertPart(context, from_part, to_part, x.im)
                                  : llvm::Constant::getNullValue(result.re->getType());
  return result;
}

llvm::Value* ElementToBits(EmitterContext& context, PrimitiveType type, ElementValue x) {
  llvm::IRBuilder<>& b = context.b();
  if (IsComplexType(type)) {
    const PrimitiveType part = ComplexComponentType(type);
    const int bits = PrimitiveTypeBitWidth(part);
    llvm::Type* wide = Like(x.re, b.getIntNTy(2 * bits));
    llvm::Value* low = b.CreateZExt(ElementToBits(context, part, {x.re}), wide);
    llvm::Value* high = b.CreateZExt(ElementToBits(context, part, {x.im}), wide);
    return b.CreateOr(low, b.CreateShl(high, IntLike(high, bits)));
  }
  llvm::Value* stored = ToMemory(context, type, x.re);
  stored = b.CreateBitCast(stored, Like(stored, b.getIntNTy(8 * PrimitiveTypeByteSize(type))));
  const int bits = PrimitiveTypeBitWidth(type);
  return type == PRED || bits >= 8 ? stored : b.CreateTrunc(stored, Like(stored, b.getIntNTy(bits)));
}

ElementValue ElementFromBits(EmitterContext& context, PrimitiveType type, llvm::Value* bits) {
  llvm::IRBuilder<>& b = context.b();
  if (IsComplexType(type)) {
    const PrimitiveType part = ComplexComponentType(type);
    const int width = PrimitiveTypeBitWidth(part);
    llvm::Type* half = Like(bits, b.getIntNTy(width));
    llvm::Value* high = b.CreateTrunc(b.CreateLShr(bits, IntLike(bits, width)), half);
    return {ElementFromBits(context, part, b.CreateTrunc(bits, half)).re, ElementFromBits(context, part, high).re};
  }
  llvm::Type* stored = Like(bits, b.getIntNTy(8 * PrimitiveTypeByteSize(type)));
  bits = IsSignedIntegralType(type) ? b.CreateSExtOrTrunc(bits, stored) : b.CreateZExtOrTrunc(bits, stored);
  return {FromMemory(context, type, b.CreateBitCast(bits, Like(bits, MemoryType(context.llvm_context(), type))))};
}

ElementValue EmitBitcast(EmitterContext& context, PrimitiveType from, PrimitiveType to, ElementValue x) {
  if (from == to) return x;
  llvm::Value* bits = ElementToBits(context, from, x);
  if (PrimitiveTypeBitWidth(to) < 8 && to != PRED) {
    bits = context.b().CreateTrunc(bits, Like(bits, context.b().getIntNTy(PrimitiveTypeBitWidth(to))));
  }
  return ElementFromBits(context, to, bits);
}

// On the bits of the type itself: adding just under half of the last kept bit, and one more if that bit is odd, rounds
// to nearest even and carries into the exponent correctly; then exponents that the target lacks become infinity or
// zero.
ElementValue EmitReducePrecision(EmitterContext& context, PrimitiveType type, int exponent_bits, int mantissa_bits,
                                 ElementValue x) {
  llvm::IRBuilder<>& b = context.b();
  const FloatFormat format = FormatOf(type);
  const int E = format.exponent_bits, M = format.mantissa_bits;
  if (exponent_bits >= E && mantissa_bits >= M) {
    // Rounded here: what computes the value does not become part of a fused operation.
    if (type == F32 || type == F64) return {b.CreateArithmeticFence(x.re, x.re->getType())};
    return x;
  }
  // Formats without infinities are computed as floats, which have their values and more.
  const bool as_float = IsNarrowFloat(type) && format.specials != FloatSpecials::kIeee;
  if (as_float) {
    const int e = exponent_bits < E ? exponent_bits : 8;
    return {Round(context, type, EmitReducePrecision(context, F32, e, mantissa_bits, x).re)};
  }
  llvm::Value* bits = ElementToBits(context, type, x);
  const int width = 1 + E + M;
  auto constant = [&](uint64_t value) { return llvm::ConstantInt::get(bits->getType(), value); };
  const uint64_t sign_bit = uint64_t{1} << (width - 1);
  const uint64_t infinity = ((uint64_t{1} << E) - 1) << M;
  llvm::Value* sign = b.CreateAnd(bits, constant(sign_bit));
  llvm::Value* magnitude = b.CreateAnd(bits, constant(sign_bit - 1));
  llvm::Value* special = b.CreateICmpUGE(magnitude, constant(infinity));
  llvm::Value* reduced = magnitude;
  if (mantissa_bits < M) {
    const int drop = M - mantissa_bits;
    // Without mantissa bits the last kept bit is the lowest one of the exponent.
    llvm::Value* odd = b.CreateAnd(b.CreateLShr(magnitude, constant(drop)), constant(1));
    reduced = b.CreateAdd(b.CreateAdd(reduced, constant((uint64_t{1} << (drop - 1)) - 1)), odd);
    reduced = b.CreateAnd(reduced, constant(~((uint64_t{1} << drop) - 1)));
  }
  if (exponent_bits < E) {
    const int64_t bias = (int64_t{1} << (exponent_bits - 1)) - 1, own_bias = (int64_t{1} << (E - 1)) - 1;
    llvm::Value* above = b.CreateICmpUGE(reduced, constant(static_cast<uint64_t>(own_bias + bias + 1) << M));
    llvm::Value* below = b.CreateICmpULT(reduced, constant(static_cast<uint64_t>(own_bias - bias + 1) << M));
    reduced = b.CreateSelect(above, constant(infinity), b.CreateSelect(below, constant(0), reduced));
  }
  return ElementFromBits(context, type, b.CreateSelect(special, bits, b.CreateOr(sign, reduced)));
}

}  // namespace hilo::codegen
