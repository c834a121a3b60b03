// Compiles LLVM modules to code that this process can call, in two steps with a cacheable value between them: modules
// are compiled to relocatable objects (in parallel, with one context and one code generator per thread), and objects
// are linked into memory.
#ifndef HILO_BACKENDS_LLVM_JIT_HOST_JIT_H_
#define HILO_BACKENDS_LLVM_JIT_HOST_JIT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/llvm/jit/code_memory.h"
#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/jit/object_store.h"
#include "backends/llvm/jit/optimizer.h"
#include "hilo/host.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace hilo::codegen {

struct JitOptions {
  std::string cpu = "";  // parsed by FeaturesOf; "" is the host
  OptLevel opt_level = OptLevel::kFast;
  bool value_names = true;                          // keep those of values within functions, which only readers need
  bool perf_jitdump = false;                        // write linked functions to perf's jitdump
  ObjectStore* store = nullptr;                     // of other processes' objects; null: none
  std::shared_ptr<CancellationToken> cancellation;  // polled before and within modules; null: not cancellable
};

// A module and its context. The context is declared first, so that it is destroyed last.
struct HostModule {
  HostModule();
  explicit HostModule(absl::string_view name);
  HostModule(HostModule&&);
  HostModule& operator=(HostModule&&);
  ~HostModule();

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// A function of the process that compiled code may call by name. No other symbol of the process is visible to it.
using HostSymbol = std::pair<std::string, void*>;

// Calls body(0) ... body(count - 1), in any order, on any threads, and returns when all are done. Empty: calls them
// sequentially.
using ParallelRunner = std::function<void(size_t count, const std::function<void(size_t)>& body)>;

// Linked code. It is immutable and can be called from any thread; the destructor frees the memory.
class CompiledCode {
 public:
  // Returns the address of a global function or variable that the modules define, or null.
  void* Lookup(absl::string_view name) const;
  template <typename Function>
  Function* LookupFunction(absl::string_view name) const {
    return reinterpret_cast<Function*>(Lookup(name));
  }
  size_t code_bytes() const { return memory_->used_bytes(); }

 private:
  friend class HostJit;
  CompiledCode() = default;
  std::unique_ptr<CodeMemory> memory_;
  absl::flat_hash_map<std::string, void*> symbols_;
};

// Compiles for one processor with one set of options. Thread-safe. The process keeps code generators for reuse.
class HostJit {
 public:
  // Errors: InvalidArgument for an unknown cpu.
  static absl::StatusOr<std::unique_ptr<HostJit>> Create(JitOptions options = {});
  ~HostJit();

  const CpuFeatures& cpu() const { return cpu_; }

  // Sets the module's target triple and data layout, and whether its values have names. Emitters call it first, because
  // sizes and alignments depend on it.
  absl::Status PrepareModule(llvm::Module* module);

  // Verifies, optimizes and compiles; consumes the modules. The i-th string is the i-th module's ELF object. A single
  // module is not stored: a program that differs has none in common with it. Errors:
  // Internal with LLVM's message for a module that is invalid or that the code generator rejects.
  absl::StatusOr<std::vector<std::string>> CompileToObjects(std::vector<HostModule> modules,
                                                            const ParallelRunner& parallel = {});

  // Links objects that CompileToObjects made, now or in an earlier process. They may refer to each other and to
  // `symbols`, to which MathSymbols() and the memory functions are added. Errors: FailedPrecondition if this machine
  // lacks features of cpu(); Internal for undefined symbols (all of them by name) or duplicate ones; ResourceExhausted
  // for memory.
  absl::StatusOr<std::unique_ptr<CompiledCode>> LinkObjects(absl::Span<const std::string> objects,
                                                            absl::Span<const HostSymbol> symbols = {});

  // Both steps.
  absl::StatusOr<std::unique_ptr<CompiledCode>> CompileModules(std::vector<HostModule> modules,
                                                               absl::Span<const HostSymbol> symbols = {},
                                                               const ParallelRunner& parallel = {});

  // Returns the module's code after optimization, as assembly or as IR. Errors as CompileToObjects.
  absl::StatusOr<std::string> EmitAssembly(HostModule module);
  absl::StatusOr<std::string> EmitOptimizedIr(HostModule module);

 private:
  enum class Output { kObject, kAssembly, kIr };

  HostJit(JitOptions options, CpuFeatures cpu);
  // `store`: keeps objects for other processes; null: none.
  absl::StatusOr<std::string> CompileOne(HostModule module, Output output, ObjectStore* store = nullptr);

  JitOptions options_;
  CpuFeatures cpu_;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_HOST_JIT_H_
