// Our emitters create vector IR whose loops are already the right ones and whose values are in allocas wherever that
// was simpler to emit. Little is therefore required of the middle end: allocas to registers, common subexpressions,
// loop invariants (with scoped noalias) and folding. The loop vectorizer and the unroller are two thirds of O2's time
// and have nothing to find; docs/measured_and_rejected.md has the figures for what else was tried.
#include "backends/llvm/jit/optimizer.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace hilo::codegen {
namespace {

llvm::ModulePassManager FastPipeline() {
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  functions.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(llvm::InstCombinePass());
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  functions.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(llvm::DSEPass());
  functions.addPass(llvm::ADCEPass());
  functions.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager modules;
  modules.addPass(llvm::AlwaysInlinerPass());
  modules.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  return modules;
}

}  // namespace

// The managers are declared before the pipeline, and in the order in which LLVM wants them destroyed.
struct Optimizer::Passes {
  Passes(llvm::TargetMachine* machine, OptLevel level) : builder(machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
    pipeline = level == OptLevel::kThorough ? builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
                                            : FastPipeline();
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  llvm::ModulePassManager pipeline;
};

Optimizer::Optimizer(llvm::TargetMachine* machine, OptLevel level) : passes_(new Passes(machine, level)) {}
Optimizer::~Optimizer() = default;

void Optimizer::Run(llvm::Module* module) {
  passes_->pipeline.run(*module, passes_->modules);
  // Results belong to the module, which the caller changes or destroys next.
  passes_->modules.clear();
  passes_->sccs.clear();
  passes_->functions.clear();
  passes_->loops.clear();
}

}  // namespace hilo::codegen
