// As in shape/number_types.cc, bit patterns without the sign are ordered like their values: normal numbers are rounded
// by an integer addition that may carry into the exponent. Subnormal results are rounded by the adder: |x| + 2^k with k
// such that the sum's last bit is the format's smallest number leaves the pattern in the sum's low bits.
#include "backends/llvm/elements/small_float_emit.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "llvm/IR/IRBuilder.h"

namespace hilo::codegen {
namespace {

using llvm::Value;

constexpr uint32_t kF32Infinity = 0x7f800000;
constexpr uint32_t kF32QuietNan = 0x7fc00000;
constexpr uint32_t kF32Sign = 0x80000000;

llvm::Type* LikeLanesOf(Value* x, llvm::Type* element) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return vector == nullptr ? element : llvm::FixedVectorType::get(element, vector->getNumElements());
}

// The i32 side of a conversion: constants as wide as the operand.
struct Words {
  llvm::IRBuilderBase& b;
  llvm::Type* i32;
  llvm::Type* f32;

  Words(llvm::IRBuilderBase& builder, Value* like)
      : b(builder), i32(LikeLanesOf(like, builder.getInt32Ty())), f32(LikeLanesOf(like, builder.getFloatTy())) {}
  Value* C(uint32_t value) { return llvm::ConstantInt::get(i32, value); }
  Value* F(double value) { return llvm::ConstantFP::get(f32, value); }
  Value* Shl(Value* a, int n) { return b.CreateShl(a, C(static_cast<uint32_t>(n))); }
  Value* Lshr(Value* a, int n) { return b.CreateLShr(a, C(static_cast<uint32_t>(n))); }
};

uint32_t AllOnes(const FloatFormat& f) { return (1u << (f.exponent_bits + f.mantissa_bits)) - 1; }
uint32_t SignBit(const FloatFormat& f) { return AllOnes(f) + 1; }
uint32_t InfinityBits(const FloatFormat& f) { return ((1u << f.exponent_bits) - 1) << f.mantissa_bits; }

uint32_t LargestFinite(const FloatFormat& f) {
  if (f.specials == FloatSpecials::kIeee) return InfinityBits(f) - 1;
  return f.specials == FloatSpecials::kFiniteNan ? AllOnes(f) - 1 : AllOnes(f);
}

Value* FloatToScale(Words& w, Value* bits) {
  llvm::IRBuilderBase& b = w.b;
  Value* exponent = w.Lshr(b.CreateAdd(bits, w.C(0x400000)), 23);
  exponent = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, exponent, w.C(0xff));
  Value* small = b.CreateZExt(b.CreateICmpUGE(bits, w.C(0x600000)), w.i32);  // only these subnormals reach 2^-126
  exponent = b.CreateSelect(b.CreateICmpULT(bits, w.C(0x800000)), small, exponent);
  return b.CreateSelect(b.CreateICmpSGT(bits, w.C(0)), exponent, w.C(0xff));
}

// Returns the bits of a number without the sign, not yet bounded.
Value* RoundMagnitude(Words& w, Value* magnitude, const FloatFormat& f) {
  llvm::IRBuilderBase& b = w.b;
  const int shift = 23 - f.mantissa_bits;
  Value* last = b.CreateAnd(w.Lshr(magnitude, shift), w.C(1));
  Value* rebias = w.C((1u << (shift - 1)) - 1 - (static_cast<uint32_t>(127 - f.bias) << 23));
  Value* normal = w.Lshr(b.CreateAdd(b.CreateAdd(magnitude, rebias), last), shift);
  const double adder = std::ldexp(1.0, 24 - f.bias - f.mantissa_bits);
  const uint32_t adder_bits = std::bit_cast<uint32_t>(static_cast<float>(adder));
  Value* sum = b.CreateFAdd(b.CreateBitCast(magnitude, w.f32), w.F(adder));
  Value* subnormal = b.CreateSub(b.CreateBitCast(sum, w.i32), w.C(adder_bits));
  const uint32_t smallest_normal = static_cast<uint32_t>(128 - f.bias) << 23;
  return b.CreateSelect(b.CreateICmpULT(magnitude, w.C(smallest_normal)), subnormal, normal);
}

