#include "backends/interpreter/custom_call_table.h"

#include "base/errors.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/structure/custom_call.h"

namespace hilo {

absl::StatusOr<CustomCallTable> FindCustomCalls(const HloModule& module, const CompileOptions& options) {
  static constexpr absl::string_view kPlatforms[] = {"interpreter", "cpu", kHostPlatform};
  CustomCallTable table;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kCustomCall) continue;
      if (!CallsFunction(instruction->attrs<CustomCallAttrs>())) continue;
      auto call = ffi::CustomCall::Create(*instruction, options.custom_calls, kPlatforms);
      if (!call.ok()) return AddContext(call.status(), InstructionContext(*instruction));
      table[instruction] = *std::move(call);
    }
  }
  return table;
}

}  // namespace hilo
