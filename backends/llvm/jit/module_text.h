// LLVM modules as text.
#ifndef HILO_BACKENDS_LLVM_JIT_MODULE_TEXT_H_
#define HILO_BACKENDS_LLVM_JIT_MODULE_TEXT_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace hilo::codegen {

std::string ModuleText(const llvm::Module& module);

// The texts of all elements' `module`, one after the other.
template <typename Modules>
std::string ModulesText(const Modules& modules) {
  std::string text;
  for (const auto& one : modules) absl::StrAppend(&text, ModuleText(*one.module));
  return text;
}

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_MODULE_TEXT_H_
