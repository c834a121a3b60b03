// Instructions that the host executes: custom calls, infeed and outfeed, transfers with the host, and queries about the
// run. Their arrays are copied to the host and back.
#ifndef HILO_BACKENDS_GPU_THUNKS_HOST_CALL_H_
#define HILO_BACKENDS_GPU_THUNKS_HOST_CALL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/thunks/thunk.h"
#include "hilo/ffi.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::gpu {

constexpr bool HasHostCall(HloOpcode opcode) {
  return HasTrait(opcode, kTransfer) || opcode == HloOpcode::kCustomCall || opcode == HloOpcode::kPartitionId ||
         opcode == HloOpcode::kReplicaId || opcode == HloOpcode::kRngGetAndUpdateState;
}
// False for the custom calls that are ops of XLA's own.
bool IsHostCall(const HloInstruction& instruction);

// An instruction without its module: its text, from which a call is made again, and the memory of its leaves, depth
// first over all operands and over the result.
struct CallInstruction {
  std::string name, context;  // for dumps and errors
  std::string text;           // runtime/instruction_text.h
  std::vector<BufferSlice> operands, results;

  // "(&results, operands)"
  std::string SlicesToString() const;
};
void WriteCall(const CallInstruction& call, ThunkWriter& out);
// Returns the module whose root is the instruction; null after an error.
std::unique_ptr<HloModule> ReadCall(ThunkReader& in, CallInstruction* call);

class HostThunk : public Thunk {
 public:
  // `call` is the memory of `instruction`, for which IsHostCall is true. Errors: Unimplemented, and NotFound for custom
  // calls whose function is not registered for this platform.
  static absl::StatusOr<std::unique_ptr<HostThunk>> Create(const HloInstruction& instruction, CallInstruction call,
                                                           const CustomCallRegistry* custom_calls);
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kHost; }
  void Write(ThunkWriter& out) const override { WriteCall(call_, out); }
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;

  // One pointer per leaf; null for tokens and empty arrays. Results overlap no operand.
  using Function = std::function<absl::Status(const RunContext& run, absl::Span<const uint8_t* const> operands,
                                              absl::Span<uint8_t* const> results)>;

 private:
  HostThunk(CallInstruction call, Function function) : call_(std::move(call)), function_(std::move(function)) {}

  CallInstruction call_;
  Function function_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_HOST_CALL_H_
