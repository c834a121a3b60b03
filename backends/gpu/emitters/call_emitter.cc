// Calls of functions on the host, and of functions that queue on the stream.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/gpu/thunks/stream_call.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/buffer_assignment.h"
#include "runtime/instruction_text.h"

namespace hilo::gpu {
namespace {

absl::StatusOr<CallInstruction> CallOf(ProgramEmitter& program, const HloInstruction* instruction) {
  CallInstruction call{.name = instruction->name(),
                       .context = InstructionContext(*instruction),
                       .text = InstructionsToText(*instruction->module(), {&instruction, 1})};
  for (const HloInstruction* operand : instruction->operands()) {
    for (int64_t leaf = 0, count = LeafCount(operand->shape()); leaf < count; ++leaf) {
      if (operand->IsConstant() && program.assignment().slice(operand).kind != StorageKind::kNone) {
        HILO_ASSIGN_OR_RETURN(call.operands.emplace_back(), program.SliceOf(operand));
      } else {
        call.operands.push_back(program.assignment().slice(operand, leaf));
      }
    }
  }
  for (int64_t leaf = 0, count = LeafCount(instruction->shape()); leaf < count; ++leaf)
    call.results.push_back(program.assignment().slice(instruction, leaf));
  return call;
}

}  // namespace

absl::Status EmitHostCall(ProgramEmitter& program, const HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(CallInstruction call, CallOf(program, instruction));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Thunk> thunk,
                        HostThunk::Create(*instruction, std::move(call), program.options().custom_calls));
  program.Add(std::move(thunk));
  return absl::OkStatus();
}

absl::Status EmitStreamCall(ProgramEmitter& program, const HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(CallInstruction call, CallOf(program, instruction));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Thunk> thunk,
                        StreamCallThunk::Create(*instruction, std::move(call), program.options().custom_calls));
  program.Add(std::move(thunk));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
