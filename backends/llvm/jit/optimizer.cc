// Our emitters create vector IR whose loops are already the right ones and whose values are in allocas wherever that
// was simpler to emit. Little is therefore required of the middle end: allocas to registers, common subexpressions,
// loop invariants (with scoped noalias) and folding. The loop vectorizer and the unroller are two thirds of O2's time
// and have nothing to find; docs/measured_and_rejected.md has the figures for what else was tried.
#include "backends/llvm/jit/optimizer.h"

#include <optional>

#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/MemorySSAUpdater.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
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
#include "llvm/Transforms/Utils/LoopRotationUtils.h"

namespace hilo::codegen {
namespace {

// Instructions of a loop's condition up to which it is copied to the front of the loop.
constexpr unsigned kMaxRotated = 64;

// Moves the condition of a loop to its end, and a copy of it to the front: what the condition and the body both compute
// is then known to the next iteration. LLVM's own pass (llvm/Transforms/Scalar/LoopRotation.h) copies less.
class LoopRotation : public llvm::PassInfoMixin<LoopRotation> {
 public:
  static llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& /*manager*/,
                                     llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& /*updater*/) {
    std::optional<llvm::MemorySSAUpdater> memory;
    if (results.MSSA != nullptr) memory.emplace(results.MSSA);
    const llvm::SimplifyQuery query(loop.getHeader()->getModule()->getDataLayout());
    if (!llvm::LoopRotation(&loop, &results.LI, &results.TTI, &results.AC, &results.DT, &results.SE,
                            memory.has_value() ? &*memory : nullptr, query, /*RotationOnly=*/false, kMaxRotated,
                            /*IsUtilMode=*/false))
      return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved = llvm::getLoopPassPreservedAnalyses();
    if (results.MSSA != nullptr) preserved.preserve<llvm::MemorySSAAnalysis>();
    return preserved;
  }
};

// Replaces minima, maxima and comparisons with constants that the trip count of a loop decides, such as the bounds of
// an index that is its counter. Conditions under which the loop ends are left out: they hold in one iteration and not
// in another, as a loop of one iteration is not emitted.
class LoopBounds : public llvm::PassInfoMixin<LoopBounds> {
 public:
  static llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& /*manager*/,
                                     llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& /*updater*/) {
    bool changed = false;
    for (llvm::BasicBlock* block : loop.blocks()) {
      if (results.LI.getLoopFor(block) != &loop) continue;
      const auto* end = loop.isLoopExiting(block) ? llvm::dyn_cast<llvm::BranchInst>(block->getTerminator()) : nullptr;
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
        if (end != nullptr && end->getCondition() == &instruction && instruction.hasOneUse()) continue;
        llvm::Value* known = Known(instruction, results.SE);
        if (known == nullptr) continue;
        results.SE.forgetValue(&instruction);
        instruction.replaceAllUsesWith(known);
        instruction.eraseFromParent();
        changed = true;
      }
    }
    if (!changed) return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved = llvm::getLoopPassPreservedAnalyses();
    if (results.MSSA != nullptr) preserved.preserve<llvm::MemorySSAAnalysis>();
    return preserved;
  }

 private:
  // Returns the value that `instruction` always has; null if none is known.
  static llvm::Value* Known(llvm::Instruction& instruction, llvm::ScalarEvolution& evolution) {
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
    auto* bound = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
    if (compare == nullptr && bound == nullptr) return nullptr;
    llvm::Value* x = instruction.getOperand(0);
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
    if (constant == nullptr) return nullptr;
    const llvm::SCEV* value = evolution.getSCEV(x);
    if (!llvm::SCEVExprContains(value, [](const llvm::SCEV* part) { return llvm::isa<llvm::SCEVAddRecExpr>(part); }))
      return nullptr;
    const auto predicate = compare != nullptr ? compare->getPredicate() : bound->getPredicate();
    const std::optional<bool> holds = evolution.evaluatePredicate(predicate, value, evolution.getSCEV(constant));
    if (!holds.has_value()) {
      // An equal operand is a bound's value, too.
      const auto other = llvm::CmpInst::getNonStrictPredicate(predicate);
      if (bound == nullptr || !evolution.isKnownPredicate(other, value, evolution.getSCEV(constant))) return nullptr;
      return x;
    }
    if (compare != nullptr) return llvm::ConstantInt::getBool(instruction.getType(), *holds);
    return *holds ? x : constant;
  }
};

