// Integers and predicates. Nothing traps and nothing is undefined: divisors and shift amounts that LLVM leaves
// undefined are replaced before the operation and the result is selected afterwards (docs/numerics.md has the table).
// Processors have no vector division: lanes of up to 32 bits are divided as doubles, whose 53 bits give the exact
// truncated quotient, because a / b misses an integer by at least 1 / b. Lanes of 64 bits are divided by doubles in
// steps, where they convert in one instruction; elsewhere those of small numbers as doubles too, and all others one by
// one. A divisor that all lanes share costs one division for all of them.
#include <algorithm>

#include "absl/base/casts.h"
#include "backends/llvm/elements/op_dispatch.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/opcode_map.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/PatternMatch.h"

namespace hilo::codegen {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

class IntegerOps {
 public:
  IntegerOps(EmitterContext& context, PrimitiveType type)
      : context_(context),
        b_(context.b()),
        bits_(PrimitiveTypeBitWidth(type)),
        is_signed_(IsSignedIntegralType(type)) {}

  llvm::IRBuilder<>& b() { return b_; }

  // The value without the copies of its sign bit beyond `bits_`.
  llvm::Value* Logical(llvm::Value* x) {
    return bits_ < 8 && is_signed_ ? b_.CreateAnd(x, IntLike(x, (1 << bits_) - 1)) : x;
  }

  llvm::Value* CountLeadingZeros(llvm::Value* x) {
    llvm::Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, Logical(x), b_.getFalse());
    return bits_ < 8 ? b_.CreateSub(count, IntLike(x, 8 - bits_)) : count;
  }

  llvm::Value* Sign(llvm::Value* x) {
    llvm::Value* zero = IntLike(x, 0);
    return b_.CreateSelect(b_.CreateICmpSGT(x, zero), IntLike(x, 1),
                           b_.CreateAShr(x, IntLike(x, x->getType()->getScalarSizeInBits() - 1)));
  }

  llvm::Value* Extreme(ID of_signed, ID of_unsigned, llvm::Value* x, llvm::Value* y) {
    return b_.CreateBinaryIntrinsic(is_signed_ ? of_signed : of_unsigned, x, y);
  }

  absl::StatusOr<llvm::Value*> Divide(llvm::Value* x, llvm::Value* y) {
    llvm::Value* by_zero = b_.CreateICmpEQ(y, IntLike(y, 0));
    if (MayBeSmall(x, y)) {
      HILO_ASSIGN_OR_RETURN(llvm::Value* const quotient, DivideSmall(x, y, by_zero, /*is_remainder=*/false));
      return b_.CreateSelect(by_zero, IntLike(x, -1), quotient);
    }
    if (DividesInSteps(x, y)) return b_.CreateSelect(by_zero, IntLike(x, -1), DivideInSteps(x, y).quotient);
    llvm::Value* uniform = UniformDivisor(x, y);
    llvm::Value* quotient =
        uniform != nullptr ? QuotientByUniform(x, uniform) : Quotient(x, SafeDivisor(x, y, by_zero));
    return b_.CreateSelect(by_zero, IntLike(x, -1), quotient);
  }

  absl::StatusOr<llvm::Value*> Remainder(llvm::Value* x, llvm::Value* y) {
    llvm::Value* by_zero = b_.CreateICmpEQ(y, IntLike(y, 0));
    if (MayBeSmall(x, y)) {
      HILO_ASSIGN_OR_RETURN(llvm::Value* const rest, DivideSmall(x, y, by_zero, /*is_remainder=*/true));
      return b_.CreateSelect(by_zero, x, rest);
    }
    if (DividesInSteps(x, y)) return b_.CreateSelect(by_zero, x, DivideInSteps(x, y).rest);
    if (llvm::Value* uniform = UniformDivisor(x, y)) {
      llvm::Value* rest = b_.CreateSub(x, b_.CreateMul(QuotientByUniform(x, uniform), y));
      return b_.CreateSelect(by_zero, x, rest);
    }
    llvm::Value* divisor = SafeDivisor(x, y, by_zero);
    llvm::Value* rest = nullptr;
    if (DividesAsFloat(x, divisor)) {
      rest = b_.CreateSub(x, b_.CreateMul(Quotient(x, divisor), divisor));
    } else {
      rest = OneByOne(x, divisor, /*is_remainder=*/true);
    }
    return b_.CreateSelect(by_zero, x, rest);
  }

