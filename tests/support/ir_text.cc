#include "tests/support/ir_text.h"

#include "absl/strings/str_cat.h"
#include "backends/llvm/llvm_compat.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace hilo::codegen {

absl::StatusOr<HostModule> ParseIr(absl::string_view text) {
  HostModule made("text");
  llvm::SMDiagnostic error;
  const std::string terminated(text);
  made.module = llvm::parseAssemblyString(terminated, error, *made.context);
  if (made.module != nullptr) return made;
  return absl::InvalidArgumentError(
      absl::StrCat(error.getLineNo(), ":", error.getColumnNo() + 1, ": ", ToStringView(error.getMessage())));
}

HostModule MakeInvalidModule() {
  HostModule made("invalid");
  llvm::IRBuilder<> b(*made.context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(b.getInt32Ty(), false),
                                          llvm::Function::ExternalLinkage, "f", made.module.get());
  b.SetInsertPoint(llvm::BasicBlock::Create(*made.context, "entry", function));
  b.CreateRet(b.getInt64(0));
  return made;
}

int64_t InstructionsOf(const HostModule& module) { return module.module->getInstructionCount(); }

}  // namespace hilo::codegen
