#include "backends/llvm/jit/module_text.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace hilo::codegen {

std::string ModuleText(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return stream.str();
}

}  // namespace hilo::codegen