  llvm::Value* Shift(HloOpcode opcode, llvm::Value* x, llvm::Value* amount) {
    // Negative amounts are large unsigned ones.
    if (opcode == HloOpcode::kShiftRightArithmetic) {
      if (bits_ < 8)
        x = b_.CreateAShr(b_.CreateShl(x, IntLike(x, 8 - bits_)), IntLike(x, 8 - bits_));  // the type's own top bit
      return b_.CreateAShr(x, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, IntLike(x, bits_ - 1)));
    }
    llvm::Value* shifted =
        opcode == HloOpcode::kShiftLeft ? b_.CreateShl(x, amount) : b_.CreateLShr(Logical(x), amount);
    return b_.CreateSelect(b_.CreateICmpULT(amount, IntLike(x, bits_)), shifted, IntLike(x, 0));
  }

  llvm::Value* MultiplyHigh(llvm::Value* x, llvm::Value* y) {
    const unsigned width = x->getType()->getScalarSizeInBits();
    llvm::Type* wide = x->getType()->getWithNewBitWidth(2 * width);
    auto widen = [&](llvm::Value* v) { return is_signed_ ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
    llvm::Value* product = b_.CreateMul(widen(x), widen(y));
    return b_.CreateTrunc(b_.CreateAShr(product, IntLike(product, bits_)), x->getType());
  }

  // By squaring, for as many steps as the largest exponent has bits.
  absl::StatusOr<llvm::Value*> Power(llvm::Value* x, llvm::Value* exponent) {
    llvm::Value* one = IntLike(x, 1);
    llvm::Value* largest = exponent->getType()->isVectorTy() ? b_.CreateIntMaxReduce(exponent, is_signed_) : exponent;
    if (is_signed_) largest = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, largest, IntLike(largest, 0));
    const int width = static_cast<int>(x->getType()->getScalarSizeInBits());
    llvm::Value* steps =
        b_.CreateSub(IntLike(largest, width), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, largest, b_.getFalse()));
    auto step = [&](llvm::Value*, const Carried& state) -> absl::StatusOr<Carried> {
      llvm::Value *result = state[0], *square = state[1], *rest = state[2];
      llvm::Value* odd = b_.CreateTrunc(rest, rest->getType()->getWithNewBitWidth(1));
      return Carried{b_.CreateSelect(odd, b_.CreateMul(result, square), result), b_.CreateMul(square, square),
                     b_.CreateLShr(rest, IntLike(rest, 1))};
    };
    HILO_ASSIGN_OR_RETURN(Carried powers, EmitLoop(context_, "power", b_.getInt64(0),
                                                   b_.CreateZExt(steps, b_.getInt64Ty()), 1, {one, x, exponent}, step));
    llvm::Value* power = powers[0];
    if (!is_signed_) return power;
    // The result of rounding 1 / x^-exponent toward zero.
    llvm::Value* odd = b_.CreateTrunc(exponent, exponent->getType()->getWithNewBitWidth(1));
    llvm::Value* of_minus_one = b_.CreateSelect(odd, x, one);
    llvm::Value* inverse = b_.CreateSelect(
        b_.CreateICmpEQ(x, one), one, b_.CreateSelect(b_.CreateICmpEQ(x, IntLike(x, -1)), of_minus_one, IntLike(x, 0)));
    return b_.CreateSelect(b_.CreateICmpSLT(exponent, IntLike(x, 0)), inverse, power);
  }

 private:
  // 1 instead of 0, and instead of -1 under the lowest value.
  llvm::Value* SafeDivisor(llvm::Value* x, llvm::Value* y, llvm::Value* by_zero) {
    if (llvm::PatternMatch::match(y, llvm::PatternMatch::m_CheckedInt([](const llvm::APInt& divisor) {
                                    return !divisor.isZero() && !divisor.isAllOnes();
                                  })))
      return y;  // it stays a constant, by which LLVM multiplies and shifts
    llvm::Value* unsafe = by_zero;
    if (is_signed_) {
      const unsigned width = x->getType()->getScalarSizeInBits();
      llvm::Constant* lowest = llvm::ConstantInt::get(x->getType(), llvm::APInt::getSignedMinValue(width));
      llvm::Value* overflow = b_.CreateAnd(b_.CreateICmpEQ(x, lowest), b_.CreateICmpEQ(y, IntLike(y, -1)));
      unsafe = b_.CreateOr(by_zero, overflow);
    }
    return b_.CreateSelect(unsafe, IntLike(y, 1), y);
  }

  // Powers of two are shifts.
  bool DividesInSteps(llvm::Value* x, llvm::Value* divisor) {
    return x->getType()->isVectorTy() && bits_ == 64 && context_.target().has_avx512 &&
           !llvm::PatternMatch::match(divisor, llvm::PatternMatch::m_Power2());
  }

  struct Division {
    llvm::Value *quotient, *rest;
  };

  // x / y in 64 bits, with any results where y is 0. The first step estimates the quotient by a reciprocal that is
  // rounded down by more than all roundings together raise the estimate, 5 units of 2^-53: what remains is not
  // negative. It is less than 2^15 * y, as the estimate misses less than 14 units of 2^-53 of 2^64, and its fraction.
  // So the estimate of the second step, of what remains, misses one at most.
  Division DivideInSteps(llvm::Value* x, llvm::Value* y) {
    const auto magnitude = [&](llvm::Value* v) {
      return is_signed_ ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b_.getFalse()) : v;
    };
    const auto lanes = llvm::cast<llvm::VectorType>(x->getType())->getElementCount();
    llvm::Type* real = llvm::VectorType::get(b_.getDoubleTy(), lanes);
    llvm::Value* uniform = llvm::getSplatValue(y);
    llvm::Value* divisor = magnitude(uniform != nullptr ? uniform : y);
    divisor = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, divisor, IntLike(divisor, 1));
    llvm::Type* one_or_all = uniform != nullptr ? b_.getDoubleTy() : real;
    llvm::Value* reciprocal = b_.CreateFDiv(llvm::ConstantFP::get(one_or_all, 1), b_.CreateUIToFP(divisor, one_or_all));
    reciprocal = b_.CreateFMul(reciprocal, llvm::ConstantFP::get(one_or_all, 1 - 0x1p-50));
    if (uniform != nullptr) {
      divisor = b_.CreateVectorSplat(lanes, divisor);
      reciprocal = b_.CreateVectorSplat(lanes, reciprocal);
    }
    llvm::Value *quotient = IntLike(x, 0), *rest = magnitude(x);
    for (int step = 0; step < 2; ++step) {
      llvm::Value* part = b_.CreateFPToUI(b_.CreateFMul(b_.CreateUIToFP(rest, real), reciprocal), x->getType());
      quotient = b_.CreateAdd(quotient, part);
      rest = b_.CreateSub(rest, b_.CreateMul(part, divisor));
    }
    llvm::Value* misses_one = b_.CreateICmpUGE(rest, divisor);
    quotient = b_.CreateSelect(misses_one, b_.CreateAdd(quotient, IntLike(x, 1)), quotient);
    rest = b_.CreateSelect(misses_one, b_.CreateSub(rest, divisor), rest);
    if (!is_signed_) return {quotient, rest};
    const auto negate_if = [&](llvm::Value* sign, llvm::Value* v) {
      return b_.CreateSelect(b_.CreateICmpSLT(sign, IntLike(sign, 0)), b_.CreateNeg(v), v);
    };
    return {negate_if(b_.CreateXor(x, y), quotient), negate_if(x, rest)};
  }

  // By a divisor that LLVM defines.
  llvm::Value* OneByOne(llvm::Value* x, llvm::Value* divisor, bool is_remainder) {
    if (is_remainder) return is_signed_ ? b_.CreateSRem(x, divisor) : b_.CreateURem(x, divisor);
    return is_signed_ ? b_.CreateSDiv(x, divisor) : b_.CreateUDiv(x, divisor);
  }

  // Lanes of 64 bits that have no instructions of their own for conversions, but fused multiply-add and rounding.
  bool MayBeSmall(llvm::Value* x, llvm::Value* divisor) {
    return x->getType()->isVectorTy() && bits_ == 64 && context_.target().vector_bits >= 256 &&
           context_.target().has_fma && !context_.target().has_avx512 &&
           !llvm::PatternMatch::match(divisor, llvm::PatternMatch::m_Power2());
  }

  // x / y or the remainder, with any results where y is 0. If all lanes are of fewer than kSmallBits bits beside the
  // sign, the quotient of doubles is exact as that of narrower lanes is: by one divisor as the product with a
  // reciprocal that is rounded up by 2 to 4 units in the last place, of 2^-53 each.
  absl::StatusOr<llvm::Value*> DivideSmall(llvm::Value* x, llvm::Value* y, llvm::Value* by_zero, bool is_remainder) {
    constexpr int kSmallBits = 50;
    const int64_t below_all = is_signed_ ? int64_t{1} << kSmallBits : 0;
    const int64_t high_bits = -(int64_t{1} << (is_signed_ ? kSmallBits + 1 : kSmallBits));
    llvm::Value* uniform = llvm::getSplatValue(y);
    llvm::Value* y_once = uniform != nullptr ? uniform : y;
    llvm::Value* x_high = b_.CreateAnd(b_.CreateAdd(x, IntLike(x, below_all)), IntLike(x, high_bits));
    llvm::Value* y_high = b_.CreateAnd(b_.CreateAdd(y_once, IntLike(y_once, below_all)), IntLike(y_once, high_bits));
    llvm::Value* high = uniform != nullptr ? b_.CreateOrReduce(x_high) : b_.CreateOrReduce(b_.CreateOr(x_high, y_high));
    if (uniform != nullptr) high = b_.CreateOr(high, y_high);
    const auto lanes = llvm::cast<llvm::VectorType>(x->getType())->getElementCount();
    llvm::Type* const reals = llvm::VectorType::get(b_.getDoubleTy(), lanes);
    // 1.5 * 2^52, in whose last bits an integer is added.
    constexpr double kCarrier = 0x1.8p52;
    llvm::Constant* const carrier = llvm::ConstantFP::get(reals, kCarrier);
    llvm::Value* const carrier_bits = IntLike(x, absl::bit_cast<int64_t>(kCarrier));
    const auto to_real = [&](llvm::Value* v) {
      return b_.CreateFSub(b_.CreateBitCast(b_.CreateAdd(v, carrier_bits), reals), carrier);
    };
    const auto as_doubles = [&]() -> absl::StatusOr<Carried> {
      llvm::Value *const real_x = to_real(x), *const real_y = to_real(y);
      llvm::Value* quotient = nullptr;
      if (uniform != nullptr) {
        llvm::Value* one_y = b_.CreateSIToFP(uniform, b_.getDoubleTy());
        llvm::Value* reciprocal = b_.CreateFDiv(llvm::ConstantFP::get(b_.getDoubleTy(), 1), one_y);
        reciprocal = b_.CreateFMul(reciprocal, llvm::ConstantFP::get(b_.getDoubleTy(), 1 + 0x1p-51));
        quotient = b_.CreateFMul(real_x, b_.CreateVectorSplat(lanes, reciprocal));
      } else {
        quotient = b_.CreateFDiv(real_x, real_y);
      }
      llvm::Value* result = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, quotient);
      if (is_remainder)
        result = b_.CreateIntrinsic(llvm::Intrinsic::fma, {reals}, {b_.CreateFNeg(result), real_y, real_x});
      return Carried{b_.CreateSub(b_.CreateBitCast(b_.CreateFAdd(result, carrier), x->getType()), carrier_bits)};
    };
    const auto one_by_one = [&]() -> absl::StatusOr<Carried> {
      return Carried{OneByOne(x, SafeDivisor(x, y, by_zero), is_remainder)};
    };
    HILO_ASSIGN_OR_RETURN(const Carried result, EmitBranches(context_, "small", b_.CreateICmpEQ(high, IntLike(high, 0)),
                                                             as_doubles, one_by_one, /*is_likely=*/true));
    return result[0];
  }

  bool DividesAsFloat(llvm::Value* x, llvm::Value* divisor) {
    return x->getType()->isVectorTy() && bits_ <= 32 && !llvm::isa<llvm::Constant>(divisor);
  }

  // The scalar that all lanes of the divisor are, if it is known when the program runs only; else null.
  llvm::Value* UniformDivisor(llvm::Value* x, llvm::Value* y) {
    return DividesAsFloat(x, y) ? llvm::getSplatValue(y) : nullptr;
  }

  // x / y, of all lanes and one y that may be 0, with any quotient, or -1. The reciprocal is rounded up by 2 to 4 units
  // in the last place, so that multiples of y are not missed, and too little to reach the next one: x is less than
  // 2^32, and a double has 53 bits; or less than 2^16 of a float's 24.
  llvm::Value* QuotientByUniform(llvm::Value* x, llvm::Value* y) {
    llvm::Value* is_minus_one = is_signed_ ? b_.CreateICmpEQ(y, IntLike(y, -1)) : b_.getFalse();
    llvm::Value* divisor =
        b_.CreateSelect(b_.CreateOr(b_.CreateICmpEQ(y, IntLike(y, 0)), is_minus_one), IntLike(y, 1), y);
    llvm::Type* real = bits_ <= 16 ? b_.getFloatTy() : b_.getDoubleTy();
    const auto convert = [&](llvm::Value* v, llvm::Type* type) {
      return is_signed_ ? b_.CreateSIToFP(v, type) : b_.CreateUIToFP(v, type);
    };
    llvm::Value* reciprocal = b_.CreateFDiv(llvm::ConstantFP::get(real, 1), convert(divisor, real));
    const double up = bits_ <= 16 ? 0x1p-22 : 0x1p-51;
    reciprocal = b_.CreateFMul(reciprocal, llvm::ConstantFP::get(real, 1 + up));
    const auto lanes = llvm::cast<llvm::VectorType>(x->getType())->getElementCount();
    llvm::Value* quotient =
        b_.CreateFMul(convert(x, llvm::VectorType::get(real, lanes)), b_.CreateVectorSplat(lanes, reciprocal));
    quotient = is_signed_ ? b_.CreateFPToSI(quotient, x->getType()) : b_.CreateFPToUI(quotient, x->getType());
    return is_signed_ ? b_.CreateSelect(is_minus_one, b_.CreateNeg(x), quotient) : quotient;
  }

  llvm::Value* Quotient(llvm::Value* x, llvm::Value* divisor) {
    if (!DividesAsFloat(x, divisor)) return OneByOne(x, divisor, /*is_remainder=*/false);
    llvm::Type* real = x->getType()->getWithNewType(bits_ <= 16 ? b_.getFloatTy() : b_.getDoubleTy());
    auto convert = [&](llvm::Value* v) { return is_signed_ ? b_.CreateSIToFP(v, real) : b_.CreateUIToFP(v, real); };
    llvm::Value* quotient = b_.CreateFDiv(convert(x), convert(divisor));
    return is_signed_ ? b_.CreateFPToSI(quotient, x->getType()) : b_.CreateFPToUI(quotient, x->getType());
  }

  EmitterContext& context_;
  llvm::IRBuilder<>& b_;
  int bits_;
  bool is_signed_;
};

}  // namespace

