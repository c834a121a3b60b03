// Real floats in registers: float or double.
#include <algorithm>

#include "backends/llvm/elements/op_dispatch.h"
#include "backends/llvm/math/math_builder.h"
#include "backends/llvm/math/math_functions.h"
#include "hlo/ops/table/opcode_map.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hilo::codegen {

using llvm::Value;

llvm::Constant* FloatLike(llvm::Value* x, double value) { return llvm::ConstantFP::get(x->getType(), value); }

llvm::Value* Fabs(EmitterContext& context, llvm::Value* x) {
  return context.b().CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

MathTarget MathTargetOf(const EmitterContext& context) {
  const TargetTraits& target = context.target();
  MathTarget math = MathTarget::Of(target.has_fma, target.has_avx512, target.vector_bits);
  math.has_exp2_f32 = target.has_exp2_f32 && !context.numerics().strict;
  return math;
}

namespace {

bool IsNonzeroConstant(llvm::Value* x) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(x);
  if (constant != nullptr && x->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number != nullptr && !number->isZero() && !number->isNaN();
}

// The processor's vrangeps or vrangepd for a scalar or a vector of at most one register: orders the two zeros, and
// returns the number of a number and a NaN. Null for other vectors.
llvm::Value* EmitRange(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, bool maximum) {
  constexpr uint32_t kMinimum = 0b00, kMaximum = 0b01, kSignOfResult = 0b01 << 2, kCurrentRounding = 4;
  llvm::Value* mode = b.getInt32((maximum ? kMaximum : kMinimum) | kSignOfResult);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (type == nullptr) {
    const bool single = x->getType()->isFloatTy();
    llvm::Value* any = llvm::PoisonValue::get(llvm::FixedVectorType::get(x->getType(), single ? 4 : 2));
    const auto first = [&](llvm::Value* scalar) { return b.CreateInsertElement(any, scalar, uint64_t{0}); };
    llvm::Value* result = b.CreateIntrinsic(
        single ? llvm::Intrinsic::x86_avx512_mask_range_ss : llvm::Intrinsic::x86_avx512_mask_range_sd, {},
        {first(x), first(y), any, b.getInt8(1), mode, b.getInt32(kCurrentRounding)});
    return b.CreateExtractElement(result, uint64_t{0});
  }
  const bool single = type->getElementType()->isFloatTy();
  const unsigned lanes = type->getNumElements(), bits = lanes * type->getScalarSizeInBits();
  if (bits < 128) {
    llvm::SmallVector<int> widened(128 / type->getScalarSizeInBits(), llvm::PoisonMaskElem);
    for (unsigned i = 0; i < lanes; ++i) widened[i] = static_cast<int>(i);
    llvm::Value* number = EmitRange(b, b.CreateShuffleVector(x, widened), b.CreateShuffleVector(y, widened), maximum);
    return b.CreateShuffleVector(number, llvm::ArrayRef<int>(widened).take_front(lanes));
  }
  llvm::Intrinsic::ID id;
  switch (bits) {
    case 128:
      id = single ? llvm::Intrinsic::x86_avx512_mask_range_ps_128 : llvm::Intrinsic::x86_avx512_mask_range_pd_128;
      break;
    case 256:
      id = single ? llvm::Intrinsic::x86_avx512_mask_range_ps_256 : llvm::Intrinsic::x86_avx512_mask_range_pd_256;
      break;
    case 512:
      id = single ? llvm::Intrinsic::x86_avx512_mask_range_ps_512 : llvm::Intrinsic::x86_avx512_mask_range_pd_512;
      break;
    default: return nullptr;
  }
  llvm::SmallVector<llvm::Value*, 6> arguments = {x, y, mode, llvm::PoisonValue::get(x->getType()),
                                                  llvm::ConstantInt::getAllOnesValue(b.getIntNTy(std::max(lanes, 8U)))};
  if (bits == 512) arguments.push_back(b.getInt32(kCurrentRounding));
  return b.CreateIntrinsic(id, {}, arguments);
}

// Returns the NaN of two scalars, or `number` if both are numbers. Compared and blended in vector registers: through a
// mask register a chain of maxima takes a quarter longer, with x + y as the NaN a fifth (Zen 5).
llvm::Value* EmitNaNOr(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, llvm::Value* number) {
  constexpr uint8_t kUnordered = 3;
  const bool single = x->getType()->isFloatTy();
  llvm::Value* any = llvm::PoisonValue::get(llvm::FixedVectorType::get(x->getType(), single ? 4 : 2));
  const auto first = [&](llvm::Value* scalar) { return b.CreateInsertElement(any, scalar, uint64_t{0}); };
  const auto unordered = [&](llvm::Value* one, llvm::Value* other) {
    return b.CreateIntrinsic(single ? llvm::Intrinsic::x86_sse_cmp_ss : llvm::Intrinsic::x86_sse2_cmp_sd, {},
                             {one, other, b.getInt8(kUnordered)});
  };
  const auto blend = [&](llvm::Value* mask, llvm::Value* one, llvm::Value* other) {
    return b.CreateIntrinsic(single ? llvm::Intrinsic::x86_sse41_blendvps : llvm::Intrinsic::x86_sse41_blendvpd, {},
                             {other, one, mask});
  };
  llvm::Value *first_x = first(x), *first_y = first(y);
  llvm::Value* nan = blend(unordered(first_y, first_y), first_y, first_x);
  return b.CreateExtractElement(blend(unordered(first_x, first_y), nan, first(number)), uint64_t{0});
}

// Maximum and minimum by the processor's own instruction, x > y ? x : y, which returns the second operand for two zeros
// and for comparisons with NaN. LLVM's lowering of its intrinsics tests signs first, which takes three times as long.
llvm::Value* Extreme(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, bool maximum, bool has_avx512) {
  auto first_or_second = [&](llvm::Value* first, llvm::Value* second) {
    return b.CreateSelect(maximum ? b.CreateFCmpOGT(first, second) : b.CreateFCmpOLT(first, second), first, second);
  };
  if (IsNonzeroConstant(x)) return first_or_second(x, y);
  if (IsNonzeroConstant(y)) return first_or_second(y, x);
  if (llvm::isa<llvm::Constant>(x) || llvm::isa<llvm::Constant>(y)) {
    return b.CreateBinaryIntrinsic(maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
  }
  const bool only_numbers = b.getFastMathFlags().noNaNs();
  if (llvm::Value* number = has_avx512 ? EmitRange(b, x, y, maximum) : nullptr; number != nullptr) {
    if (only_numbers) return number;
    if (!x->getType()->isVectorTy()) return EmitNaNOr(b, x, y, number);
    return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), number);
  }
  // Both orders give the same result except for zeros of two signs, where the minimum's sign is set if one is, and NaN.
  llvm::Type* bits = b.getIntNTy(x->getType()->getScalarSizeInBits());
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType()))
    bits = llvm::FixedVectorType::get(bits, vector->getNumElements());
  llvm::Value* one = b.CreateBitCast(first_or_second(x, y), bits);
  llvm::Value* other = b.CreateBitCast(first_or_second(y, x), bits);
  llvm::Value* number = b.CreateBitCast(maximum ? b.CreateAnd(one, other) : b.CreateOr(one, other), x->getType());
  if (only_numbers) return number;
  llvm::Value* nan = b.CreateSelect(b.CreateFCmpUNO(x, x), x, y);  // with its sign, by which total orders sort
  return b.CreateSelect(b.CreateFCmpUNO(x, y), nan, number);
}

