// The way of a module to native code, as a table of contents: stages, their passes, and why the order matters.
#include "backends/cpu/cpu_compiler.h"
#include "hlo/passes/standard_passes.h"

namespace hilo::cpu {
namespace {

template <typename... Passes>
std::vector<std::unique_ptr<HloPass>> List(Passes... passes) {
  std::vector<std::unique_ptr<HloPass>> list;
  (list.push_back(std::move(passes)), ...);
  return list;
}

}  // namespace

PassPipeline CpuPipeline(const Target* target, const CompileOptions& options) {
  PassPipeline pipeline;
  // Of loops as they are written: the rules below make sums of some products.
  if (!options.strict) pipeline.AddStage(HloStage::kCore, List(MakeAsyncToSync(), MakeLoopProducts()));
  // What the target emits, with as little of it as possible. Expansion comes first, so that the rules see what it makes; then inlining: they
  // look across it.
  pipeline.AddStage(HloStage::kCore,
                    List(MakeAsyncToSync(), MakeExpander(target), MakeFusionInliner(), MakeCallInliner(), MakeSimplifier(options.strict), MakeConstantFolding(options.constant_folding_limit),
                         MakeCse(), MakeDce(), MakeSupportCheck(target)),
                    /*max_rounds=*/6);
  // Row-major from here on; the transposes that this brings are simplified like any other.
  pipeline.AddStage(HloStage::kLaidOut, List(MakeLayoutNormalization(), MakeSimplifier(options.strict), MakeCse(), MakeDce()));
  // Loops and branches must own their computations before anything is placed; then kernels are formed.
  pipeline.AddStage(HloStage::kFused, List(MakeFlattenCallGraph(), MakeFusion(target), MakeDce()));
  return pipeline;
}

}  // namespace hilo::cpu
