#include "backends/cpu/runtime_calls/runtime_call_table.h"

#include "base/errors.h"

namespace hilo::cpu {

bool IsRuntimeCall(const HloInstruction& instruction) {
  const RuntimeCallRow* row = FindRuntimeCall(instruction.opcode());
  return row != nullptr && (row->condition == nullptr || row->condition(instruction));
}

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRuntimeCall(const HloInstruction& instruction,
                                                             const CompileOptions& options) {
  const RuntimeCallRow* row = FindRuntimeCall(instruction.opcode());
  if (row == nullptr)
    return Unimplemented(HloOpcodeString(instruction.opcode()), " is not supported on this platform yet");
  return row->make(instruction, options);
}

}  // namespace hilo::cpu
