#include "backends/cpu/compile/c_function.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/runtime/cpu_abi.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "base/errors.h"
#include "hilo/host.h"
#include "hilo/status_macros.h"
#include "hilo/version.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/scheduler.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace hilo::cpu {
namespace {

// A leaf of the program's parameters or of its result; tokens and empty arrays have no memory.
struct Leaf {
  const Shape* shape;
  std::string name;  // of the argument in C; empty: no memory
};

std::vector<Leaf> LeavesOf(const ProgramShape& shape) {
  std::vector<Leaf> leaves;
  const auto add = [&](const Shape& whole, const std::string& prefix, int64_t* count) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(whole)) {
      const bool has_memory = leaf.shape->IsArray() && !ShapeUtil::IsZeroElementArray(*leaf.shape);
      const std::string name = absl::StrCat(prefix, (*count)++);
      leaves.push_back({leaf.shape, has_memory ? name : ""});
    }
  };
  int64_t parameters = 0, results = 0;
  for (const Shape& parameter : shape.parameters) add(parameter, "arg", &parameters);
  add(shape.result, "out", &results);
  return leaves;
}

// Copies a module into `context`.
absl::StatusOr<std::unique_ptr<llvm::Module>> CopyInto(llvm::LLVMContext& context, const llvm::Module& module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  stream.flush();
  llvm::Expected<std::unique_ptr<llvm::Module>> copy =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "module"), context);
  if (!copy) return Internal("LLVM cannot read its own module: ", llvm::toString(copy.takeError()));
  return std::move(*copy);
}

// Defines the functions that backends/llvm/jit/math_symbols.h offers to compiled code, by those of libm.
void DefineMathFunctions(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const bool is_x86 = llvm::Triple(module.getTargetTriple()).isX86();
  for (llvm::Function& function : module) {
    const std::string name = function.getName().str();
    if (!function.isDeclaration() || !absl::StartsWith(name, "hilo_math_")) continue;
    const std::string plain = name.substr(sizeof("hilo_math_") - 1);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "code", &function));
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& argument : function.args()) arguments.push_back(&argument);
    llvm::Value* result = b.CreateCall(module.getOrInsertFunction(plain, function.getFunctionType()), arguments);
    if (is_x86 && (plain == "sin" || plain == "cos" || plain == "tan")) {
      // Libraries lose bits of huge arguments that are close to a multiple of pi / 2; other machines have no registers
      // for the wider type.
      llvm::BasicBlock* huge = llvm::BasicBlock::Create(context, "huge", &function);
      llvm::BasicBlock* near = llvm::BasicBlock::Create(context, "near", &function);
      llvm::Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, arguments[0]);
      b.CreateCondBr(b.CreateFCmpOLT(magnitude, llvm::ConstantFP::get(b.getDoubleTy(), 0x1p30)), near, huge);
      b.SetInsertPoint(near);
      b.CreateRet(result);
      b.SetInsertPoint(huge);
      llvm::Type* wide = llvm::Type::getX86_FP80Ty(context);
      llvm::FunctionCallee callee =
          module.getOrInsertFunction(plain + "l", llvm::FunctionType::get(wide, {wide}, false));
      result = b.CreateFPTrunc(b.CreateCall(callee, {b.CreateFPExt(arguments[0], wide)}), b.getDoubleTy());
    }
    b.CreateRet(result);
  }
}

// The addresses of the constants, as HiloCpuContext::constants.
llvm::Constant* EmitConstants(llvm::Module& module, const std::vector<std::shared_ptr<const Literal>>& constants) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  const auto global = [&](llvm::Constant* value, const char* name, int64_t alignment) {
    auto* variable = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::InternalLinkage, value, name);
    variable->setAlignment(llvm::Align(alignment));
    return variable;
  };
  std::vector<llvm::Constant*> addresses;
  for (const std::shared_ptr<const Literal>& literal : constants) {
    const auto data = literal->untyped_data();
    llvm::Constant* bytes = llvm::ConstantDataArray::getString(
        context, llvm::StringRef(reinterpret_cast<const char*>(data.data()), data.size()), /*AddNull=*/false);
    addresses.push_back(global(bytes, "constant", kBufferAlignment));
  }
  if (addresses.empty()) addresses.push_back(llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context)));
  return global(llvm::ConstantArray::get(llvm::ArrayType::get(ptr, addresses.size()), addresses), "constants", 8);
}

// HiloCpuContext::parallel_for on the calling thread.
llvm::Function* EmitParallelFor(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(i32, {ptr, ptr, ptr, ptr, i64}, false),
                                          llvm::GlobalValue::InternalLinkage, "parallel_for", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "code", function));
  b.CreateRet(b.CreateCall(
      llvm::FunctionType::get(i32, {ptr, ptr, ptr, i64, i64}, false), function->getArg(1),
      {function->getArg(0), function->getArg(2), function->getArg(3), b.getInt64(0), function->getArg(4)}));
  return function;
}

