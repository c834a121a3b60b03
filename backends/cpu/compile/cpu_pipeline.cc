#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/kernels/gemm_plan.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/row_plan.h"
#include "backends/llvm/jit/host_features.h"
#include "hlo/passes/attention/attention_blocks.h"
#include "hlo/passes/constant_operands.h"
#include "hlo/passes/dimensions/row_merge.h"
#include "hlo/passes/dimensions/row_split.h"
#include "hlo/passes/dots/batch_lanes.h"
#include "hlo/passes/dots/dot_fusion.h"
#include "hlo/passes/fusion/row_fusion.h"
#include "hlo/passes/integer_convolutions.h"
#include "hlo/passes/loops/loop_sharing.h"
#include "hlo/passes/standard_pipeline.h"
#include "runtime/time_thresholds.h"

namespace hilo::cpu {
namespace {

// Those of a softmax, a layer norm, a variance. Longer chains have more expensive values than results to keep them.
constexpr int64_t kMaxRowReductions = 2;
// Such as the components of a force. Their sums share the registers.
constexpr int64_t kMaxRowSiblings = 3;
// Rows for which a loop of its own pays for a function of one value each, such as a logarithm: some 7 ns a row are
// saved.
constexpr int64_t kMinSeparateRows = 256;
// Results of a sum that are too few to be parts for threads.
constexpr int64_t kFewResults = 1024;
// Partial sums cost one more kernel, so a sum is split from this many times the estimate from which kernels run in
// parallel.
constexpr int64_t kLongSum = 2;
// Instructions before a sum whose work is counted as the sum's.
constexpr size_t kMaxProducers = 64;
// Scores of attention that stay in the last cache, and are work enough for many threads.
constexpr int64_t kAttentionBytes = 4 << 20;

// The work of a reduction and of the element-wise instructions before it that it alone uses: they become one kernel.
Work WorkWithProducers(const HloInstruction& reduce) {
  Work work = WorkOf(reduce);
  std::vector<const HloInstruction*> chain = {&reduce};
  for (size_t k = 0; k < chain.size() && chain.size() < kMaxProducers; ++k) {
    for (const HloInstruction* operand : chain[k]->operands()) {
      if (!IsElementwise(operand->opcode()) || absl::c_linear_search(chain, operand) ||
          absl::c_any_of(operand->users(), [&](const auto* user) { return !absl::c_linear_search(chain, user); }))
        continue;
      work.operations += WorkOf(*operand).operations;
      chain.push_back(operand);
    }
  }
  return work;
}

}  // namespace

PassPipeline CpuPipeline(const Target* target, const CompileOptions& options) {
  PipelineHooks hooks;
  hooks.before_expansion = MakePassList(MakeIntegerConvolutions(
      [target](const HloInstruction& convolution) { return IsEmitted(target->EmissionOf(convolution)); }));
  if (!options.strict) {
    hooks.before_expansion.push_back(MakeBatchLanes(IsFasterInBatchLanes));
    const auto is_long = [machine = MachineFactsOf(options.cpu)](const HloInstruction& reduce) {
      return machine.ok() && Nanoseconds(WorkWithProducers(reduce), *machine) >= kLongSum * kParallelNanoseconds;
    };
    hooks.after_layout = MakePassList(MakeAttentionBlocks(kAttentionBytes), MakeReductionFold(),
                                      MakeReductionSplit(kFewResults, is_long), MakeDotSplit(SectionsOf));
  }
  hooks.after_layout.push_back(MakeWindowSeparation(options.strict));
  if (const auto machine = MachineFactsOf(options.cpu); machine.ok()) {
    hooks.after_layout.push_back(
        MakeLoopSharing([machine = *machine](const Work& work) { return Nanoseconds(work, machine); }));
  }
  // A name of a processor that is unknown is an error of the compilation later on.
  std::optional<codegen::TargetTraits> traits;
  if (const absl::StatusOr<codegen::CpuFeatures> features = codegen::FeaturesOf(options.cpu); features.ok())
    traits = codegen::TargetTraits::FromCpu(*features);
  const auto with_traits = [traits, strict = options.strict](auto decide) {
    return
        [=](const HloInstruction& instruction) { return traits.has_value() && decide(instruction, *traits, strict); };
  };
  const auto is_row_kernel = [](const HloInstruction& fusion, const codegen::TargetTraits& target, bool strict) {
    return PlanCachedRows(fusion, target, strict).has_value();
  };
  hooks.before_fusion = MakePassList(
      MakeColumnMerge(with_traits(FillsMoreLanesMerged)), MakeFactorTransposition(with_traits(IsFasterTransposed)),
      MakeSortTransposition(with_traits(IsFasterAlongRows)),
      MakeLoopFactorTransposition(with_traits(IsFasterInColumns)), MakeCse(), MakeLoopInvariantMotion());
  hooks.before_fusion.push_back(MakeRowFusion(target, options.strict,
                                              {.max_reductions = kMaxRowReductions,
                                               .max_siblings = kMaxRowSiblings,
                                               .accepts = with_traits(is_row_kernel),
                                               .min_separate_rows = kMinSeparateRows}));
  hooks.before_fusion.push_back(MakeDotFusion(target, DotFusionFor(options.strict)));
  hooks.after_fusion = MakePassList(MakeRowSplit(), MakeRowMerge(), MakeTransposeMerge(), MakeMovesAsBits(),
                                    MakeConstantOperands(), MakeKernelChoice(options));
  return StandardPipeline(target, {.strict = options.strict, .constant_folding_limit = options.constant_folding_limit},
                          std::move(hooks));
}

}  // namespace hilo::cpu