llvm::Constant* IntLike(llvm::Value* x, int64_t value) {
  return llvm::ConstantInt::get(x->getType(), static_cast<uint64_t>(value), /*IsSigned=*/true);
}

llvm::Value* WrapInteger(EmitterContext& context, PrimitiveType type, llvm::Value* x) {
  const int bits = PrimitiveTypeBitWidth(type);
  if (type == PRED || bits >= 8 || !IsIntegralType(type)) return x;
  llvm::IRBuilder<>& b = context.b();
  if (!IsSignedIntegralType(type)) return b.CreateAnd(x, IntLike(x, (1 << bits) - 1));
  return b.CreateAShr(b.CreateShl(x, IntLike(x, 8 - bits)), IntLike(x, 8 - bits));
}

namespace {

using Ops = IntegerOps;
using Result = absl::StatusOr<Value*>;

constexpr OpcodeMap<Value* (*)(Ops& ops, Value* x)> kIntegerUnary = {
    {HloOpcode::kAbs,
     [](Ops& o, Value* x) -> Value* { return o.b().CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, o.b().getFalse()); }},
    {HloOpcode::kClz, [](Ops& o, Value* x) -> Value* { return o.CountLeadingZeros(x); }},
    {HloOpcode::kNegate, [](Ops& o, Value* x) -> Value* { return o.b().CreateNeg(x); }},
    {HloOpcode::kNot, [](Ops& o, Value* x) -> Value* { return o.b().CreateNot(x); }},
    {HloOpcode::kPopulationCount,
     [](Ops& o, Value* x) -> Value* { return o.b().CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, o.Logical(x)); }},
    {HloOpcode::kSign, [](Ops& o, Value* x) -> Value* { return o.Sign(x); }},
};