// The type of an element in C.
std::string CType(const Shape& shape) {
  switch (shape.element_type()) {
    case F32:
    case C64: return "float";
    case F64:
    case C128: return "double";
    case S1:
    case S2:
    case S4:
    case S8: return "int8_t";
    case S16: return "int16_t";
    case S32: return "int32_t";
    case S64: return "int64_t";
    default: break;
  }
  // Unsigned numbers, and the bits of types that C lacks.
  const int64_t bytes = ShapeUtil::ByteSizeOf(shape) / ShapeUtil::ElementsIn(shape);
  return absl::StrCat("uint", 8 * std::max<int64_t>(1, bytes), "_t");
}

// Returns true for __name and _Name.
bool BeginsAsCompilers(absl::string_view name) {
  return name.size() > 1 && name[0] == '_' && (name[1] == '_' || absl::ascii_isupper(name[1]));
}

}  // namespace

bool IsReservedInC(absl::string_view name) {
  static constexpr absl::string_view kSorted[] = {
      "_edata",        "_end",        "_fini",      "_init",         "_start",
      "abort",         "alignas",     "alignof",    "and",           "and_eq",
      "asm",           "auto",        "bitand",     "bitor",         "bool",
      "break",         "calloc",      "case",       "catch",         "ceil",
      "ceilf",         "char",        "char16_t",   "char32_t",      "char8_t",
      "class",         "co_await",    "co_return",  "co_yield",      "compl",
      "concept",       "const",       "const_cast", "consteval",     "constexpr",
      "constinit",     "continue",    "cos",        "cosl",          "decltype",
      "default",       "delete",      "do",         "double",        "dynamic_cast",
      "else",          "enum",        "errno",      "exit",          "explicit",
      "export",        "extern",      "false",      "float",         "floor",
      "floorf",        "fma",         "fmaf",       "fmod",          "fmodf",
      "for",           "free",        "friend",     "goto",          "if",
      "inline",        "int",         "long",       "main",          "malloc",
      "memcpy",        "memmove",     "memset",     "mutable",       "namespace",
      "new",           "noexcept",    "not",        "not_eq",        "nullptr",
      "operator",      "or",          "or_eq",      "pow",           "private",
      "protected",     "public",      "realloc",    "register",      "reinterpret_cast",
      "requires",      "restrict",    "return",     "rint",          "rintf",
      "round",         "roundeven",   "roundevenf", "roundf",        "short",
      "signed",        "sin",         "sinl",       "sizeof",        "static",
      "static_assert", "static_cast", "struct",     "switch",        "tan",
      "tanl",          "template",    "this",       "thread_local",  "throw",
      "true",          "trunc",       "truncf",     "try",           "typedef",
      "typeid",        "typename",    "typeof",     "typeof_unqual", "union",
      "unsigned",      "using",       "virtual",    "void",          "volatile",
      "wchar_t",       "while",       "xor",        "xor_eq"};
  return BeginsAsCompilers(name) || absl::EndsWith(name, "_t") ||
         std::binary_search(std::begin(kSorted), std::end(kSorted), name);
}

std::string CFunctionName(const HloModule& module) {
  std::string name = module.name();
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) name.insert(0, "_");
  if (BeginsAsCompilers(name)) name.insert(0, "hlo");
  if (IsReservedInC(name)) name.push_back('_');
  return name;
}

