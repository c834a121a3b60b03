#include "hlo/passes/standard_pipeline.h"

#include <iterator>

namespace hilo {
namespace {

PassList Concatenate(PassList first, PassList second, PassList third) {
  first.insert(first.end(), std::make_move_iterator(second.begin()), std::make_move_iterator(second.end()));
  first.insert(first.end(), std::make_move_iterator(third.begin()), std::make_move_iterator(third.end()));
  return first;
}

}  // namespace

PassPipeline InputPipeline(OpenValues open, std::vector<ShardingNote>* notes) {
  PassPipeline pipeline;
  pipeline.AddStage(HloStage::kInput, MakePassList(MakeLibraryCalls(), MakePartitioner(std::move(open), notes)));
  return pipeline;
}

PassPipeline StandardPipeline(const Target* target, const StandardPipelineOptions& options, PipelineHooks hooks) {
  PassPipeline pipeline;
  // On loops as they are written: the rules below make sums of some products.
  if (!options.strict) pipeline.AddStage(HloStage::kCore, MakePassList(MakeAsyncToSync(), MakeLoopDotBatching()));
  // What the target emits, with as little of it as possible. Expansion comes first, so that the rules see what it
  // makes; then inlining: they look across it.
  pipeline.AddStage(HloStage::kCore,
                    Concatenate(MakePassList(MakeAsyncToSync()), std::move(hooks.before_expansion),
                                MakePassList(MakeExpander(target), MakeFusionInliner(), MakeCallInliner(),
                                             MakeSimplifier(options.strict, options.keep_dots),
                                             MakeConstantFolding(options.constant_folding_limit), MakeCse(), MakeDce(),
                                             MakeSupportCheck(target))),
                    /*max_iterations=*/6);
  // Row-major from here on; the transposes that this brings are simplified like any other, and leave loops.
  pipeline.AddStage(HloStage::kLaidOut, Concatenate(MakePassList(MakeLayoutNormalization(),
                                                                 MakeSimplifier(options.strict, options.keep_dots),
                                                                 MakeCse(), MakeDce(), MakeLoopInvariantMotion()),
                                                    std::move(hooks.after_layout), {}));
  // Loops and branches must own their computations before anything is placed; then kernels are formed.
  PassList fusion = Concatenate(MakePassList(MakeFlattenCallGraph()), std::move(hooks.before_fusion),
                                MakePassList(MakeFusion(target, options.instructions_per_byte), MakeDce()));
  pipeline.AddStage(HloStage::kFused, Concatenate(std::move(fusion), std::move(hooks.after_fusion), {}));
  return pipeline;
}

}  // namespace hilo
