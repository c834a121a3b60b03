// Checks that a module is well formed and satisfies the invariants of its stage.
#ifndef HILO_HLO_IR_HLO_VERIFIER_H_
#define HILO_HLO_IR_HLO_VERIFIER_H_

#include "absl/status/status.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Limits that a module must satisfy before anything is compiled, so that no input can end the process.
struct HloLimits {
  int64_t max_instructions = 2'000'000;
  int64_t max_parameters = 100'000;
  int64_t max_call_depth = 20'000;
  int64_t max_array_bytes = int64_t{1} << 46;
  int64_t max_devices = int64_t{1} << 18;  // replicas times partitions
};

// Structure (operands in the same computation, no cycles, users consistent, parameters numbered 0..n-1, a root, no
// recursion, names unique), every stated shape compatible with what InferShape returns, aliases valid, and the
// invariants of `stage`. Errors: InvalidArgument naming the instruction: "...; in %s.3 = f32[4,1] slice(f32[4,8] %x.1),
// line 12", or what InferShape returned. An error about one instruction also stores it in *culprit, if not null.
absl::Status VerifyHloModule(const HloModule& module, HloStage stage, const HloLimits& limits = {},
                             const HloInstruction** culprit = nullptr);

// "; in %name = ..., line N": the context that errors about an instruction carry.
std::string InstructionContext(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_IR_HLO_VERIFIER_H_
