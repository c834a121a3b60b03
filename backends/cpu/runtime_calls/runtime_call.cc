#include "backends/cpu/runtime_calls/runtime_call.h"

#include "backends/cpu/runtime_calls/collective_ops.h"
#include "backends/cpu/runtime_calls/custom_call_op.h"
#include "backends/cpu/runtime_calls/linear_algebra_ops.h"
#include "backends/cpu/runtime_calls/ragged_dot_op.h"
#include "backends/cpu/runtime_calls/random_state_op.h"
#include "backends/cpu/runtime_calls/top_k_op.h"
#include "backends/cpu/runtime_calls/transfer_op.h"
#include "base/errors.h"
#include "hlo/ops/structure/custom_call.h"

namespace hilo::cpu {
namespace {

using Factory = absl::StatusOr<std::unique_ptr<RuntimeCall>> (*)(const HloInstruction&, const CompileOptions&);

// Custom calls that are XLA's built-in ops are expanded.
bool IsOwnOp(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall &&
         MeaningOfCustomCall(instruction.attrs<CustomCallAttrs>().custom_call_target) != CustomCallMeaning::kFunction;
}

// One line per op: its factory function, declared in the header of the op's own file.
Factory FactoryOf(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAllGather:
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllToAll:
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kRaggedAllToAll:
    case HloOpcode::kReduceScatter: return MakeCollectiveOp;
    case HloOpcode::kPartitionId:
    case HloOpcode::kReplicaId: return MakeDeviceIdOp;
    case HloOpcode::kCholesky: return MakeCholeskyOp;
    case HloOpcode::kCustomCall: return MakeCustomCallOp;
    case HloOpcode::kFft: return MakeFftOp;
    case HloOpcode::kInfeed:
    case HloOpcode::kOutfeed:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
    case HloOpcode::kSend:
    case HloOpcode::kSendDone: return MakeTransferOp;
    case HloOpcode::kRaggedDot: return MakeRaggedDotOp;
    case HloOpcode::kRngGetAndUpdateState: return MakeRandomStateOp;
    case HloOpcode::kTopK: return MakeTopKOp;
    case HloOpcode::kTriangularSolve: return MakeTriangularSolveOp;
    default: return nullptr;
  }
}

}  // namespace

bool IsRuntimeCall(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kTopK) return SelectsFew(instruction);
  return FactoryOf(instruction.opcode()) != nullptr && !IsOwnOp(instruction);
}

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRuntimeCall(const HloInstruction& instruction,
                                                             const CompileOptions& options) {
  const Factory factory = FactoryOf(instruction.opcode());
  if (factory == nullptr)
    return Unimplemented(HloOpcodeString(instruction.opcode()), " is not supported on this platform yet");
  return factory(instruction, options);
}

}  // namespace hilo::cpu