constexpr OpcodeMap<Result (*)(Ops& ops, Value* x, Value* y)> kIntegerBinary = {
    {HloOpcode::kAdd, [](Ops& o, Value* x, Value* y) -> Result { return o.b().CreateAdd(x, y); }},
    {HloOpcode::kAnd, [](Ops& o, Value* x, Value* y) -> Result { return o.b().CreateAnd(x, y); }},
    {HloOpcode::kDivide, [](Ops& o, Value* x, Value* y) -> Result { return o.Divide(x, y); }},
    {HloOpcode::kMaximum,
     [](Ops& o, Value* x, Value* y) -> Result {
       return o.Extreme(llvm::Intrinsic::smax, llvm::Intrinsic::umax, x, y);
     }},
    {HloOpcode::kMinimum,
     [](Ops& o, Value* x, Value* y) -> Result {
       return o.Extreme(llvm::Intrinsic::smin, llvm::Intrinsic::umin, x, y);
     }},
    {HloOpcode::kMulhi, [](Ops& o, Value* x, Value* y) -> Result { return o.MultiplyHigh(x, y); }},
    {HloOpcode::kMultiply, [](Ops& o, Value* x, Value* y) -> Result { return o.b().CreateMul(x, y); }},
    {HloOpcode::kOr, [](Ops& o, Value* x, Value* y) -> Result { return o.b().CreateOr(x, y); }},
    {HloOpcode::kPower, [](Ops& o, Value* x, Value* y) -> Result { return o.Power(x, y); }},
    {HloOpcode::kRemainder, [](Ops& o, Value* x, Value* y) -> Result { return o.Remainder(x, y); }},
    {HloOpcode::kShiftLeft, [](Ops& o, Value* x, Value* y) -> Result { return o.Shift(HloOpcode::kShiftLeft, x, y); }},
    {HloOpcode::kShiftRightArithmetic,
     [](Ops& o, Value* x, Value* y) -> Result { return o.Shift(HloOpcode::kShiftRightArithmetic, x, y); }},
    {HloOpcode::kShiftRightLogical,
     [](Ops& o, Value* x, Value* y) -> Result { return o.Shift(HloOpcode::kShiftRightLogical, x, y); }},
    {HloOpcode::kSubtract, [](Ops& o, Value* x, Value* y) -> Result { return o.b().CreateSub(x, y); }},
    {HloOpcode::kXor, [](Ops& o, Value* x, Value* y) -> Result { return o.b().CreateXor(x, y); }},
};

