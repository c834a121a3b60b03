#include "backends/interpreter/device_environment.h"

#include <memory>
#include <vector>

#include "base/errors.h"
#include "collectives/collective_op.h"
#include "hilo/status_macros.h"
#include "hlo/ops/semantics.h"
#include "hlo/ops/table/scalar_computation.h"
#include "runtime/transfer_ops.h"

namespace hilo {
namespace {

absl::StatusOr<Literal> RunCollective(const HloInstruction& instruction, Operands operands,
                                      absl::Span<const ComputationFn> computations, const RunContext& run) {
  HILO_ASSIGN_OR_RETURN(const CollectiveOp op, CollectiveOp::Create(instruction));
  // The start of a pair states more than its result.
  const bool starts =
      instruction.opcode() == HloOpcode::kAllGatherStart || instruction.opcode() == HloOpcode::kCollectivePermuteStart;
  HILO_ASSIGN_OR_RETURN(Literal result,
                        Literal::Create(starts ? instruction.shape().tuple_shapes(1) : instruction.shape()));
  std::vector<const void*> sends;
  for (const Literal* operand : operands) sends.push_back(operand->untyped_data().data());
  std::vector<void*> receives;
  if (!result.shape().IsTuple()) receives.push_back(result.untyped_data().data());
  for (int64_t i = 0; i < result.tuple_size(); ++i) receives.push_back(result.element(i).untyped_data().data());
  const PrimitiveType type = operands[0]->shape().element_type();
  std::unique_ptr<ScalarComputation> reducer;
  if (!computations.empty()) {
    reducer = std::make_unique<ScalarComputation>(computations[0], std::vector<PrimitiveType>{type, type});
  }
  auto combine = [&](void* to, const void* a, const void* b, int64_t count) -> absl::Status {
    const int64_t size = PrimitiveTypeByteSize(type);
    for (int64_t at = 0; at < count * size; at += size) {
      reducer->SetArgument(0, static_cast<const uint8_t*>(a) + at);
      reducer->SetArgument(1, static_cast<const uint8_t*>(b) + at);
      HILO_RETURN_IF_ERROR(reducer->Call());
      std::copy_n(reducer->result(0), size, static_cast<uint8_t*>(to) + at);
    }
    return absl::OkStatus();
  };
  const DevicePosition position{run.replica_id, run.partition_id, run.replica_count, run.partition_count};
  HILO_RETURN_IF_ERROR(op.Run(position, run.communicator, run.cancellation, combine, sends, receives));
  return result;
}

// Stores the data, if there is any, to its element of the result.
absl::StatusOr<Literal> RunTransfer(const HloInstruction& instruction, Operands operands, const RunContext& run) {
  HILO_ASSIGN_OR_RETURN(const TransferOp op, TransferOp::Create(instruction));
  HILO_ASSIGN_OR_RETURN(Literal data, op.Run(run, op.takes_data() ? operands[0] : nullptr));
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(instruction.shape()));
  if (op.yields_data()) result.element(0) = std::move(data);
  return result;
}

}  // namespace

absl::StatusOr<Literal> DeviceEnvironment::RunCustomCall(const HloInstruction& instruction, Operands operands) {
  const auto call = custom_calls_.find(&instruction);
  if (call != custom_calls_.end()) return call->second->Run(run_, operands);
  std::vector<const Shape*> shapes;
  for (const HloInstruction* operand : instruction.operands()) shapes.push_back(&operand->shape());
  const OpView op{.opcode = instruction.opcode(),
                  .operands = shapes,
                  .attributes = instruction.attributes(),
                  .stated = &instruction.shape()};
  return EvaluateOp(op, instruction.shape(), operands);
}

absl::StatusOr<Literal> DeviceEnvironment::Run(const HloInstruction& instruction, Operands operands,
                                               absl::Span<const ComputationFn> computations) {
  if (HasTrait(instruction.opcode(), kCollective)) return RunCollective(instruction, operands, computations, run_);
  if (HasTrait(instruction.opcode(), kTransfer)) return RunTransfer(instruction, operands, run_);
  if (instruction.opcode() == HloOpcode::kCustomCall) return RunCustomCall(instruction, operands);
  return Unimplemented(HloOpcodeString(instruction.opcode()), " is not supported on this platform yet");
}

}  // namespace hilo
