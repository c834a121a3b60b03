#include "backends/gpu/emulated/gpu_module_reader.h"

#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"

namespace hilo::gpu {

absl::StatusOr<codegen::HostModule> ReadGpuModule(absl::string_view bitcode) {
  codegen::HostModule result("kernels");
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(codegen::ToStringRef(bitcode), "kernels"), *result.context);
  if (!module)
    return InvalidArgument("the image of the kernels is not LLVM bitcode: ", llvm::toString(module.takeError()));
  result.module = std::move(*module);
  return result;
}

}  // namespace hilo::gpu
