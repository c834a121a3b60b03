// Real floats in registers: float or double.
#include "backends/llvm/elements/op_dispatch.h"

namespace hilo::codegen {

llvm::Constant* FloatLike(llvm::Value* x, double value) { return llvm::ConstantFP::get(x->getType(), value); }

llvm::Value* Fabs(EmitterContext& context, llvm::Value* x) {
  return context.b().CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

MathTarget MathTargetOf(const EmitterContext& context) {
  MathTarget target;
  target.has_fma = context.target().has_fma;
  target.has_avx512 = context.target().has_avx512;
  return target;
}

namespace {

bool IsNonzeroConstant(llvm::Value* x) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(x);
  if (constant != nullptr && x->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number != nullptr && !number->isZero() && !number->isNaN();
}

// Maximum and minimum by the processor's own instruction, x > y ? x : y, which returns the second operand for two zeros
// and for comparisons with NaN. LLVM's lowering of its intrinsics tests signs first, which takes three times as long.
llvm::Value* Extreme(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, bool maximum) {
  auto first_or_second = [&](llvm::Value* first, llvm::Value* second) {
    return b.CreateSelect(maximum ? b.CreateFCmpOGT(first, second) : b.CreateFCmpOLT(first, second), first, second);
  };
  if (IsNonzeroConstant(x)) return first_or_second(x, y);
  if (IsNonzeroConstant(y)) return first_or_second(y, x);
  if (llvm::isa<llvm::Constant>(x) || llvm::isa<llvm::Constant>(y)) {
    return b.CreateBinaryIntrinsic(maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
  }
  // Both orders give the same result except for zeros of two signs, where the minimum's sign is set if one is, and NaN.
  llvm::Type* bits = b.getIntNTy(x->getType()->getScalarSizeInBits());
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType()))
    bits = llvm::FixedVectorType::get(bits, vector->getNumElements());
  llvm::Value* one = b.CreateBitCast(first_or_second(x, y), bits);
  llvm::Value* other = b.CreateBitCast(first_or_second(y, x), bits);
  llvm::Value* number = b.CreateBitCast(maximum ? b.CreateAnd(one, other) : b.CreateOr(one, other), x->getType());
  llvm::Value* nan = b.CreateSelect(b.CreateFCmpUNO(x, x), x, y);  // with its sign, by which total orders sort
  return b.CreateSelect(b.CreateFCmpUNO(x, y), nan, number);
}

}  // namespace

llvm::Value* EmitFloatUnary(EmitterContext& context, HloOpcode opcode, llvm::Value* x) {
  llvm::IRBuilder<>& b = context.b();
  auto math = [&](MathFunction function) { return EmitUnary(function, b, x, MathTargetOf(context)); };
  switch (opcode) {
    case HloOpcode::kAbs: return Fabs(context, x);
    case HloOpcode::kAcos: return math(MathFunction::kAcos);
    case HloOpcode::kAcosh: return math(MathFunction::kAcosh);
    case HloOpcode::kAsin: return math(MathFunction::kAsin);
    case HloOpcode::kAsinh: return math(MathFunction::kAsinh);
    case HloOpcode::kAtanh: return math(MathFunction::kAtanh);
    case HloOpcode::kCbrt: return math(MathFunction::kCbrt);
    case HloOpcode::kCeil: return math(MathFunction::kCeil);
    case HloOpcode::kCos: return math(MathFunction::kCos);
    case HloOpcode::kCosh: return math(MathFunction::kCosh);
    case HloOpcode::kErf: return math(MathFunction::kErf);
    case HloOpcode::kExp: return math(MathFunction::kExp);
    case HloOpcode::kExpm1: return math(MathFunction::kExpm1);
    case HloOpcode::kFloor: return math(MathFunction::kFloor);
    case HloOpcode::kImag: return FloatLike(x, 0);
    case HloOpcode::kIsFinite: return b.CreateFCmpONE(Fabs(context, x), llvm::ConstantFP::getInfinity(x->getType()));
    case HloOpcode::kLog: return math(MathFunction::kLog);
    case HloOpcode::kLog1p: return math(MathFunction::kLog1p);
    case HloOpcode::kLogistic: return math(MathFunction::kLogistic);
    case HloOpcode::kNegate: return b.CreateFNeg(x);
    case HloOpcode::kReal: return x;
    case HloOpcode::kRoundNearestAfz: return math(MathFunction::kRoundNearestAfz);
    case HloOpcode::kRoundNearestEven: return math(MathFunction::kRoundNearestEven);
    case HloOpcode::kRsqrt: return math(MathFunction::kRsqrt);
    case HloOpcode::kSign: return math(MathFunction::kSign);
    case HloOpcode::kSin: return math(MathFunction::kSin);
    case HloOpcode::kSinh: return math(MathFunction::kSinh);
    case HloOpcode::kSqrt: return math(MathFunction::kSqrt);
    case HloOpcode::kTan: return math(MathFunction::kTan);
    case HloOpcode::kTanh: return math(MathFunction::kTanh);
    default: return nullptr;
  }
}

llvm::Value* EmitFloatBinary(EmitterContext& context, HloOpcode opcode, llvm::Value* x, llvm::Value* y) {
  llvm::IRBuilder<>& b = context.b();
  auto math = [&](MathFunction function) { return EmitBinary(function, b, x, y, MathTargetOf(context)); };
  switch (opcode) {
    case HloOpcode::kAdd: return b.CreateFAdd(x, y);
    case HloOpcode::kAtan2: return math(MathFunction::kAtan2);
    case HloOpcode::kDivide: return b.CreateFDiv(x, y);
    case HloOpcode::kMaximum:
      if (context.target().vector_bits != 0) return Extreme(b, x, y, true);
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, y);
    case HloOpcode::kMinimum:
      if (context.target().vector_bits != 0) return Extreme(b, x, y, false);
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, x, y);
    case HloOpcode::kMultiply: return b.CreateFMul(x, y);
    case HloOpcode::kPower: return math(MathFunction::kPower);
    case HloOpcode::kRemainder: return math(MathFunction::kRemainder);
    case HloOpcode::kSubtract: return b.CreateFSub(x, y);
    default: return nullptr;
  }
}

}  // namespace hilo::codegen
