// Debug locations in a kernel's code that name HLO instructions, as reported by compute-sanitizer: code that accesses
// an instruction's array is line 1 of a "file" with its name.
#ifndef HILO_BACKENDS_GPU_EMITTERS_LINE_INFO_H_
#define HILO_BACKENDS_GPU_EMITTERS_LINE_INFO_H_

#include "absl/strings/string_view.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class DISubprogram;
class Function;
}  // namespace llvm

namespace hilo::gpu {

// Attaches the scope of its locations to a function without code. Its module must have no other such function.
llvm::DISubprogram* DescribeKernel(llvm::Function* function);

// Assigns what the builder creates from here on to `instruction`.
void SetLocation(llvm::IRBuilder<>& builder, llvm::DISubprogram* kernel, absl::string_view instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_LINE_INFO_H_
