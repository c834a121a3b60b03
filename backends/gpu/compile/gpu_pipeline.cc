// What the GPU adds to the standard pipeline (hlo/passes/standard_pipeline.h), and which instructions the target emits.
#include "backends/gpu/collectives/collective_emitter.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/match/convolution_match.h"
#include "backends/gpu/match/cuda_calls.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/match/row_fusion.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "collectives/collective_op.h"
#include "hlo/analysis/in_place.h"
#include "hlo/passes/standard_pipeline.h"

namespace hilo::gpu {
namespace {

class GpuTarget : public Target {
 public:
  bool Supports(const HloInstruction& instruction) const override {
    switch (instruction.opcode()) {
      case HloOpcode::kAfterAll:
      case HloOpcode::kCall:
      case HloOpcode::kCholesky:
      case HloOpcode::kConditional:
      case HloOpcode::kConvolution:
      case HloOpcode::kFft:
      case HloOpcode::kParameter:
      case HloOpcode::kRaggedDot:
      case HloOpcode::kScatter:
      case HloOpcode::kSelectAndScatter:
      case HloOpcode::kSort:
      case HloOpcode::kTriangularSolve:
      case HloOpcode::kWhile: return true;
      case HloOpcode::kStochasticConvert: return false;
      case HloOpcode::kTopK: return IsSelectedTopK(instruction);
      default:
        return IsHostCall(instruction) || CollectiveOp::Is(instruction.opcode()) ||
               codegen::IsElementGenerated(instruction.opcode());
    }
  }

  bool IsFusible(const HloInstruction& instruction) const override {
    switch (instruction.opcode()) {
      case HloOpcode::kCopy:
      case HloOpcode::kDot:
      case HloOpcode::kReduce:
      case HloOpcode::kReduceWindow:
        return false;  // as producers they would be recomputed for every element that reads them
      case HloOpcode::kGetTupleElement:
        return false;  // no code, and a fusion in its place would have a tuple parameter
      case HloOpcode::kBitcastConvert: return !IsReinterpretation(instruction);  // no code outside fusions
      default: return codegen::IsElementGenerated(instruction.opcode());
    }
  }

  bool DotGoesToLibrary(const HloInstruction&) const override { return false; }
};

}  // namespace

PassPipeline GpuPipeline(const Target* target, const CompileOptions& options, Libraries* libraries) {
  PipelineHooks hooks;
  hooks.before_expansion = MakePassList(MakeCollectiveRewriter(), MakeCudaCalls());
  hooks.after_layout = MakePassList(MakeCollectiveCombiner());
  // Fuses products and convolutions for the libraries, and rows, first: the general fusion does not change existing
  // fusions.
  if (libraries != nullptr)
    hooks.before_fusion = MakePassList(MakeGemmFusion(libraries), MakeConvolutionFusion(libraries));
  hooks.before_fusion.push_back(MakeRowFusion(target, options.strict));
  return StandardPipeline(target, {.strict = options.strict, .constant_folding_limit = options.constant_folding_limit},
                          std::move(hooks));
}

std::unique_ptr<Target> CreateGpuTarget() { return std::make_unique<GpuTarget>(); }

}  // namespace hilo::gpu
