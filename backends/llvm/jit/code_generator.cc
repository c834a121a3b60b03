// LLVM's pass list for the code generator has 160 passes on x86. A third of them lower what our emitters never write
// (garbage collection, exceptions, instrumentation, hardening, debug information), yet each is run over every function,
// asks for its analyses and ends those that it does not preserve. They are left out by name as the list is built; a
// name that this version of LLVM lacks is left out in vain.
#include "backends/llvm/jit/code_generator.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "backends/llvm/jit/fatal_errors.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace hilo::codegen {
namespace {

// Limits of searches in LLVM that compare each memory access of a block with the others, by the names of LLVM's
// options. Our blocks have hundreds of accesses to the frame.
struct SearchLimit {
  const char* option;
  const char* value;
};
constexpr SearchLimit kSearchLimits[] = {
    // Schedulers connect each store with all accesses that it may alias, which are most of the frame's, as they ask no
    // alias analysis, and look for each new edge among those of its ends. With this many accesses in flight, the older
    // half becomes a barrier. LLVM: 1000.
    {"dag-maps-huge-region", "100"},
    // Accesses, and definitions of memory, between a store and one that may make it dead. LLVM: 150 and 90.
    {"dse-memoryssa-scanlimit", "30"},
    {"dse-memoryssa-walklimit", "30"},
};

// Sets the limits, once in a process. A version of LLVM that lacks an option takes longer.
void LimitSearches() {
  static const bool done = [] {
    const llvm::StringMap<llvm::cl::Option*>& options = llvm::cl::getRegisteredOptions();
    for (const SearchLimit& limit : kSearchLimits) {
      const auto found = options.find(limit.option);
      if (found != options.end()) found->second->addOccurrence(0, limit.option, limit.value);
    }
    return true;
  }();
  static_cast<void>(done);
}

// Instructions of a module after which the passes are released with their memory.
constexpr size_t kMaxInstructionsToReuse = 20000;

// Passes, by the names that they report, that change nothing in the code of our emitters.
const absl::flat_hash_set<absl::string_view>& PassesWithoutWork() {
  // clang-format off
  static const auto* const names = new absl::flat_hash_set<absl::string_view>{
      // integers of more than 128 bits
      "Expand large div/rem", "Expand large fp convert",
      // garbage collection, exceptions, dynamic linking, computed jumps
      "Lower Garbage Collection Instructions", "Shadow Stack GC Lowering", "Analyze Machine Code For Garbage Collection",
      "Exception handling preparation", "Contiguously Lay Out Funclets", "Prepare callbr", "Expand indirectbr instructions",
      "TLS Variable Hoist", "Local Dynamic TLS Access Clean-up", "Fixup Statepoint Caller Saved",
      "StackMap Liveness Analysis", "Check CFA info and insert CFI instructions if needed",
      // calls of library functions and intrinsics of other front ends
      "Merge contiguous icmps into a memcmp", "Expand memcmp() to load/stores",
      "Replace intrinsics with calls to vector library", "Partially inline calls to library functions",
      "Expand vector predication intrinsics",
      // instrumentation and hardening
      "Instrument function entry/exit with calls to e.g. mcount() (post inlining)", "Insert fentry calls",
      "Insert XRay ops", "Implement the 'patchable-function' attribute", "Insert KCFI indirect call checks",
      "Safe Stack instrumentation pass", "Insert stack protectors", "Machine Sanitizer Binary Metadata",
      "Pseudo Probe Inserter", "X86 Windows Fixup Buffer Security Check", "X86 speculative load hardening",
      "X86 Load Value Injection (LVI) Load Hardening", "X86 Load Value Injection (LVI) Ret-Hardening",
      "X86 Speculative Execution Side Effect Suppression", "X86 Indirect Branch Tracking", "X86 Indirect Thunks",
      "X86 Return Thunks", "X86 Discriminate Memory Operands", "X86 Insert Cache Prefetches",
      // debug information and remarks
      "Remove Redundant DEBUG_VALUE analysis", "Live DEBUG_VALUE analysis", "Stack Frame Layout Analysis",
      "Register Allocation Pass Scoring",
      // 32-bit code, x87, processors of another kind
      "X86 PIC Global Base Reg Initialization", "Argument Stack Rebase", "X86 FP Stackifier", "X86 insert wait instruction",
      "X86 Atom pad short functions", "Local Stack Slot Allocation",
      // moves of integers to mask registers: changes nothing in 45 programs, and takes time that grows faster than a
      // function with many constants
      "X86 Domain Reassignment Pass",
      // tile registers, stack memory of a size that is not constant or of a limited lifetime, undefined registers that
      // only other processors initialize
      "Lower AMX intrinsics", "Lower AMX type for load/store", "Tile Register Pre-configure", "Tile Register Configure",
      "X86 Lower Tile Copy", "X86 DynAlloca Expander", "Merge disjoint stack slots", "Init Undef Pass",
      // what no emitter writes, or what is off for x86
      "Lower constant intrinsics", "Assignment Tracking Analysis", "Early If-Conversion",
      "Unpack machine instruction bundles",
      // constants that are expensive in an operand, which LICM moves: change nothing in 90 programs
      "Constant Hoisting", "Canonicalize Freeze Instructions in Loops",
  };
  // clang-format on
  return *names;
}

// Passes, by the names that they report, that take most of the time: a cancellation is polled before each.
const absl::flat_hash_set<absl::string_view>& LongPasses() {
  static const auto* const names = new absl::flat_hash_set<absl::string_view>{
      "Loop Strength Reduction",       "CodeGen Prepare",           "X86 DAG->DAG Instruction Selection",
      "Machine Instruction Scheduler", "Greedy Register Allocator", "Post RA top-down list latency scheduler",
      "X86 Assembly Printer"};
  return *names;
}

// Ends the run of the passes (LeaveRun) if its cancellation has stopped.
class CancellationPoint : public llvm::FunctionPass {
 public:
  static char ID;
  // `cancellation`: that of the run, or null, when the pass runs.
  explicit CancellationPoint(const CancellationToken* const* cancellation)
      : FunctionPass(ID), cancellation_(cancellation) {}

