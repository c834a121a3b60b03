#include "backends/gpu/compile/gpu_target.h"

#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/key_sorts.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/llvm/elements/generated_ops.h"
#include "hlo/analysis/in_place.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo::gpu {
namespace {

// Elements of a window that a thread combines as a part of a loop.
constexpr int64_t kMaxOfWindow = 64;

bool IsSmallWindow(const HloInstruction& reduce_window) {
  if (!reduce_window.shape().IsArray() || ScanWindowOf(reduce_window).has_value()) return false;
  int64_t elements = 1;
  for (const Window::Dimension& w : reduce_window.attrs<ReduceWindowAttrs>().window.dimensions) {
    if (w.size > kMaxOfWindow / elements) return false;
    elements *= w.size;
  }
  return true;
}

// Libraries, where there are any, compute some of the kernels: products, convolutions, decompositions and Fourier
// transforms.
constexpr EmissionRow kRows[] = {
    {HloOpcode::kAddDependency, Emission::kForwarding},
    {HloOpcode::kAfterAll, Emission::kNoCode},
    {HloOpcode::kAllGather, Emission::kCollective},
    {HloOpcode::kAllGatherDone, Emission::kRewritten},
    {HloOpcode::kAllGatherStart, Emission::kRewritten},
    {HloOpcode::kAllReduce, Emission::kCollective},
    {HloOpcode::kAllReduceDone, Emission::kRewritten},
    {HloOpcode::kAllReduceStart, Emission::kRewritten},
    {HloOpcode::kAllToAll, Emission::kCollective},
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
    {HloOpcode::kCholesky, Emission::kKernel},
    {HloOpcode::kClamp, Emission::kElement},
    {HloOpcode::kCollectiveBroadcast, Emission::kCollective},
    {HloOpcode::kCollectivePermute, Emission::kCollective},
    {HloOpcode::kCollectivePermuteDone, Emission::kRewritten},
    {HloOpcode::kCollectivePermuteStart, Emission::kRewritten},
    {HloOpcode::kCompare, Emission::kElement},
    {HloOpcode::kConcatenate, Emission::kElement},
    {HloOpcode::kConditional, Emission::kControlFlow},
    {HloOpcode::kConstant, Emission::kElement},
    {HloOpcode::kConvert, Emission::kElement},
    {HloOpcode::kConvolution, Emission::kKernel},
    {HloOpcode::kCopy, Emission::kKernel},
    {HloOpcode::kCopyDone, Emission::kRewritten},
    {HloOpcode::kCopyStart, Emission::kRewritten},
    {HloOpcode::kCustomCall, Emission::kRuntimeCall, Emission::kExpanded,
     [](const HloInstruction& i, bool) { return !IsHostCall(i); }, "an op of XLA's own"},
    {HloOpcode::kDomain, Emission::kRewritten},
    {HloOpcode::kDot, Emission::kKernel},
    {HloOpcode::kDynamicReshape, Emission::kRewritten},
    {HloOpcode::kDynamicSlice, Emission::kElement},
    {HloOpcode::kDynamicUpdateSlice, Emission::kElement},
    {HloOpcode::kFft, Emission::kKernel},
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
    {HloOpcode::kRaggedAllToAll, Emission::kCollective},
    {HloOpcode::kRaggedDot, Emission::kKernel},
    {HloOpcode::kRecv, Emission::kRuntimeCall},
    {HloOpcode::kRecvDone, Emission::kRuntimeCall},
    {HloOpcode::kReduce, Emission::kKernel},
    {HloOpcode::kReducePrecision, Emission::kElement},
    {HloOpcode::kReduceScatter, Emission::kCollective},
    {HloOpcode::kReduceWindow, Emission::kKernel, Emission::kElement,
     [](const HloInstruction& i, bool) { return IsSmallWindow(i); }, "of few elements"},
    {HloOpcode::kReplicaId, Emission::kRuntimeCall},
    {HloOpcode::kReshape, Emission::kElement},
    {HloOpcode::kReverse, Emission::kElement},
    {HloOpcode::kRng, Emission::kExpanded},
    {HloOpcode::kRngBitGenerator, Emission::kExpanded},
    {HloOpcode::kRngGetAndUpdateState, Emission::kRuntimeCall},
    {HloOpcode::kScaledDot, Emission::kExpanded},
    {HloOpcode::kScan, Emission::kExpanded},
    {HloOpcode::kScatter, Emission::kKernel, Emission::kExpanded,
     [](const HloInstruction& i, bool) { return IsSortedScatter(i); }, "of many updates that need an order"},
    {HloOpcode::kSelect, Emission::kElement},
    {HloOpcode::kSelectAndScatter, Emission::kKernel},
    {HloOpcode::kSend, Emission::kRuntimeCall},
    {HloOpcode::kSendDone, Emission::kRuntimeCall},
    {HloOpcode::kSetDimensionSize, Emission::kRewritten},
    {HloOpcode::kSlice, Emission::kElement},
    {HloOpcode::kSort, Emission::kKernel, Emission::kExpanded,
     [](const HloInstruction& i, bool) { return IsSortedByEachKey(i); }, "of long lists by several keys"},
    {HloOpcode::kStochasticConvert, Emission::kExpanded},
    {HloOpcode::kTopK, Emission::kKernel, Emission::kExpanded,
     [](const HloInstruction& i, bool) { return !IsSelectedTopK(i); }, "of more elements than shared memory holds"},
    {HloOpcode::kTranspose, Emission::kElement},
    {HloOpcode::kTriangularSolve, Emission::kKernel},
    {HloOpcode::kTuple, Emission::kForwarding},
    {HloOpcode::kWhile, Emission::kControlFlow},
};

constexpr EmissionTable kTable = MakeEmissionTable(kRows);
static_assert(EmitsAll(kTable, Emission::kElement, codegen::IsElementGenerated));
static_assert(EmitsAll(kTable, Emission::kForwarding, codegen::IsElementGenerated));
static_assert(EmitsAll(kTable, Emission::kRuntimeCall, HasHostCall));
static_assert(EmitsAll(kTable, Emission::kExpanded, HasExpansion));

class GpuTarget : public Target {
 public:
  Emission EmissionOf(const HloInstruction& instruction) const override {
    return GpuEmission(instruction.opcode()).Of(instruction, /*strict=*/false);
  }
};

}  // namespace

const EmissionRow& GpuEmission(HloOpcode opcode) { return kTable[static_cast<size_t>(opcode)]; }

std::unique_ptr<Target> CreateGpuTarget() { return std::make_unique<GpuTarget>(); }

}  // namespace hilo::gpu
