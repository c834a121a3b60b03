// Instructions that the host executes: custom calls, infeed and outfeed, transfers with the host, and queries about the
// run. Their arrays are copied to the host and back.
#ifndef HILO_BACKENDS_GPU_THUNKS_HOST_CALL_H_
#define HILO_BACKENDS_GPU_THUNKS_HOST_CALL_H_

#include "absl/status/status.h"
#include "backends/gpu/compile/program_emitter.h"

namespace hilo::gpu {

constexpr bool HasHostCall(HloOpcode opcode) {
  return HasTrait(opcode, kTransfer) || opcode == HloOpcode::kCustomCall || opcode == HloOpcode::kPartitionId ||
         opcode == HloOpcode::kReplicaId || opcode == HloOpcode::kRngGetAndUpdateState;
}
// False for the custom calls that are ops of XLA's own.
bool IsHostCall(const HloInstruction& instruction);
// Adds the thunk. Errors: Unimplemented, for example for custom calls whose function is unknown on this platform.
absl::Status EmitHostCall(ProgramEmitter& program, const HloInstruction* instruction);

// The memory of a call's leaves, depth first over all operands and over the result.
struct CallLeaves {
  std::vector<BufferSlice> operands, results;
};
absl::StatusOr<CallLeaves> LeavesOf(ProgramEmitter& program, const HloInstruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_HOST_CALL_H_
