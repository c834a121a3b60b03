// Infeed, outfeed, send and recv as a run performs them, whatever the backend.
#ifndef HILO_RUNTIME_TRANSFER_OPS_H_
#define HILO_RUNTIME_TRANSFER_OPS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/hlo_module.h"
#include "runtime/compiler.h"
#include "shape/literal.h"

namespace hilo {

// True for infeed, outfeed, send, recv and their dones.
bool IsTransfer(HloOpcode opcode);
// True if a run of the module may wait for the host: it must not hold up the thread that launches it.
bool WaitsForHost(const HloModule& module);

// An instruction of which IsTransfer(), without the instruction.
class TransferOp {
 public:
  // Errors: Unimplemented for transfers between devices.
  static absl::StatusOr<TransferOp> Create(const HloInstruction& instruction);

  // `data` is operand 0 of outfeed and send, null for the others. Returns the array or tuple that infeed and recv-done yield in front of the
  // token, and an empty tuple for the others. Errors: those of TransferQueue; of callbacks; FailedPrecondition if there is no callback for the channel.
  absl::StatusOr<Literal> Run(const RunContext& run, const Literal* data) const;
  // Shape of operand 0 of outfeed and send; of what infeed and recv-done yield in front of the token.
  const Shape& data_shape() const { return data_shape_; }
  bool takes_data() const { return opcode_ == HloOpcode::kOutfeed || opcode_ == HloOpcode::kSend; }
  bool yields_data() const { return opcode_ == HloOpcode::kInfeed || opcode_ == HloOpcode::kRecvDone; }

 private:
  HloOpcode opcode_;
  Shape data_shape_;
  int64_t channel_id_ = 0;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_TRANSFER_OPS_H_
