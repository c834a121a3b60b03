// Transfers between devices: a thunk each (transfer_thunk.h).
#include "absl/strings/str_cat.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/thunks/transfer_thunk.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "runtime/transfer_ops.h"

namespace hilo::gpu {

absl::Status EmitDeviceTransfer(ProgramEmitter& program, const HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(const TransferOp op, TransferOp::Create(*instruction));
  if (!op.takes_data() && !op.yields_data()) return absl::OkStatus();
  std::vector<BufferSlice> leaves;
  for (int64_t leaf = 0; leaf < LeafCount(op.data_shape()); ++leaf) {
    if (op.yields_data()) {
      leaves.push_back(program.assignment().slice(instruction, leaf));
    } else if (instruction->operand(0)->IsConstant()) {
      HILO_ASSIGN_OR_RETURN(leaves.emplace_back(), program.SliceOf(instruction->operand(0)));
    } else {
      leaves.push_back(program.assignment().slice(instruction->operand(0), leaf));
    }
  }
  const bool of_partitions = op.channel_id() > 0 && instruction->module()->num_partitions() > 1;
  const std::string name = absl::StrCat(HloOpcodeString(instruction->opcode()), " %", instruction->name());
  const int64_t spec = program.AddCollective(
      {.name = name,
       .form = CollectiveSpec::Form::kTransfer,
       .mode = of_partitions ? CollectiveOpGroupMode::kCrossPartition : CollectiveOpGroupMode::kCrossReplica,
       .pairs = op.pairs(),
       .channel = op.channel_id()});
  program.Add(std::make_unique<TransferThunk>(name, InstructionContext(*instruction), spec, op.channel_id(),
                                              op.takes_data(), std::move(leaves)));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
