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
  (void)options;
  PassPipeline pipeline;
  pipeline.AddStage(HloStage::kCore, List(MakeCallInliner(),            // before all that looks across a call
                                          MakeSupportCheck(target),     // nothing unknown goes further
                                          MakeDce()));
  pipeline.AddStage(HloStage::kLaidOut, List(MakeLayoutNormalization(),
                                             MakeDce()));
  pipeline.AddStage(HloStage::kFused, List(MakeFlattenCallGraph(),      // each loop owns its computations: fusion and copies may change them
                                           MakeFusion(target),
                                           MakeDce()));                 // producers that all consumers took in
  return pipeline;
}

}  // namespace hilo::cpu
