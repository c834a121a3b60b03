#include "backends/gpu/emitters/order_key.h"

namespace hilo::gpu {

llvm::Value* OrderKey(llvm::IRBuilder<>& b, PrimitiveType type, llvm::Value* value, bool descending) {
  if (type == PRED) {
    value = b.CreateZExt(value, b.getInt8Ty());
  } else if (IsFloatingPointType(type)) {
    // Inverts all bits of negative numbers, and the sign bit of others.
    llvm::Type* const bits = b.getIntNTy(value->getType()->getScalarSizeInBits());
    value = b.CreateBitCast(value, bits);
    llvm::Value* negative = b.CreateAShr(value, bits->getIntegerBitWidth() - 1);
    value = b.CreateXor(value, b.CreateOr(negative, llvm::ConstantInt::get(
                                                        bits, llvm::APInt::getSignMask(bits->getIntegerBitWidth()))));
  } else if (IsSignedIntegralType(type)) {
    value = b.CreateXor(value, llvm::ConstantInt::get(
                                   value->getType(), llvm::APInt::getSignMask(value->getType()->getIntegerBitWidth())));
  }
  return descending ? b.CreateNot(value) : value;
}

}  // namespace hilo::gpu
