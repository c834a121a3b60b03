// What the GPU adds to the standard pipeline (hlo/passes/standard_pipeline.h).
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/collectives/collective_passes.h"
#include "backends/gpu/compile/chosen_extrema.h"
#include "backends/gpu/compile/dot_scales.h"
#include "backends/gpu/compile/dot_terms.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/compile/scatter_merge.h"
#include "backends/gpu/compile/score_sums.h"
#include "backends/gpu/match/convolution_match.h"
#include "backends/gpu/match/cuda_calls.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/match/row_plan.h"
#include "hlo/analysis/reduction.h"
#include "hlo/passes/attention/attention_fusion.h"
#include "hlo/passes/attention/attention_gradient_fusion.h"
#include "hlo/passes/dimensions/concatenation_separation.h"
#include "hlo/passes/dots/dot_fusion.h"
#include "hlo/passes/dots/factor_narrowing.h"
#include "hlo/passes/fusion/row_fusion.h"
#include "hlo/passes/standard_pipeline.h"

namespace hilo::gpu {
namespace {

// Any number whose rows fit into registers.
constexpr int64_t kMaxRowReductions = 128;
// Elements of a sum that one block would read for too long.
constexpr int64_t kLongSum = int64_t{1} << 18;

bool IsLongSum(const HloInstruction& reduce) { return ShapeUtil::ElementsIn(reduce.operand(0)->shape()) >= kLongSum; }
bool IsSumToScalar(const HloInstruction& reduce) { return ShapeUtil::ElementsIn(reduce.shape()) == 1; }
bool ReducesColumns(const HloInstruction& reduce) { return !ReductionOf(reduce).ReducesMinor(); }
bool IsAnyReduction(const HloInstruction&) { return true; }

PassList InOrder(PassList first, PassList second, PassList third, PassList fourth) {
  for (PassList* next : {&second, &third, &fourth}) absl::c_move(*next, std::back_inserter(first));
  return first;
}

// What the groups below are made for. Passes that round in another way than the program says are left out if `strict`.
struct PipelineContext {
  const Target* target;
  const KernelFacts& kernels;
  bool strict;
  double instructions_per_byte;
};

// Kernels whose array of scores is never in memory.
PassList AttentionPasses(const PipelineContext& context) {
  const KernelFacts& kernels = context.kernels;
  const auto attention = [&] {
    return MakeAttentionFusion(context.target,
                               [kernels](const Attention& one) { return TakesAttention(one, kernels); });
  };
  const auto score_grids = [&] {
    return MakeAttentionGradientFusion(
        context.target,
        [kernels](const ScoreGrid& grid, absl::Span<const ScoreGrid> parts) {
          return TakesScoreGrid(grid, parts, kernels);
        },
        kMaxGridFeatures);
  };
  PassList passes;
  if (!context.strict) {
    passes.push_back(MakeScoreSumSplit(kernels));
    // Attention with sinks is matched by sums of its logits alone.
    passes.push_back(MakeConcatenationSeparation());
  }
  passes.push_back(attention());
  passes.push_back(score_grids());
  if (!context.strict) {
    // Attention that is left as its factors have several types may have one type without conversions.
    passes.push_back(MakeFactorNarrowing());
    passes.push_back(attention());
    passes.push_back(score_grids());
  }
  // Dots with a vector that are no attention become sums, which grids of scores may have.
  passes.push_back(MakeSimplifier(context.strict));
  passes.push_back(MakeCse());
  passes.push_back(MakeDce());
  if (!context.strict) passes.push_back(score_grids());
  return passes;
}

// Rewrites of the graph after which there is less to compute, or more to fuse.
PassList RewritePasses(const PipelineContext& context) {
  if (context.strict) return {};
  return MakePassList(MakeDotScales(),
                      // After the last simplifier, which would cut parts out of small factors.
                      MakeDotTerms(), MakeComponentSeparation(), MakeDce(), MakeSumFactors(), MakeChosenExtrema(),
                      // Before sums to one number are in parts.
                      MakeOnePassReductions(IsSumToScalar), MakeReductionSplit(/*max_results=*/1, IsLongSum));
}

// Products and convolutions: the library's first, as own kernels take those that it leaves.
PassList ProductPasses(const PipelineContext& context) {
  const KernelFacts& kernels = context.kernels;
  PassList passes;
  if (kernels.libraries != nullptr) {
    passes.push_back(MakeGemmFusion(kernels.libraries,
                                    [kernels](const HloInstruction& dot) { return IsOwnDotFaster(dot, kernels); }));
    passes.push_back(MakeConvolutionFusion(kernels.libraries));
  }
  passes.push_back(MakeDotFusion(context.target, DotFusionFor(kernels)));
  return passes;
}

// Reductions, and rows with what is computed from them: the kernels that hold the most of the graph first.
PassList ReductionPasses(const PipelineContext& context) {
  const KernelFacts& kernels = context.kernels;
  const auto pairs = [&](int64_t min_reductions) {
    return MakePairFusion(context.target, context.strict, context.instructions_per_byte, min_reductions);
  };
  RowFusionOptions rows{.max_reductions = kMaxRowReductions,
                        .accepts = [kernels](const HloInstruction& fusion) { return TakesRows(fusion, kernels); },
                        .separates_reads = true,
                        .repeats_producers = true,
                        .instructions_per_byte = context.instructions_per_byte};
  RowFusionOptions rows_and_columns = rows;
  rows_and_columns.max_column_reductions = kMaxColumnReductions;
  rows.separates_columns = true;

  PassList passes;
  // Two along one side of the pairs are one kernel; one along each side may be in a kernel of rows and columns.
  passes.push_back(pairs(/*min_reductions=*/2));
  passes.push_back(MakeRowFusion(context.target, context.strict, std::move(rows_and_columns)));
  passes.push_back(pairs(/*min_reductions=*/1));
  // Sums of columns are merged before the second kernels of rows, which may read what they no longer do; those of rows
  // after them, as they join other kernels of their rows.
  if (!context.strict) passes.push_back(MakeOnePassReductions(ReducesColumns));
  passes.push_back(MakeReductionMerge(context.strict, ReducesColumns));
  passes.push_back(MakeRowFusion(context.target, context.strict, std::move(rows)));
  // Rows that are too long for registers, or in no group of rows.
  if (!context.strict) passes.push_back(MakeOnePassReductions(IsAnyReduction));
  passes.push_back(MakeReductionMerge(context.strict, IsAnyReduction));
  return passes;
}

}  // namespace

PassPipeline GpuPipeline(const Target* target, const CompileOptions& options, const KernelFacts& kernels) {
  constexpr GpuMachine machine;
  const PipelineContext context{.target = target,
                                .kernels = kernels,
                                .strict = options.strict,
                                .instructions_per_byte = machine.instructions_per_ns / machine.bytes_per_ns};
  PipelineHooks hooks;
  // Operations as the program has them: collectives, CUDA's calls, short loops, scatters.
  hooks.before_expansion =
      MakePassList(MakeCollectiveRewriter(), MakeCudaCalls(), MakeLoopUnrolling(), MakeScatterMerge());
  // Collectives that are alike are combined once none is rewritten any more.
  hooks.after_layout = MakePassList(MakeCollectiveCombiner());
  // The general fusion does not change existing fusions, so that kernels with a shape of their own come before it.
  hooks.before_fusion = InOrder(AttentionPasses(context),   // matches dots and softmaxes as programs write them
                                RewritePasses(context),     // changes these, and what is left of dots and sums
                                ProductPasses(context),     // takes the element-wise work around dots
                                ReductionPasses(context));  // takes the rest of what rows and columns read
  // Each instruction is a kernel now, and gets its configuration.
  hooks.after_fusion = MakePassList(MakeKernelChoice(kernels));
  return StandardPipeline(target,
                          {.strict = options.strict,
                           .constant_folding_limit = options.constant_folding_limit,
                           .keep_dots = true,
                           .instructions_per_byte = context.instructions_per_byte},
                          std::move(hooks));
}

}  // namespace hilo::gpu