// Handles overflow and NaN in `pattern`, and adds the sign.
Value* FinishPattern(Words& w, Value* bits, Value* magnitude, Value* pattern, const FloatFormat& f) {
  llvm::IRBuilderBase& b = w.b;
  Value* sign = b.CreateAnd(w.Lshr(bits, 31 - f.exponent_bits - f.mantissa_bits), w.C(SignBit(f)));
  Value* too_big = b.CreateICmpUGT(pattern, w.C(LargestFinite(f)));
  Value* nan = b.CreateICmpUGT(magnitude, w.C(kF32Infinity));
  switch (f.specials) {
    case FloatSpecials::kIeee: {
      Value* payload = b.CreateAnd(w.Lshr(magnitude, 23 - f.mantissa_bits), w.C((1u << f.mantissa_bits) - 1));
      pattern = b.CreateSelect(too_big, w.C(InfinityBits(f)), pattern);
      pattern = b.CreateSelect(nan, b.CreateOr(payload, w.C(InfinityBits(f) | 1u << (f.mantissa_bits - 1))), pattern);
      return b.CreateOr(pattern, sign);
    }
    case FloatSpecials::kFiniteNan:
      return b.CreateOr(b.CreateSelect(b.CreateOr(too_big, nan), w.C(AllOnes(f)), pattern), sign);
    case FloatSpecials::kFiniteOnly:
      pattern = b.CreateOr(b.CreateSelect(too_big, w.C(AllOnes(f)), pattern), sign);
      return b.CreateSelect(nan, w.C(SignBit(f)), pattern);
    case FloatSpecials::kUnsignedZero:
    case FloatSpecials::kScale: break;
  }
  pattern = b.CreateSelect(b.CreateICmpEQ(pattern, w.C(0)), pattern, b.CreateOr(pattern, sign));
  return b.CreateSelect(b.CreateOr(too_big, nan), w.C(SignBit(f)), pattern);
}

// bfloat16 is the upper half of f32: the carry ends at infinity and does not change the sign.
Value* RoundToUpperHalf(Words& w, Value* x, Value* bits) {
  llvm::IRBuilderBase& b = w.b;
  Value* upper = w.Lshr(bits, 16);
  Value* rounded = w.Lshr(b.CreateAdd(b.CreateAdd(bits, w.C(0x7fff)), b.CreateAnd(upper, w.C(1))), 16);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), b.CreateOr(upper, w.C(0x40)), rounded);
}

constexpr FloatFormat kHalf = half::format;
constexpr FloatFormat kBfloat = bfloat16::format;

}  // namespace

Value* EmitFloatToSmall(llvm::IRBuilderBase& b, Value* x, const FloatFormat& f) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.setFastMathFlags(llvm::FastMathFlags());
  Words w(b, x);
  Value* bits = b.CreateBitCast(x, w.i32);
  Value* pattern;
  if (f.specials == FloatSpecials::kScale) {
    pattern = FloatToScale(w, bits);
  } else if (f.bias == 127) {
    pattern = RoundToUpperHalf(w, x, bits);
  } else {
    Value* magnitude = b.CreateAnd(bits, w.C(~kF32Sign));
    pattern = FinishPattern(w, bits, magnitude, RoundMagnitude(w, magnitude, f), f);
  }
  const bool wide = f.exponent_bits + f.mantissa_bits > 8;
  return b.CreateTrunc(pattern, LikeLanesOf(x, b.getIntNTy(wide ? 16 : 8)));
}

Value* EmitSmallToFloat(llvm::IRBuilderBase& b, Value* pattern, const FloatFormat& f) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.setFastMathFlags(llvm::FastMathFlags());
  Words w(b, pattern);
  Value* bits = b.CreateZExtOrTrunc(pattern, w.i32);
  if (f.specials == FloatSpecials::kScale) {
    Value* value = b.CreateSelect(b.CreateICmpEQ(bits, w.C(0)), w.C(0x400000), w.Shl(bits, 23));  // 2^-127 is subnormal
    return b.CreateBitCast(b.CreateSelect(b.CreateICmpEQ(bits, w.C(0xff)), w.C(kF32QuietNan), value), w.f32);
  }
  const int shift = 23 - f.mantissa_bits;
  if (f.bias == 127) return b.CreateBitCast(w.Shl(bits, shift), w.f32);
  Value* sign = w.Shl(b.CreateAnd(bits, w.C(SignBit(f))), 31 - f.exponent_bits - f.mantissa_bits);
  Value* magnitude = b.CreateAnd(bits, w.C(AllOnes(f)));
  Value* shifted = w.Shl(magnitude, shift);
  Value* normal = b.CreateAdd(shifted, w.C(static_cast<uint32_t>(127 - f.bias) << 23));
  Value* subnormal = b.CreateFMul(b.CreateSIToFP(magnitude, w.f32), w.F(std::ldexp(1.0, 1 - f.bias - f.mantissa_bits)));
  Value* below = b.CreateICmpULT(magnitude, w.C(1u << f.mantissa_bits));
  Value* value = b.CreateSelect(below, b.CreateBitCast(subnormal, w.i32), normal);
  if (f.specials == FloatSpecials::kIeee) {
    Value* special = b.CreateICmpUGE(magnitude, w.C(InfinityBits(f)));
    value = b.CreateSelect(special, b.CreateOr(shifted, w.C(kF32Infinity)), value);
  } else if (f.specials == FloatSpecials::kFiniteNan) {
    value = b.CreateSelect(b.CreateICmpEQ(magnitude, w.C(AllOnes(f))), w.C(kF32QuietNan), value);
  }
  value = b.CreateOr(value, sign);
  if (f.specials == FloatSpecials::kUnsignedZero) {
    value = b.CreateSelect(b.CreateICmpEQ(bits, w.C(SignBit(f))), w.C(kF32QuietNan), value);
  }
  return b.CreateBitCast(value, w.f32);
}

