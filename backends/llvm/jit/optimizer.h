// A short optimization pipeline for IR from our emitters.
#ifndef HILO_BACKENDS_LLVM_JIT_OPTIMIZER_H_
#define HILO_BACKENDS_LLVM_JIT_OPTIMIZER_H_

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

// Optimizes `module` in place for `machine`. Neither reads nor sets fast-math flags: those are the emitters' decision.
void Optimize(llvm::Module* module, llvm::TargetMachine* machine, OptLevel level);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_OPTIMIZER_H_
