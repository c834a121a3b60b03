#include "backends/cpu/runtime_calls/runtime_call_table.h"

#include "base/errors.h"

namespace hilo::cpu {

bool IsRuntimeCall(const HloInstruction& instruction) {
  const RuntimeCallFactory& factory = kRuntimeCalls[instruction.opcode()];
  return factory.make != nullptr && (factory.condition == nullptr || factory.condition(instruction));
}

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRuntimeCall(const HloInstruction& instruction,
                                                             const CompileOptions& options) {
  const RuntimeCallFactory& factory = kRuntimeCalls[instruction.opcode()];
  if (factory.make == nullptr)
    return Unimplemented(HloOpcodeString(instruction.opcode()), " is not supported on this platform yet");
  return factory.make(instruction, options);
}

}  // namespace hilo::cpu