constexpr OpcodeMap<Value* (*)(llvm::IRBuilder<>& b, Value* x, Value* y)> kPredBinary = {
    {HloOpcode::kAdd, [](llvm::IRBuilder<>& b, Value* x, Value* y) -> Value* { return b.CreateOr(x, y); }},
    {HloOpcode::kMaximum, [](llvm::IRBuilder<>& b, Value* x, Value* y) -> Value* { return b.CreateOr(x, y); }},
    {HloOpcode::kOr, [](llvm::IRBuilder<>& b, Value* x, Value* y) -> Value* { return b.CreateOr(x, y); }},
    {HloOpcode::kAnd, [](llvm::IRBuilder<>& b, Value* x, Value* y) -> Value* { return b.CreateAnd(x, y); }},
    {HloOpcode::kMinimum, [](llvm::IRBuilder<>& b, Value* x, Value* y) -> Value* { return b.CreateAnd(x, y); }},
    {HloOpcode::kMultiply, [](llvm::IRBuilder<>& b, Value* x, Value* y) -> Value* { return b.CreateAnd(x, y); }},
    {HloOpcode::kXor, [](llvm::IRBuilder<>& b, Value* x, Value* y) -> Value* { return b.CreateXor(x, y); }},
};
static_assert(CoversFamily(HloFamily::kUnary, kInt, [](HloOpcode opcode) { return kIntegerUnary[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kInt,
                           [](HloOpcode opcode) { return kIntegerBinary[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");
static_assert(CoversFamily(HloFamily::kBinary, kBool, [](HloOpcode opcode) { return kPredBinary[opcode] != nullptr; }),
              "an op of the table that takes these types has no row above");

}  // namespace

Value* EmitIntegerUnary(EmitterContext& context, HloOpcode opcode, PrimitiveType type, Value* x) {
  IntegerOps ops(context, type);
  return kIntegerUnary[opcode] == nullptr ? nullptr : kIntegerUnary[opcode](ops, x);
}

absl::StatusOr<Value*> EmitIntegerBinary(EmitterContext& context, HloOpcode opcode, PrimitiveType type, Value* x,
                                         Value* y) {
  IntegerOps ops(context, type);
  if (kIntegerBinary[opcode] == nullptr) return static_cast<Value*>(nullptr);
  return kIntegerBinary[opcode](ops, x, y);
}

Value* EmitPredBinary(EmitterContext& context, HloOpcode opcode, Value* x, Value* y) {
  return kPredBinary[opcode] == nullptr ? nullptr : kPredBinary[opcode](context.b(), x, y);
}

}  // namespace hilo::codegen
