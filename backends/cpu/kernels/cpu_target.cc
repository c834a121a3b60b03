#include "backends/cpu/kernels/cpu_target.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "backends/cpu/kernels/gemm_plan.h"
#include "backends/cpu/kernels/patch_convolution.h"
#include "backends/cpu/kernels/reduce_choice.h"
#include "backends/cpu/runtime_calls/runtime_call_table.h"
#include "backends/llvm/elements/generated_ops.h"
#include "backends/llvm/jit/host_features.h"
#include "hlo/analysis/in_place.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo::cpu {
namespace {

bool IsExpandedDot(const HloInstruction& dot, bool strict) {
  return !strict && (IsWidenedDot(dot) || IsTransposedDot(dot));
}

constexpr EmissionRow kEmissions[] = {
    {HloOpcode::kAddDependency, Emission::kForwarding},
    {HloOpcode::kAfterAll, Emission::kNoCode},
    {HloOpcode::kAllGather, Emission::kRuntimeCall},
    {HloOpcode::kAllGatherDone, Emission::kRewritten},
    {HloOpcode::kAllGatherStart, Emission::kRewritten},
    {HloOpcode::kAllReduce, Emission::kRuntimeCall},
    {HloOpcode::kAllReduceDone, Emission::kRewritten},
    {HloOpcode::kAllReduceStart, Emission::kRewritten},
    {HloOpcode::kAllToAll, Emission::kRuntimeCall},
    {HloOpcode::kAsyncDone, Emission::kRewritten},
    {HloOpcode::kAsyncStart, Emission::kRewritten},
    {HloOpcode::kAsyncUpdate, Emission::kRewritten},
    {HloOpcode::kBatchNormGrad, Emission::kExpanded},
    {HloOpcode::kBatchNormInference, Emission::kExpanded},
    {HloOpcode::kBatchNormTraining, Emission::kExpanded},
    {HloOpcode::kBitcast, Emission::kElement},
    {HloOpcode::kBitcastConvert, Emission::kElement, Emission::kNoCode,
     [](const HloInstruction& i, bool) { return IsReinterpretation(i); }, "of the same layout"},
    {HloOpcode::kBroadcast, Emission::kElement},
    {HloOpcode::kCall, Emission::kControlFlow},
    {HloOpcode::kCholesky, Emission::kRuntimeCall},
    {HloOpcode::kClamp, Emission::kElement},
    {HloOpcode::kCollectiveBroadcast, Emission::kRuntimeCall},
    {HloOpcode::kCollectivePermute, Emission::kRuntimeCall},
    {HloOpcode::kCollectivePermuteDone, Emission::kRewritten},
    {HloOpcode::kCollectivePermuteStart, Emission::kRewritten},
    {HloOpcode::kCompare, Emission::kElement},
    {HloOpcode::kConcatenate, Emission::kElement},
    {HloOpcode::kConditional, Emission::kControlFlow},
    {HloOpcode::kConstant, Emission::kElement},
    {HloOpcode::kConvert, Emission::kElement},
    {HloOpcode::kConvolution, Emission::kKernel, Emission::kExpanded,
     [](const HloInstruction& i, bool strict) { return !IsKernelConvolution(i, strict); }, "in a form that is slow"},
    {HloOpcode::kCopy, Emission::kKernel},
    {HloOpcode::kCopyDone, Emission::kRewritten},
    {HloOpcode::kCopyStart, Emission::kRewritten},
    {HloOpcode::kCustomCall, Emission::kRuntimeCall, Emission::kExpanded,
     [](const HloInstruction& i, bool) { return !IsRuntimeCall(i); }, "an op of XLA's own"},
    {HloOpcode::kDomain, Emission::kRewritten},
    {HloOpcode::kDot, Emission::kKernel, Emission::kExpanded, IsExpandedDot,
     "whose operands are converted or transposed first, unless strict"},
    {HloOpcode::kDynamicReshape, Emission::kRewritten},
    {HloOpcode::kDynamicSlice, Emission::kElement},
    {HloOpcode::kDynamicUpdateSlice, Emission::kElement},
    {HloOpcode::kFft, Emission::kRuntimeCall},
    {HloOpcode::kFusion, Emission::kElement},
    {HloOpcode::kGather, Emission::kElement},
    {HloOpcode::kGetDimensionSize, Emission::kRewritten},
    {HloOpcode::kGetTupleElement, Emission::kNoCode},
    {HloOpcode::kInfeed, Emission::kRuntimeCall},
    {HloOpcode::kIota, Emission::kElement},
    {HloOpcode::kMap, Emission::kElement},
    {HloOpcode::kOptimizationBarrier, Emission::kForwarding},
    {HloOpcode::kOutfeed, Emission::kRuntimeCall},
    {HloOpcode::kPad, Emission::kElement},
    {HloOpcode::kParameter, Emission::kNoCode},
    {HloOpcode::kPartitionId, Emission::kRuntimeCall},
    {HloOpcode::kRaggedAllToAll, Emission::kRuntimeCall},
    {HloOpcode::kRaggedDot, Emission::kRuntimeCall, Emission::kExpanded,
     [](const HloInstruction& i, bool strict) { return !strict && HasNarrowOperands(i); },
     "of f16, bf16 or narrower, unless strict"},
    {HloOpcode::kRecv, Emission::kRuntimeCall},
    {HloOpcode::kRecvDone, Emission::kRuntimeCall},
    {HloOpcode::kReduce, Emission::kKernel, Emission::kElement,
     [](const HloInstruction& i, bool) { return IsShortReduction(i); }, "of few terms"},
    {HloOpcode::kReducePrecision, Emission::kElement},
    {HloOpcode::kReduceScatter, Emission::kRuntimeCall},
    {HloOpcode::kReduceWindow, Emission::kKernel},
    {HloOpcode::kReplicaId, Emission::kRuntimeCall},
    {HloOpcode::kReshape, Emission::kElement},
    {HloOpcode::kReverse, Emission::kElement},
    {HloOpcode::kRng, Emission::kExpanded},
    {HloOpcode::kRngBitGenerator, Emission::kExpanded},
    {HloOpcode::kRngGetAndUpdateState, Emission::kRuntimeCall},
    {HloOpcode::kScaledDot, Emission::kExpanded},
    {HloOpcode::kScan, Emission::kExpanded},
    {HloOpcode::kScatter, Emission::kKernel},
    {HloOpcode::kSelect, Emission::kElement},
    {HloOpcode::kSelectAndScatter, Emission::kKernel},
    {HloOpcode::kSend, Emission::kRuntimeCall},
    {HloOpcode::kSendDone, Emission::kRuntimeCall},
    {HloOpcode::kSetDimensionSize, Emission::kRewritten},
    {HloOpcode::kSlice, Emission::kElement},
    {HloOpcode::kSort, Emission::kKernel},
    {HloOpcode::kStochasticConvert, Emission::kExpanded},
    {HloOpcode::kTopK, Emission::kRuntimeCall, Emission::kExpanded,
     [](const HloInstruction& i, bool) { return !IsRuntimeCall(i); }, "of more than a quarter of long rows"},
    {HloOpcode::kTranspose, Emission::kElement},
    {HloOpcode::kTriangularSolve, Emission::kRuntimeCall},
    {HloOpcode::kTuple, Emission::kForwarding},
    {HloOpcode::kWhile, Emission::kControlFlow},
};

constexpr EmissionTable kTable = MakeEmissionTable(kEmissions);
static_assert(EmitsAll(kTable, Emission::kElement, codegen::IsElementGenerated));
static_assert(EmitsAll(kTable, Emission::kForwarding, codegen::IsElementGenerated));
static_assert(EmitsAll(kTable, Emission::kRuntimeCall, HasRuntimeCall));
static_assert(EmitsAll(kTable, Emission::kExpanded, HasExpansion));

// Ops that libraries of the runtime compute faster than their expansions.
constexpr HloOpcode kLibraryOps[] = {HloOpcode::kCholesky, HloOpcode::kFft, HloOpcode::kSort, HloOpcode::kTopK,
                                     HloOpcode::kTriangularSolve};

class CpuTarget : public Target {
 public:
  CpuTarget(const CompileOptions& options, bool has_libraries)
      : strict_(options.strict), has_libraries_(has_libraries) {
    // A name that is unknown is an error of the compilation.
    if (absl::StatusOr<codegen::CpuFeatures> features = codegen::FeaturesOf(options.cpu); features.ok())
      features_ = *std::move(features);
  }
  Emission EmissionOf(const HloInstruction& instruction) const override {
    if (!has_libraries_ && absl::c_linear_search(kLibraryOps, instruction.opcode())) return Emission::kExpanded;
    if (has_libraries_ && features_.has_value() && instruction.opcode() == HloOpcode::kConvolution &&
        IsPatchConvolution(instruction, *features_))
      return Emission::kKernel;
    return CpuEmission(instruction.opcode()).Of(instruction, strict_);
  }

 private:
  bool strict_;
  bool has_libraries_;
  std::optional<codegen::CpuFeatures> features_;
};

}  // namespace

const EmissionRow& CpuEmission(HloOpcode opcode) { return kTable[static_cast<size_t>(opcode)]; }

std::unique_ptr<Target> CreateCpuTarget(const CompileOptions& options, bool has_libraries) {
  return std::make_unique<CpuTarget>(options, has_libraries);
}

}  // namespace hilo::cpu
