// The way of a module to kernels, as a table of contents: stages, their passes, and why the order matters; and what the target emits.
#include "backends/gpu/collectives/collective_emitter.h"
#include "backends/gpu/convolution_match.h"
#include "backends/gpu/cuda_calls.h"
#include "backends/gpu/emitters.h"
#include "backends/gpu/gemm_match.h"
#include "backends/gpu/gpu_compiler.h"
#include "backends/gpu/host_call.h"
#include "backends/gpu/row_fusion.h"
#include "backends/llvm/lane_plan.h"
#include "collectives/collective_op.h"
#include "hlo/analysis/in_place.h"
#include "hlo/passes/standard_passes.h"

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
      case HloOpcode::kWhile:
        return true;
      case HloOpcode::kStochasticConvert:
        return false;
      case HloOpcode::kTopK:
        return IsSelectedTopK(instruction);
      default:
        return IsHostCall(instruction) || CollectiveOp::Is(instruction.opcode()) || codegen::IsElementGenerated(instruction.opcode());
    }
  }

  bool IsFusible(const HloInstruction& instruction) const override {
    switch (instruction.opcode()) {
      case HloOpcode::kCopy:
      case HloOpcode::kDot:
      case HloOpcode::kReduce:
      case HloOpcode::kReduceWindow:
        return false;  // as a producer each would be computed anew for every element that reads it
      case HloOpcode::kGetTupleElement:
        return false;  // no work, and a fusion that takes its place would have a tuple for a parameter
      case HloOpcode::kBitcastConvert:
        return !IsReinterpretation(instruction);  // no code at all outside
      default:
        return codegen::IsElementGenerated(instruction.opcode());
    }
  }

  bool DotGoesToLibrary(const HloInstruction&) const override { return false; }
};

template <typename... Passes>
std::vector<std::unique_ptr<HloPass>> List(Passes... passes) {
  std::vector<std::unique_ptr<HloPass>> list;
  (list.push_back(std::move(passes)), ...);
  return list;
}

}  // namespace

PassPipeline GpuPipeline(const Target* target, const CompileOptions& options, Libraries* libraries) {
  PassPipeline pipeline;
  // What the target emits, with as little of it as possible. Expansion comes first, so that the rules see what it makes; then inlining: they
  // look across it.
  pipeline.AddStage(HloStage::kCore,
                    List(MakeAsyncToSync(), MakeCollectiveRewriter(), MakeCudaCalls(), MakeExpander(target), MakeCallInliner(), MakeSimplifier(options.strict), MakeConstantFolding(options.constant_folding_limit),
                         MakeCse(), MakeDce(), MakeSupportCheck(target)),
                    /*max_rounds=*/6);
  // Row-major from here on; the transposes that this brings are simplified like any other.
  pipeline.AddStage(HloStage::kLaidOut, List(MakeLayoutNormalization(), MakeSimplifier(options.strict), MakeCse(), MakeDce(), MakeCollectiveCombiner()));
  // Loops and branches must own their computations before anything is placed; then products and convolutions for the libraries and kernels are formed: rows first, as the others take what is
  // fused for granted.
  std::vector<std::unique_ptr<HloPass>> fusion = List(MakeFlattenCallGraph());
  if (libraries != nullptr) {
    fusion.push_back(MakeGemmFusion(libraries));
    fusion.push_back(MakeConvolutionFusion(libraries));
  }
  fusion.push_back(MakeRowFusion(target, options.strict));
  fusion.push_back(MakeFusion(target));
  fusion.push_back(MakeDce());
  pipeline.AddStage(HloStage::kFused, std::move(fusion));
  return pipeline;
}

std::unique_ptr<Target> CreateGpuTarget() { return std::make_unique<GpuTarget>(); }

}  // namespace hilo::gpu
