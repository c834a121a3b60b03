// Types of elements in registers and in memory.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_ELEMENT_CONVERT_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_ELEMENT_CONVERT_H_

#include "backends/llvm/lanes/emitter_context.h"
#include "hilo/primitive_type.h"

namespace hilo::codegen {

// The LLVM type of an element of `type` in registers and in memory; of one component for complex types.
llvm::Type* RegisterType(llvm::LLVMContext& context, PrimitiveType type);
llvm::Type* MemoryType(llvm::LLVMContext& context, PrimitiveType type);

// Convert one component (scalar or vector) between memory form and register form. ToMemory rounds floats to `type`.
llvm::Value* FromMemory(EmitterContext& context, PrimitiveType type, llvm::Value* stored);
llvm::Value* ToMemory(EmitterContext& context, PrimitiveType type, llvm::Value* value);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_ELEMENT_CONVERT_H_