constexpr OpcodeMap<Value* (*)(EmitterContext& context, Value* x)> kFloatUnary = {
    {HloOpcode::kAbs, Fabs},
    {HloOpcode::kImag, [](EmitterContext&, Value* x) -> Value* { return FloatLike(x, 0); }},
    {HloOpcode::kIsFinite,
     [](EmitterContext& context, Value* x) -> Value* {
       return context.b().CreateFCmpONE(Fabs(context, x), llvm::ConstantFP::getInfinity(x->getType()));
     }},
    {HloOpcode::kNegate, [](EmitterContext& context, Value* x) -> Value* { return context.b().CreateFNeg(x); }},
    {HloOpcode::kReal, [](EmitterContext&, Value* x) -> Value* { return x; }},
};

template <bool kMaximum>
Value* EmitExtreme(EmitterContext& context, Value* x, Value* y) {
  llvm::IRBuilder<>& b = context.b();
  if (context.target().has_ieee_extremes)
    return b.CreateBinaryIntrinsic(kMaximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
  return Extreme(b, x, y, kMaximum, context.target().has_avx512);
}

constexpr OpcodeMap<Value* (*)(EmitterContext& context, Value* x, Value* y)> kFloatBinary = {
    {HloOpcode::kAdd, [](EmitterContext& context, Value* x, Value* y) { return context.b().CreateFAdd(x, y); }},
    {HloOpcode::kDivide, [](EmitterContext& context, Value* x, Value* y) { return context.b().CreateFDiv(x, y); }},
    {HloOpcode::kMaximum, EmitExtreme<true>},
    {HloOpcode::kMinimum, EmitExtreme<false>},
    {HloOpcode::kMultiply, [](EmitterContext& context, Value* x, Value* y) { return context.b().CreateFMul(x, y); }},
    {HloOpcode::kSubtract, [](EmitterContext& context, Value* x, Value* y) { return context.b().CreateFSub(x, y); }},
};
constexpr bool HasUnary(HloOpcode opcode) { return IsMathFunction(opcode) || kFloatUnary[opcode] != nullptr; }
constexpr bool HasBinary(HloOpcode opcode) { return IsMathFunction(opcode) || kFloatBinary[opcode] != nullptr; }
static_assert(CoversFamily(HloFamily::kUnary, kFloat, HasUnary),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kFloat, HasBinary, {HloOpcode::kComplexNumber}),
              "an op of the table that takes these types has no row above");

}  // namespace

Value* EmitFloatUnary(EmitterContext& context, HloOpcode opcode, Value* x) {
  if (IsMathFunction(opcode)) return EmitUnary(opcode, context.b(), x, MathTargetOf(context));
  return kFloatUnary[opcode] == nullptr ? nullptr : kFloatUnary[opcode](context, x);
}

Value* EmitFloatBinary(EmitterContext& context, HloOpcode opcode, Value* x, Value* y) {
  if (IsMathFunction(opcode)) return EmitBinary(opcode, context.b(), x, y, MathTargetOf(context));
  return kFloatBinary[opcode] == nullptr ? nullptr : kFloatBinary[opcode](context, x, y);
}

}  // namespace hilo::codegen
