// Locations in a kernel's code that name HLO instructions, as compute-sanitizer tells them: code that reads or writes
// an instruction's array is line 1 of a "file" of its name.
#ifndef HILO_BACKENDS_GPU_COMPILE_LINE_INFO_H_
#define HILO_BACKENDS_GPU_COMPILE_LINE_INFO_H_

#include "absl/strings/string_view.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class DISubprogram;
class Function;
}  // namespace llvm

namespace hilo::gpu {

// Gives a function without code what locations hang on. Its module must have no other such function.
llvm::DISubprogram* DescribeKernel(llvm::Function* function);

// What the builder makes from here on belongs to `instruction`.
void SetLocation(llvm::IRBuilder<>& builder, llvm::DISubprogram* kernel, absl::string_view instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_LINE_INFO_H_
