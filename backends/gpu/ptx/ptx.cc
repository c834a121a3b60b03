// The pipeline is LLVM's own: link libdevice, O3 for the target (building it with the TargetMachine registers the pass
// that resolves libdevice's queries of the architecture), code generation. The loop vectorizer has nothing to do for
// one lane per thread; SLP and the load-store vectorizer merge adjacent accesses into 16-byte ones.
//
// libdevice is needed only for the rare branches of the element generators' math (arguments too large for the
// polynomials) and for libdevice functions that emitters call by name. It is linked only if the module uses it, which
// saves most kernels a millisecond. Denormals are kept (reflect returns ftz = 0).
#include "backends/gpu/ptx/ptx.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/driver/cuda_library.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/ptx/cubin_cache.h"
#include "backends/llvm/jit/fatal_errors.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace llvm {
// In no installed header. LLVM caches the annotations of kernels by the module's address, and drops them only when it
// has written PTX.
void clearAnnotationCache(const Module* module);
}  // namespace llvm

namespace hilo::gpu {
namespace {

using codegen::ToStatus;
using codegen::ToStringRef;
using codegen::ToStringView;

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
// The oldest PTX version with everything that we emit; drivers from CUDA 12.3 on accept it.
constexpr char kFeatures[] = "+ptx83";

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(absl::string_view arch, GpuOptLevel level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) return Internal("LLVM has no code generator for ", kTriple, ": ", error);
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(kTriple, "", ""));
  HILO_RET_CHECK(known != nullptr);
  HILO_ASSIGN_OR_RETURN(const std::string ptx_arch, PtxArchitecture(arch, [&](absl::string_view name) {
                          return known->isCPUStringValid(ToStringRef(name));
                        }));
  const auto generation =
      level == GpuOptLevel::kThorough ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::Default;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, ptx_arch, kFeatures, llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt, generation));
}

// ---- libdevice --------------------------------------------------------------------------------------------------

// Returns its bytes, read once; NotFound without it.
const absl::StatusOr<std::string>& Libdevice() {
  static const auto* const bytes = new absl::StatusOr<std::string>([]() -> absl::StatusOr<std::string> {
    HILO_ASSIGN_OR_RETURN(const std::string path, FindCudaFile("libdevice.10.bc"));
    return ReadFile(path);
  }());
  return *bytes;
}

constexpr absl::string_view kHostMath = "hilo_math_";  // of backends/llvm/math/vector_math.h
constexpr absl::string_view kDeviceMath = "__nv_";

bool IsMath(const llvm::Function& function) {
  const absl::string_view name = ToStringView(function.getName());
  return function.isDeclaration() && !function.use_empty() &&
         (absl::StartsWith(name, kHostMath) || absl::StartsWith(name, kDeviceMath));
}

std::vector<std::string> MathNames(const llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::Function& function : module) {
    if (IsMath(function)) names.push_back(function.getName().str());
  }
  return names;
}

// Renames hilo_math_sin to __nv_sin, and likewise all others.
void UseDeviceNames(llvm::Module* module) {
  for (llvm::Function& function : llvm::make_early_inc_range(*module)) {
    absl::string_view name = ToStringView(function.getName());
    if (!IsMath(function) || !absl::StartsWith(name, kHostMath)) continue;
    const std::string device_name = absl::StrCat(kDeviceMath, name.substr(kHostMath.size()));
    function.replaceAllUsesWith(module->getOrInsertFunction(device_name, function.getFunctionType()).getCallee());
    function.eraseFromParent();
  }
}

absl::Status LinkLibdevice(llvm::Module* module) {
  if (!Libdevice().ok() || MathNames(*module).empty()) return absl::OkStatus();
  UseDeviceNames(module);
  const llvm::MemoryBufferRef buffer(*Libdevice(), "libdevice");
  llvm::Expected<std::unique_ptr<llvm::Module>> library = llvm::getLazyBitcodeModule(buffer, module->getContext());
  if (!library) return ToStatus(library.takeError(), "libdevice");
  (*library)->setDataLayout(module->getDataLayout());
  (*library)->setTargetTriple(module->getTargetTriple());
  const auto hide = [](llvm::Module& linked, const llvm::StringSet<>& added) {
    llvm::internalizeModule(
        linked, [&](const llvm::GlobalValue& value) { return !value.hasName() || !added.contains(value.getName()); });
  };
  if (llvm::Linker::linkModules(*module, std::move(*library), llvm::Linker::LinkOnlyNeeded, hide))
    return Internal("cannot link libdevice");
  module->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", uint32_t{0});
  return absl::OkStatus();
}

// ---- optimization and code --------------------------------------------------------------------------------------

