// Elements as unsigned integers that order as they do.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ORDER_KEY_H_
#define HILO_BACKENDS_GPU_EMITTERS_ORDER_KEY_H_

#include "backends/llvm/elements/element_emitter.h"
#include "shape/primitive_type.h"

namespace hilo::gpu {

// Whether elements of the type have keys: those that are integers, booleans or floating-point numbers.
bool HasOrderKey(PrimitiveType type);

// The key of a value in registers, as wide as the register (booleans: 8 bits): smaller keys for smaller elements,
// floating-point numbers in total order; `descending`: the other way around.
llvm::Value* OrderKey(llvm::IRBuilder<>& b, PrimitiveType type, llvm::Value* value, bool descending);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ORDER_KEY_H_