absl::Status ChooseSelfContainedKernels(HloModule* module, const CompileOptions& options) {
  HILO_ASSIGN_OR_RETURN(const codegen::CpuFeatures features, codegen::FeaturesOf(options.cpu));
  const codegen::TargetTraits target = codegen::TargetTraits::FromCpu(features);
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> computations, SequentialComputations(*module));
  for (HloComputation* computation : computations) {
    for (HloInstruction* instruction : computation->instructions()) {
      const KernelConfig* kernel = KernelOf(*instruction);
      if (kernel == nullptr) continue;
      if (kernel->kind == KernelKind::kLibraryDot) {
        // Strict products are of generated code.
        HILO_ASSIGN_OR_RETURN(
            KernelConfig own,
            ChooseKernel(*instruction, target, {.strict = true, .flush_denormals = options.flush_denormals}));
        instruction->set_kernel(std::move(own));
        kernel = KernelOf(*instruction);
      }
      // Of the same plan.
      if (kernel->kind == KernelKind::kLibraryConvolution || kernel->kind == KernelKind::kLibraryTranspose) {
        KernelConfig own = *kernel;
        own.kind =
            kernel->kind == KernelKind::kLibraryConvolution ? KernelKind::kConvolution : KernelKind::kTiledTranspose;
        instruction->set_kernel(std::move(own));
        kernel = KernelOf(*instruction);
      }
      if (kernel->kind == KernelKind::kRuntimeCall || kernel->kind == KernelKind::kLibraryDot ||
          kernel->kind == KernelKind::kSort || kernel->kind == KernelKind::kKeySort) {
        return AddContext(Unimplemented("a function without Hilo's runtime cannot have the kernel ",
                                        KernelKindString(kernel->kind), ", which calls its library"),
                          InstructionContext(*instruction));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<codegen::HostModule> LinkModules(std::vector<codegen::HostModule> modules) {
  HILO_RET_CHECK(!modules.empty()) << "the program has no code";
  codegen::HostModule whole = std::move(modules[0]);
  for (size_t i = 1; i < modules.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> copy, CopyInto(whole.module->getContext(), *modules[i].module));
    if (llvm::Linker::linkModules(*whole.module, std::move(copy)))
      return Internal("LLVM cannot link the program's modules");
  }
  return whole;
}

absl::StatusOr<codegen::HostModule> WrapInCFunction(const std::string& name, const ProgramShape& shape,
                                                    std::vector<codegen::HostModule> modules,
                                                    const std::vector<std::shared_ptr<const Literal>>& constants) {
  HILO_ASSIGN_OR_RETURN(codegen::HostModule whole, LinkModules(std::move(modules)));
  llvm::Module& module = *whole.module;
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* entry = module.getFunction(kEntrySymbol);
  HILO_RET_CHECK(entry != nullptr) << "the program has no entry";
  DefineMathFunctions(module);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  // A function of the program may have the name that callers shall see.
  if (llvm::GlobalValue* taken = module.getNamedValue(name)) taken->setName(name + ".inner");

  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  const std::vector<Leaf> leaves = LeavesOf(shape);
  const int64_t arrays =
      std::count_if(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return !leaf.name.empty(); });
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), std::vector<llvm::Type*>(arrays + 1, ptr), false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "code", function));
  // As in all code of programs, pointers are aligned to 8 bytes, and the context is an array of pointers: offsets in
  // HiloCpuContext are those of machines whose pointers have 64 bits.
  llvm::AllocaInst* buffers = b.CreateAlloca(llvm::ArrayType::get(ptr, std::max<size_t>(leaves.size(), 1)));
  buffers->setAlignment(llvm::Align(8));
  unsigned next = 0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    llvm::Value* pointer = leaves[i].name.empty()
                               ? static_cast<llvm::Value*>(llvm::ConstantPointerNull::get(b.getPtrTy()))
                               : function->getArg(next++);
    b.CreateStore(pointer, b.CreateConstInBoundsGEP1_64(ptr, buffers, i));
  }
  llvm::AllocaInst* run = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), sizeof(HiloCpuContext)));
  run->setAlignment(llvm::Align(alignof(HiloCpuContext)));
  b.CreateMemSet(run, b.getInt8(0), sizeof(HiloCpuContext), run->getAlign());
  const auto set = [&](int64_t offset, llvm::Value* value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(ptr, run, offset / 8));
  };
  set(offsetof(HiloCpuContext, cancelled),
      new llvm::GlobalVariable(module, b.getInt32Ty(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                               b.getInt32(0), "never_cancelled"));
  set(offsetof(HiloCpuContext, constants), EmitConstants(module, constants));
  set(offsetof(HiloCpuContext, parallel_for), EmitParallelFor(module));
  b.CreateCall(entry, {run, function->getArg(next), buffers});
  b.CreateRetVoid();
  return whole;
}

std::string CFunctionHeader(const HloModule& module, const ProgramShape& shape, int64_t scratch_bytes,
                            const std::string& cpu) {
  const std::string name = CFunctionName(module);
  const std::string macro = absl::AsciiStrToUpper(name);
  std::string parameters;
  for (const Leaf& leaf : LeavesOf(shape)) {
    if (leaf.name.empty()) continue;
    const bool is_result = absl::StartsWith(leaf.name, "out");
    absl::StrAppend(&parameters, "    ", is_result ? "" : "const ", CType(*leaf.shape), "* ", leaf.name, ",  /* ",
                    leaf.shape->ToString(/*print_layout=*/true), " */\n");
  }
  return absl::StrReplaceAll(
      R"(/* The program $program as a function in C, for $cpu. Made by Hilo $version. */
#ifndef $macro_H_
#define $macro_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The size of the memory that a call uses for temporary values. */
#define $macro_SCRATCH_BYTES $scratch

/* Computes the results out0, out1 ... of arg0, arg1 ... All arrays are aligned to 64 bytes and dense, in the order of
 * dimensions that is in braces, the fastest one first; none may overlap another. Complex numbers are pairs; bf16, f16
 * and f8 are given as their bits, pred as 0 or 1, integers of fewer than 8 bits as numbers of 8. The scratch memory is
 * aligned to 64 bytes, and need not be kept or set. Any number of threads may call the function, each with results and
 * scratch memory of its own. Link with -lm. */
void $name(
$parameters    void* scratch);

#ifdef __cplusplus
}
#endif

#endif /* $macro_H_ */
)",
      {{"$program", absl::StrReplaceAll(module.name(), {{"*/", "* /"}})},
       {"$cpu", cpu},
       {"$version", Version()},
       {"$macro", macro},
       {"$scratch", absl::StrCat(std::max<int64_t>(scratch_bytes, 1))},
       {"$name", name},
       {"$parameters", parameters}});
}

}  // namespace hilo::cpu
