// The ops that are runtime calls, and what creates each.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TABLE_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TABLE_H_

#include "backends/cpu/runtime/runtime_call.h"
#include "backends/cpu/runtime_calls/collective_ops.h"
#include "backends/cpu/runtime_calls/custom_call_op.h"
#include "backends/cpu/runtime_calls/linear_algebra_ops.h"
#include "backends/cpu/runtime_calls/ragged_dot_op.h"
#include "backends/cpu/runtime_calls/random_state_op.h"
#include "backends/cpu/runtime_calls/top_k_op.h"
#include "backends/cpu/runtime_calls/transfer_op.h"
#include "hlo/ops/structure/custom_call.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::cpu {

struct RuntimeCallFactory {
  absl::StatusOr<std::unique_ptr<RuntimeCall>> (*make)(const HloInstruction&, const CompileOptions&) = nullptr;
  // The instructions that are runtime calls; null: all.
  bool (*condition)(const HloInstruction&) = nullptr;
};

inline constexpr OpcodeMap<RuntimeCallFactory> kRuntimeCalls = {
    {HloOpcode::kAllGather, {MakeCollectiveOp}},
    {HloOpcode::kAllReduce, {MakeCollectiveOp}},
    {HloOpcode::kAllToAll, {MakeCollectiveOp}},
    {HloOpcode::kCholesky, {MakeCholeskyOp}},
    {HloOpcode::kCollectiveBroadcast, {MakeCollectiveOp}},
    {HloOpcode::kCollectivePermute, {MakeCollectiveOp}},
    {HloOpcode::kCustomCall,
     {MakeCustomCallOp, [](const HloInstruction& call) { return CallsFunction(call.attrs<CustomCallAttrs>()); }}},
    {HloOpcode::kFft, {MakeFftOp}},
    {HloOpcode::kInfeed, {MakeTransferOp}},
    {HloOpcode::kOutfeed, {MakeTransferOp}},
    {HloOpcode::kPartitionId, {MakeDeviceIdOp}},
    {HloOpcode::kRaggedAllToAll, {MakeCollectiveOp}},
    {HloOpcode::kRaggedDot, {MakeRaggedDotOp}},
    {HloOpcode::kRecv, {MakeTransferOp}},
    {HloOpcode::kRecvDone, {MakeTransferOp}},
    {HloOpcode::kReduceScatter, {MakeCollectiveOp}},
    {HloOpcode::kReplicaId, {MakeDeviceIdOp}},
    {HloOpcode::kRngGetAndUpdateState, {MakeRandomStateOp}},
    {HloOpcode::kSend, {MakeTransferOp}},
    {HloOpcode::kSendDone, {MakeTransferOp}},
    {HloOpcode::kTopK, {MakeTopKOp, SelectsFew}},
    {HloOpcode::kTriangularSolve, {MakeTriangularSolveOp}},
};

constexpr bool HasRuntimeCall(HloOpcode opcode) { return kRuntimeCalls[opcode].make != nullptr; }

// Returns true if the instruction is emitted as a runtime call.
bool IsRuntimeCall(const HloInstruction& instruction);
// Errors: Unimplemented; InvalidArgument.
absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRuntimeCall(const HloInstruction& instruction,
                                                             const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TABLE_H_
