// The mathematical functions of the process that compiled code may call.
#ifndef HILO_BACKENDS_LLVM_JIT_MATH_SYMBOLS_H_
#define HILO_BACKENDS_LLVM_JIT_MATH_SYMBOLS_H_

#include <string>

#include "absl/types/span.h"

namespace hilo::codegen {

// Those of backends/llvm/math, and those that LLVM itself calls for its intrinsics.
struct MathSymbol {
  std::string name;
  void* address = nullptr;
};
absl::Span<const MathSymbol> MathSymbols();

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_MATH_SYMBOLS_H_
