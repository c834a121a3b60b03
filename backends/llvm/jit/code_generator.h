// LLVM's optimizer and code generator for one processor, made once and run on many modules.
//
// Creating the passes takes longer than running them on a small module: kept between modules, and without those that
// have no work (code_generator.cc), they generate the code of a scalar addition in 0.4 ms rather than 1.2.
#ifndef HILO_BACKENDS_LLVM_JIT_CODE_GENERATOR_H_
#define HILO_BACKENDS_LLVM_JIT_CODE_GENERATOR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/jit/optimizer.h"
#include "hilo/host.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace hilo::codegen {

// Not thread-safe: one per thread that compiles. Modules may have different contexts.
class CodeGenerator {
 public:
  // Returns one that the process keeps for reuse, or a new one. Errors: Internal if LLVM lacks the processor.
  static absl::StatusOr<std::unique_ptr<CodeGenerator>> Take(const CpuFeatures& cpu, OptLevel level);
  // Keeps a generator for the next Take(), unless its last module failed or was so large that the passes hold much
  // memory.
  static void Return(std::unique_ptr<CodeGenerator> generator);
  ~CodeGenerator();

  // Sets the target triple and data layout of a module.
  void Prepare(llvm::Module* module) const;

  // Optimizes a module in place, until `cancellation` stops (null: to the end).
  void Optimize(llvm::Module* module, const CancellationToken* cancellation = nullptr);

  // Returns an optimized module's code: an ELF object, or assembly. The module is of no use afterwards. Where LLVM's
  // instruction selection fails, the code is that of another tuning for the same processor. `cancellation` (null: none)
  // is polled between LLVM's longer passes. Errors: Internal with LLVM's message for what the code generator rejects;
  // Cancelled, DeadlineExceeded.
  absl::StatusOr<std::string> EmitObject(llvm::Module* module, const CancellationToken* cancellation = nullptr);
  absl::StatusOr<std::string> EmitAssembly(llvm::Module* module, const CancellationToken* cancellation = nullptr);

 private:
  class Emitter;
  friend class IdleGenerators;

  CodeGenerator(CpuFeatures cpu, OptLevel level, std::unique_ptr<llvm::TargetMachine> machine);
  // Makes the emitter if it is null.
  absl::StatusOr<std::string> Emit(std::unique_ptr<Emitter>* emitter, llvm::Module* module, bool is_object,
                                   const CancellationToken* cancellation);

  const CpuFeatures cpu_;
  const OptLevel level_;
  const std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Emitter> objects_;  // null before the first
  bool reusable_ = true;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_CODE_GENERATOR_H_
