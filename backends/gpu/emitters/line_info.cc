#include "backends/gpu/emitters/line_info.h"

#include "backends/llvm/llvm_compat.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace hilo::gpu {

llvm::DISubprogram* DescribeKernel(llvm::Function* function) {
  llvm::Module& module = *function->getParent();
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile("kernel", "hlo");
  // Emits directives in the text only, as the assembler requires for -lineinfo.
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "hilo", /*isOptimized=*/true, /*Flags=*/"", /*RV=*/0,
                            /*SplitName=*/"", llvm::DICompileUnit::DebugDirectivesOnly);
  llvm::DISubroutineType* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  llvm::DISubprogram* kernel = builder.createFunction(file, function->getName(), "", file, 1, type, 1,
                                                      llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  function->setSubprogram(kernel);
  builder.finalize();
  return kernel;
}

void SetLocation(llvm::IRBuilder<>& builder, llvm::DISubprogram* kernel, absl::string_view instruction) {
  llvm::LLVMContext& context = builder.getContext();
  llvm::DIFile* file = llvm::DIFile::get(context, codegen::ToStringRef(instruction), "hlo");
  builder.SetCurrentDebugLocation(
      llvm::DILocation::get(context, 1, 0, llvm::DILexicalBlockFile::get(context, kernel, file, 0)));
}

}  // namespace hilo::gpu