  bool runOnFunction(llvm::Function&) override {
    const CancellationToken* const token = *cancellation_;
    if (token != nullptr && token->stopped()) LeaveRun(token->status("compilation"));
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override { usage.setPreservesAll(); }

 private:
  const CancellationToken* const* const cancellation_;
};
char CancellationPoint::ID = 0;

// All passes, or, for code of x86, those that have work; and the points at which a run may end.
class ShortPassManager : public llvm::legacy::PassManager {
 public:
  // `cancellation`: that of the run, or null, when the passes run.
  ShortPassManager(const llvm::Triple& triple, const CancellationToken* const* cancellation)
      : is_x86_(triple.isX86()), cancellation_(cancellation) {}

  void add(llvm::Pass* pass) override {
    const llvm::StringRef reported = pass->getPassName();
    const absl::string_view name(reported.data(), reported.size());
    if (is_x86_ && PassesWithoutWork().contains(name)) {
      delete pass;
      return;
    }
    if (LongPasses().contains(name)) llvm::legacy::PassManager::add(new CancellationPoint(cancellation_));
    llvm::legacy::PassManager::add(pass);
  }

 private:
  const bool is_x86_;
  const CancellationToken* const* const cancellation_;
};

// Records LLVM's diagnostics of a module instead of printing them and exiting.
class DiagnosticRecorder : public llvm::DiagnosticHandler {
 public:
  explicit DiagnosticRecorder(std::vector<std::string>* errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    errors_->push_back(stream.str());
    return true;
  }

