// Maps elements to unsigned integers with the same order.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ORDER_KEY_H_
#define HILO_BACKENDS_GPU_EMITTERS_ORDER_KEY_H_

#include "backends/llvm/elements/elemental_emitter.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {

// Returns the key of a value in a register, of a type that HasOrderKey, as wide as the register (booleans: 8 bits).
// Smaller elements have smaller keys, floating-point numbers are in total order; `descending` reverses the order.
llvm::Value* OrderKey(llvm::IRBuilder<>& b, PrimitiveType type, llvm::Value* value, bool descending);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ORDER_KEY_H_