// Gives selections between scalar floats that share a comparison comparisons of their own, in up to four forms which
// the code generator does not find to be equal. On x86 it blends where a comparison has one use; of others it makes
// branches, which data may mispredict, or with AVX-512 moves the flag through a general register.
class SelectComparisons : public llvm::PassInfoMixin<SelectComparisons> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& /*manager*/) {
    if (!llvm::Triple(function.getParent()->getTargetTriple()).isX86()) return llvm::PreservedAnalyses::all();
    bool changed = false;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
      if (compare == nullptr || compare->hasOneUse() || !compare->getOperand(0)->getType()->isFloatingPointTy())
        continue;
      llvm::SmallVector<llvm::SelectInst*> selects;
      for (llvm::User* user : compare->users()) {
        auto* select = llvm::dyn_cast<llvm::SelectInst>(user);
        if (select != nullptr && select->getCondition() == compare &&
            select->getType() == compare->getOperand(0)->getType())
          selects.push_back(select);
      }
      const size_t taken = compare->hasNUses(selects.size()) ? 0 : 1;  // forms that other users keep
      for (size_t i = 0; i < selects.size(); ++i) changed |= Separate(compare, selects[i], (i + taken) % 4);
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  static bool Separate(llvm::FCmpInst* compare, llvm::SelectInst* select, size_t form) {
    if (form == 0) return false;
    auto* own = llvm::cast<llvm::FCmpInst>(compare->clone());
    own->insertBefore(select);
    select->setCondition(own);
    if (form % 2 == 1) own->swapOperands();
    if (form >= 2) {
      own->setPredicate(own->getInversePredicate());
      select->swapValues();
    }
    return true;
  }
};

// Combines the instructions of functions that compute with comparisons of integers, such as the masks of a padding.
// Of others our emitters have already folded what they know, and their loops would take a tenth longer to compile.
class Combination : public llvm::PassInfoMixin<Combination> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& manager) {
    return ComputesWithComparisons(function) ? pass_.run(function, manager) : llvm::PreservedAnalyses::all();
  }

 private:
  static bool ComputesWithComparisons(llvm::Function& function) {
    return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
      const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
      return compare != nullptr && !IsOfLanes(*compare) &&
             !llvm::all_of(compare->users(), [](const llvm::User* user) { return llvm::isa<llvm::BranchInst>(user); });
    });
  }

  // Returns true for the mask of the first lanes, and for that of lanes that have had a NaN: their signs.
  static bool IsOfLanes(const llvm::ICmpInst& compare) {
    if (!compare.getType()->isVectorTy()) return false;
    const auto* constant = llvm::dyn_cast<llvm::Constant>(compare.getOperand(1));
    return llvm::isa<llvm::Constant>(compare.getOperand(0)) ||
           (compare.getPredicate() == llvm::CmpInst::ICMP_SLT && constant != nullptr && constant->isNullValue());
  }

  llvm::InstCombinePass pass_;
};

llvm::ModulePassManager FastPipeline() {
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  functions.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(LoopRotation(), /*UseMemorySSA=*/false));
  functions.addPass(Combination());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  loops.addPass(LoopBounds());
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  functions.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(llvm::DSEPass());
  functions.addPass(llvm::ADCEPass());
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(SelectComparisons());
  llvm::ModulePassManager modules;
  modules.addPass(llvm::AlwaysInlinerPass());
  modules.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  return modules;
}

}  // namespace

// The managers are declared before the pipeline, and in the order in which LLVM wants them destroyed.
struct Optimizer::Passes {
  Passes(llvm::TargetMachine* machine, OptLevel level)
      : builder(machine, llvm::PipelineTuningOptions(), /*PGOOpt=*/std::nullopt, &callbacks) {
    callbacks.registerShouldRunOptionalPassCallback(
        [this](llvm::StringRef, const llvm::Any&) { return cancellation == nullptr || !cancellation->stopped(); });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
    pipeline = level == OptLevel::kThorough ? builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
                                            : FastPipeline();
  }

  const CancellationToken* cancellation = nullptr;  // of the run
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  llvm::ModulePassManager pipeline;
};

Optimizer::Optimizer(llvm::TargetMachine* machine, OptLevel level) : passes_(new Passes(machine, level)) {}
Optimizer::~Optimizer() = default;

void Optimizer::Run(llvm::Module* module, const CancellationToken* cancellation) {
  passes_->cancellation = cancellation;
  passes_->pipeline.run(*module, passes_->modules);
  // Results belong to the module, which the caller changes or destroys next.
  passes_->modules.clear();
  passes_->sccs.clear();
  passes_->functions.clear();
  passes_->loops.clear();
}

}  // namespace hilo::codegen