void Optimize(llvm::Module* module, llvm::TargetMachine* machine, GpuOptLevel level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = level == GpuOptLevel::kThorough;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  if (level == GpuOptLevel::kThorough) {
    // Code generation would do it too; here it also applies to bitcode.
    builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::LoadStoreVectorizerPass()));
    });
  }
  const llvm::OptimizationLevel& effort =
      level == GpuOptLevel::kThorough ? llvm::OptimizationLevel::O3 : llvm::OptimizationLevel::O1;
  builder.buildPerModuleDefaultPipeline(effort).run(*module, modules);
}

absl::Status Verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return Internal("the kernels of ", module.getModuleIdentifier(), " are not valid: ", stream.str());
}

absl::StatusOr<std::string> EmitPtx(llvm::Module* module, llvm::TargetMachine* machine) {
  if (const std::vector<std::string> missing = MathNames(*module); !missing.empty()) {
    return Unimplemented("PTX without libdevice for ", absl::StrJoin(missing, ", "), ": ",
                         Libdevice().ok() ? "libdevice does not have them" : Libdevice().status().message());
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  if (machine->addPassesToEmitFile(*passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Internal("LLVM emits no PTX");
  const absl::Status finished = codegen::CatchFatalErrors([&] { passes->run(*module); });
  if (finished.ok()) return std::string(text.str());
  static_cast<void>(passes.release());  // they ended in the middle
  return finished;
}

// Without a handler, LLVM prints errors and ends the process.
void KeepErrors(const llvm::DiagnosticInfo* info, void* errors) {
  if (info->getSeverity() != llvm::DS_Error) return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  static_cast<std::vector<std::string>*>(errors)->push_back(stream.str());
}

}  // namespace

const std::string& GpuCode::image(GpuImageFormat format) const {
  switch (format) {
    case GpuImageFormat::kBitcode: return bitcode;
    case GpuImageFormat::kPtx: return ptx;
    case GpuImageFormat::kCubin: return cubin;
  }
  return bitcode;
}

absl::Status PrepareGpuModule(llvm::Module* module, absl::string_view arch) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(arch, GpuOptLevel::kFast));
  module->setTargetTriple(kTriple);
  module->setDataLayout(machine->createDataLayout());
  return absl::OkStatus();
}

bool NeedsExactArchitecture(const llvm::Module& module) {
  return std::any_of(module.begin(), module.end(),
                     [](const llvm::Function& function) { return function.hasFnAttribute(kExactArchitecture); });
}

void MarkKernel(llvm::Function* function, int max_threads_per_block) {
  llvm::LLVMContext& context = function->getContext();
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr("nvvm.maxntid",
                      std::to_string(max_threads_per_block));  // read from LLVM 20 on; before that, the nodes are
  llvm::NamedMDNode* annotations = function->getParent()->getOrInsertNamedMetadata("nvvm.annotations");
  const auto annotate = [&](const char* what, int value) {
    llvm::Metadata* const node[] = {
        llvm::ValueAsMetadata::get(function), llvm::MDString::get(context, what),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value))};
    annotations->addOperand(llvm::MDNode::get(context, node));
  };
  annotate("kernel", 1);
  annotate("maxntidx", max_threads_per_block);
  for (llvm::Argument& argument : function->args()) {
    if (argument.getType()->isPointerTy())
      argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(kDeviceAlignment)));
  }
}

absl::StatusOr<GpuCode> CompileGpuModule(llvm::Module* module, const GpuCompileOptions& options) {
  const std::string arch = NeedsExactArchitecture(*module) ? ExactArchitecture(options.arch) : options.arch;
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(arch, options.opt_level));
  module->setTargetTriple(kTriple);
  module->setDataLayout(machine->createDataLayout());
  std::vector<std::string> errors;
  module->getContext().setDiagnosticHandlerCallBack(&KeepErrors, &errors);
  struct Restore {
    llvm::Module* module;
    ~Restore() {
      module->getContext().setDiagnosticHandlerCallBack(nullptr, nullptr);
      llvm::clearAnnotationCache(module);
    }
  } restore{module};
  HILO_RETURN_IF_ERROR(Verify(*module));
  HILO_RETURN_IF_ERROR(LinkLibdevice(module));
  Optimize(module, machine.get(), options.opt_level);
  GpuCode code;
  if (options.bitcode) {
    llvm::raw_string_ostream stream(code.bitcode);
    llvm::WriteBitcodeToFile(*module, stream);
  }
  if (options.ptx || options.cubin) {
    HILO_ASSIGN_OR_RETURN(code.ptx, EmitPtx(module, machine.get()));
  }
  if (!errors.empty())
    return Internal("GPU code of ", module->getModuleIdentifier(), ": ", absl::StrJoin(errors, "; "));
  if (options.cubin) {
    HILO_ASSIGN_OR_RETURN(AssembledCode assembled, AssembleWithCache(options.cubins, code.ptx, arch));
    code.cubin = std::move(assembled.cubin);
    code.resources = std::move(assembled.resources);
  }
  return code;
}

}  // namespace hilo::gpu
