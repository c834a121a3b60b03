// A short optimization pipeline for IR from our emitters.
#ifndef HILO_BACKENDS_LLVM_JIT_OPTIMIZER_H_
#define HILO_BACKENDS_LLVM_JIT_OPTIMIZER_H_

#include <memory>

#include "hilo/host.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace hilo::codegen {

enum class OptLevel {
  kNone,     // no passes: for tests, and to find out whether an error is the optimizer's
  kFast,     // the short pipeline; the default
  kThorough  // LLVM's O2, for comparison
};

// A pipeline that is made once and run on many modules. Not thread-safe.
class Optimizer {
 public:
  // `level` is not kNone; `machine` outlives the optimizer.
  Optimizer(llvm::TargetMachine* machine, OptLevel level);
  ~Optimizer();

  // Optimizes `module` in place. Neither reads nor sets fast-math flags: those are the emitters' decision. Leaves out
  // the passes that remain when `cancellation` stops; null: none.
  void Run(llvm::Module* module, const CancellationToken* cancellation = nullptr);

 private:
  struct Passes;
  std::unique_ptr<Passes> passes_;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_OPTIMIZER_H_