 private:
  std::vector<std::string>* errors_;
};

llvm::CodeGenOptLevel CodeGenLevel(OptLevel level) {
  return level == OptLevel::kNone ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
}

// In AVX-512 code, LLVM 19 merges shuffles to extensions of vectors that it cannot select, for processors on which it
// takes a shuffle across lanes to be slow.
constexpr char kTuning[] = "+fast-variable-crosslane-shuffle";

// Returns the processor with a tuning for which instructions are selected differently, or nullopt if there is no other.
std::optional<CpuFeatures> OtherTuning(const CpuFeatures& cpu) {
  if (!llvm::Triple(cpu.triple).isX86() || absl::EndsWith(cpu.features, kTuning)) return std::nullopt;
  CpuFeatures other = cpu;
  absl::StrAppend(&other.features, other.features.empty() ? "" : ",", kTuning);
  return other;
}

// Returns the features that instructions are selected for. The insertions of SSE4A have no form that clears the upper
// half of a register: on a Zen 3, one that follows an instruction of AVX takes 120 ns. Numbers of four digits, bytes in
// rows, took 75 ns each, and 1.5 without them.
std::string SelectedFeatures(const CpuFeatures& cpu) {
  if (!llvm::Triple(cpu.triple).isX86()) return cpu.features;
  return absl::StrCat(cpu.features, cpu.features.empty() ? "" : ",", "-sse4a");
}

}  // namespace

// The passes of the code generator, which write to a buffer of their own.
class CodeGenerator::Emitter {
 public:
  static absl::StatusOr<std::unique_ptr<Emitter>> Create(llvm::TargetMachine* machine, llvm::CodeGenFileType type) {
    std::unique_ptr<Emitter> emitter(new Emitter(machine->getTargetTriple()));
    if (machine->addPassesToEmitFile(emitter->passes_, emitter->stream_, nullptr, type, /*DisableVerify=*/true)) {
      return absl::InternalError("the code generator has no object writer");
    }
    return emitter;
  }

  std::string Run(llvm::Module* module, const CancellationToken* cancellation) {
    cancellation_ = cancellation;
    buffer_.clear();
    passes_.run(*module);
    return std::string(buffer_.begin(), buffer_.end());
  }

 private:
  explicit Emitter(const llvm::Triple& triple) : stream_(buffer_), passes_(triple, &cancellation_) {}

  const CancellationToken* cancellation_ = nullptr;  // of the run
  llvm::SmallVector<char, 0> buffer_;
  llvm::raw_svector_ostream stream_;
  ShortPassManager passes_;
};

// The process's generators that no compilation uses. Thread-safe.
class IdleGenerators {
 public:
  static IdleGenerators& Get() {
    static IdleGenerators* const generators = new IdleGenerators;
    return *generators;
  }

  // Returns null if there is none for this processor and level.
  std::unique_ptr<CodeGenerator> Take(const CpuFeatures& cpu, OptLevel level) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(generators_.rbegin(), generators_.rend(), [&](const auto& generator) {
      return generator->level_ == level && generator->cpu_.ToText() == cpu.ToText();
    });
    if (found == generators_.rend()) return nullptr;
    std::unique_ptr<CodeGenerator> generator = std::move(*found);
    generators_.erase(std::next(found).base());
    return generator;
  }