Value* EmitFloatToHalf(llvm::IRBuilderBase& b, Value* x, bool has_f16c) {
  llvm::Type* type = LikeLanesOf(x, b.getHalfTy());
  return has_f16c ? b.CreateFPTrunc(x, type) : b.CreateBitCast(EmitFloatToSmall(b, x, kHalf), type);
}

Value* EmitHalfToFloat(llvm::IRBuilderBase& b, Value* x, bool has_f16c) {
  if (has_f16c) {
    // Without the fence LLVM 19 computes maximum and similar ops on the halves themselves; it scalarizes vectors of
    // them for that, and its maximum of half loses NaNs.
    llvm::Value* wide = b.CreateFPExt(x, LikeLanesOf(x, b.getFloatTy()));
    return b.CreateArithmeticFence(wide, wide->getType());
  }
  return EmitSmallToFloat(b, b.CreateBitCast(x, LikeLanesOf(x, b.getInt16Ty())), kHalf);
}

Value* EmitFloatToBfloat(llvm::IRBuilderBase& b, Value* x) {
  return b.CreateBitCast(EmitFloatToSmall(b, x, kBfloat), LikeLanesOf(x, b.getBFloatTy()));
}

Value* EmitBfloatToFloat(llvm::IRBuilderBase& b, Value* x) {
  return EmitSmallToFloat(b, b.CreateBitCast(x, LikeLanesOf(x, b.getInt16Ty())), kBfloat);
}

Value* EmitFloatToInt(llvm::IRBuilderBase& b, Value* x, llvm::Type* to, bool is_signed) {
  const unsigned bits = to->getScalarSizeInBits();
  if (bits < 32) {
    // LLVM scalarizes vectors of narrow saturating conversions; within its bounds the number is an i32, for which there
    // is an instruction.
    const double low = is_signed ? -static_cast<double>(int64_t{1} << (bits - 1)) : 0;
    const double high = static_cast<double>((int64_t{1} << (is_signed ? bits - 1 : bits)) - 1);
    auto constant = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
    Value* inside = b.CreateSelect(b.CreateFCmpOGT(x, constant(high)), constant(high), x);
    inside = b.CreateSelect(b.CreateFCmpOLT(inside, constant(low)), constant(low), inside);
    inside = b.CreateSelect(b.CreateFCmpUNO(x, x), constant(0), inside);
    return b.CreateTrunc(b.CreateFPToSI(inside, LikeLanesOf(x, b.getInt32Ty())), to);
  }
  if (x->getType()->isVectorTy()) {
    // Those of 32 and 64 bits too, though there are instructions for values in range; others are poison, which no
    // select uses.
    const llvm::APInt low = is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getZero(bits);
    const llvm::APInt high = is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    auto real = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
    auto integer = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(to, value); };
    Value* above = b.CreateFCmpOGE(x, real(std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits))));
    Value* below = b.CreateFCmpOLT(x, real(is_signed ? -std::ldexp(1.0, static_cast<int>(bits - 1)) : 0));
    Value* result = is_signed ? b.CreateFPToSI(x, to) : b.CreateFPToUI(x, to);
    result = b.CreateSelect(above, integer(high), b.CreateSelect(below, integer(low), result));
    return b.CreateSelect(b.CreateFCmpUNO(x, x), integer(llvm::APInt::getZero(bits)), result);
  }
  const auto id = is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return b.CreateIntrinsic(id, {to, x->getType()}, {x});
}

}  // namespace hilo::codegen
