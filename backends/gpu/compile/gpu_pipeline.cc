// What the GPU adds to the standard pipeline (hlo/passes/standard_pipeline.h).
#include <vector>

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
constexpr int64_t kMostRowReductions = 128;
// Elements of a sum that one block would read for too long.
constexpr int64_t kLongSum = int64_t{1} << 18;

bool IsLongSum(const HloInstruction& reduce) { return ShapeUtil::ElementsIn(reduce.operand(0)->shape()) >= kLongSum; }

}  // namespace

PassPipeline GpuPipeline(const Target* target, const CompileOptions& options, const KernelFacts& kernels) {
  PipelineHooks hooks;
  constexpr GpuMachine machine;
  constexpr double instructions_per_byte = machine.instructions_per_ns / machine.bytes_per_ns;
  hooks.before_expansion =
      MakePassList(MakeCollectiveRewriter(), MakeCudaCalls(), MakeLoopUnrolling(), MakeScatterMerge());
  hooks.after_layout = MakePassList(MakeCollectiveCombiner());
  if (!options.strict) hooks.before_fusion.push_back(MakeScoreSumSplit(kernels));
  // Attention with sinks is matched by sums of its logits alone.
  if (!options.strict) hooks.before_fusion.push_back(MakeConcatenationSeparation());
  const auto score_grids = [&] {
    return MakeAttentionGradientFusion(
        target,
        [kernels](const ScoreGrid& grid, absl::Span<const ScoreGrid> parts) {
          return TakesScoreGrid(grid, parts, kernels);
        },
        kMostGridFeatures);
  };
  // Attention that is left as its factors have several types may have one type without conversions.
  for (const bool is_narrow : {false, true}) {
    if (is_narrow && options.strict) break;
    if (is_narrow) hooks.before_fusion.push_back(MakeFactorNarrowing());
    hooks.before_fusion.push_back(MakeAttentionFusion(
        target, [kernels](const Attention& attention) { return TakesAttention(attention, kernels); }));
    hooks.before_fusion.push_back(score_grids());
  }
  // Dots with a vector that are no attention become sums, which grids of scores may have.
  hooks.before_fusion.push_back(MakeSimplifier(options.strict));
  hooks.before_fusion.push_back(MakeCse());
  hooks.before_fusion.push_back(MakeDce());
  if (!options.strict) {
    hooks.before_fusion.push_back(score_grids());
    hooks.before_fusion.push_back(MakeDotScales());
    // The simplifier would cut parts out of small factors.
    hooks.before_fusion.push_back(MakeDotTerms());
    hooks.before_fusion.push_back(MakeComponentSeparation());
    hooks.before_fusion.push_back(MakeDce());
    hooks.before_fusion.push_back(MakeSumFactors());
    hooks.before_fusion.push_back(MakeChosenExtrema());
    // Before sums to one number are in parts.
    hooks.before_fusion.push_back(
        MakeOnePassReductions([](const HloInstruction& reduce) { return ShapeUtil::ElementsIn(reduce.shape()) == 1; }));
    hooks.before_fusion.push_back(MakeReductionSplit(/*most_results=*/1, IsLongSum));
  }
  // Fuses products and convolutions for the libraries, other products, and rows, first: the general fusion does not
  // change existing fusions.
  if (kernels.libraries != nullptr) {
    hooks.before_fusion.push_back(MakeGemmFusion(
        kernels.libraries, [kernels](const HloInstruction& dot) { return IsOwnDotFaster(dot, kernels); }));
    hooks.before_fusion.push_back(MakeConvolutionFusion(kernels.libraries));
  }
  hooks.before_fusion.push_back(MakeDotFusion(target, DotFusionFor(kernels)));
  // One reduction along each side may be in one kernel, of rows and columns.
  hooks.before_fusion.push_back(MakePairFusion(target, options.strict, instructions_per_byte, /*least_reductions=*/2));
  const auto accepts_rows = [kernels](const HloInstruction& fusion) { return TakesRows(fusion, kernels); };
  hooks.before_fusion.push_back(MakeRowFusion(target, options.strict,
                                              {.most_reductions = kMostRowReductions,
                                               .accepts = accepts_rows,
                                               .separates_reads = true,
                                               .repeats_producers = true,
                                               .instructions_per_byte = instructions_per_byte,
                                               .most_column_reductions = kMostColumnReductions}));
  hooks.before_fusion.push_back(MakePairFusion(target, options.strict, instructions_per_byte, /*least_reductions=*/1));
  // Sums of columns; those of rows join other kernels of their rows.
  const auto reduces_columns = [](const HloInstruction& reduce) { return !ReductionOf(reduce).ReducesMinor(); };
  if (!options.strict) hooks.before_fusion.push_back(MakeOnePassReductions(reduces_columns));
  hooks.before_fusion.push_back(MakeReductionMerge(options.strict, reduces_columns));
  hooks.before_fusion.push_back(MakeRowFusion(target, options.strict,
                                              {.most_reductions = kMostRowReductions,
                                               .accepts = accepts_rows,
                                               .separates_columns = true,
                                               .separates_reads = true,
                                               .repeats_producers = true,
                                               .instructions_per_byte = instructions_per_byte}));
  // Rows that are too long for registers, or in no group of rows.
  const auto any_reduction = [](const HloInstruction&) { return true; };
  if (!options.strict) hooks.before_fusion.push_back(MakeOnePassReductions(any_reduction));
  hooks.before_fusion.push_back(MakeReductionMerge(options.strict, any_reduction));
  hooks.after_fusion = MakePassList(MakeKernelChoice(kernels));
  return StandardPipeline(target,
                          {.strict = options.strict,
                           .constant_folding_limit = options.constant_folding_limit,
                           .keep_dots = true,
                           .instructions_per_byte = instructions_per_byte},
                          std::move(hooks));
}

}  // namespace hilo::gpu