  // Keeps the generators that were returned last.
  void Return(std::unique_ptr<CodeGenerator> generator) {
    constexpr size_t kMax = 16;
    if (!generator->reusable_) return;
    std::unique_ptr<CodeGenerator> dropped;
    std::lock_guard<std::mutex> lock(mutex_);
    generators_.push_back(std::move(generator));
    if (generators_.size() <= kMax) return;
    dropped = std::move(generators_.front());
    generators_.erase(generators_.begin());
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<CodeGenerator>> generators_;
};

CodeGenerator::CodeGenerator(CpuFeatures cpu, OptLevel level, std::unique_ptr<llvm::TargetMachine> machine)
    : cpu_(std::move(cpu)), level_(level), machine_(std::move(machine)) {}
CodeGenerator::~CodeGenerator() = default;

absl::StatusOr<std::unique_ptr<CodeGenerator>> CodeGenerator::Take(const CpuFeatures& cpu, OptLevel level) {
  if (std::unique_ptr<CodeGenerator> idle = IdleGenerators::Get().Take(cpu, level)) return idle;
  LimitSearches();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(cpu.triple, error);
  if (target == nullptr) return absl::InternalError(absl::StrCat("no code generator for ", cpu.triple, ": ", error));
  // WebAssembly has code that is linked once: position-independent code would ask the engine for a table of addresses.
  const llvm::Reloc::Model relocation = llvm::Triple(cpu.triple).isWasm() ? llvm::Reloc::Static : llvm::Reloc::PIC_;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(cpu.triple, cpu.cpu, SelectedFeatures(cpu), llvm::TargetOptions(), relocation,
                                  llvm::CodeModel::Small, CodeGenLevel(level), /*JIT=*/true));
  if (machine == nullptr) return absl::InternalError(absl::StrCat("no code generator for ", cpu.cpu));
  return std::unique_ptr<CodeGenerator>(new CodeGenerator(cpu, level, std::move(machine)));
}

void CodeGenerator::Return(std::unique_ptr<CodeGenerator> generator) {
  IdleGenerators::Get().Return(std::move(generator));
}

void CodeGenerator::Prepare(llvm::Module* module) const {
  module->setTargetTriple(cpu_.triple);
  module->setDataLayout(machine_->createDataLayout());
}

void CodeGenerator::Optimize(llvm::Module* module, const CancellationToken* cancellation) {
  if (level_ == OptLevel::kNone) return;
  if (optimizer_ == nullptr) optimizer_ = std::make_unique<Optimizer>(machine_.get(), level_);
  optimizer_->Run(module, cancellation);
}

absl::StatusOr<std::string> CodeGenerator::EmitObject(llvm::Module* module, const CancellationToken* cancellation) {
  return Emit(&objects_, module, /*is_object=*/true, cancellation);
}

absl::StatusOr<std::string> CodeGenerator::EmitAssembly(llvm::Module* module, const CancellationToken* cancellation) {
  std::unique_ptr<Emitter> emitter;
  return Emit(&emitter, module, /*is_object=*/false, cancellation);
}

absl::StatusOr<std::string> CodeGenerator::Emit(std::unique_ptr<Emitter>* emitter, llvm::Module* module, bool is_object,
                                                const CancellationToken* cancellation) {
  if (*emitter == nullptr) {
    absl::StatusOr<std::unique_ptr<Emitter>> created = Emitter::Create(
        machine_.get(), is_object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile);
    if (!created.ok()) return created.status();
    *emitter = *std::move(created);
  }
  std::vector<std::string> errors;
  module->getContext().setDiagnosticHandler(std::make_unique<DiagnosticRecorder>(&errors));
  reusable_ = reusable_ && module->getInstructionCount() <= kMaxInstructionsToReuse;
  std::string code;
  const absl::Status finished = CatchFatalErrors([&] { code = (*emitter)->Run(module, cancellation); });
  module->getContext().setDiagnosticHandler(nullptr);
  if (finished.ok() && errors.empty()) return code;
  reusable_ = false;
  if (finished.ok()) return absl::InternalError(absl::StrCat("code generator: ", absl::StrJoin(errors, "; ")));
  static_cast<void>(emitter->release());  // its passes ended in the middle
  if (!absl::IsInternal(finished)) return finished;
  const std::optional<CpuFeatures> tuning = OtherTuning(cpu_);
  if (!tuning.has_value()) return finished;
  const absl::StatusOr<std::unique_ptr<CodeGenerator>> other = Take(*tuning, level_);
  if (!other.ok()) return finished;
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*module);
  return is_object ? (*other)->EmitObject(copy.get(), cancellation) : (*other)->EmitAssembly(copy.get(), cancellation);
}

}  // namespace hilo::codegen
