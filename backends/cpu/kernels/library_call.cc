#include "backends/cpu/kernels/library_call.h"

#include <vector>

#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/runtime/cpu_abi.h"

namespace hilo::cpu {

bool IsLibraryKernel(KernelKind kind) {
  return kind == KernelKind::kLibraryConvolution || kind == KernelKind::kLibraryDot ||
         kind == KernelKind::kLibraryTranspose;
}

void EmitLibraryCall(FunctionEmitter& f, const KernelParts& kernel, absl::string_view symbol,
                     absl::Span<const uint64_t> numbers, absl::Span<llvm::Value* const> arrays) {
  llvm::Module* module = f.function()->getParent();
  std::vector<llvm::Value*> pointers = {ProgramEmitter::Numbers(module, numbers)};
  pointers.insert(pointers.end(), arrays.begin(), arrays.end());
  llvm::Value* buffers = f.PointerTable(pointers);
  f.ReturnIfStopped(f.CallChunks(f.program().RuntimeChunks(module, symbol), buffers, kernel.config.parallel,
                                 kernel.begin, kernel.end));
}

}  // namespace hilo::cpu
