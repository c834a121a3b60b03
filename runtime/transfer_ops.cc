#include "runtime/transfer_ops.h"

#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/ops/transfer_attributes.h"
#include "runtime/host_callbacks.h"
#include "runtime/transfer_queue.h"

namespace hilo {
namespace {

template <typename Callback>
absl::StatusOr<const Callback*> FindCallback(const std::vector<Callback>* callbacks, int64_t channel_id) {
  if (callbacks != nullptr) {
    for (const Callback& callback : *callbacks) {
      if (callback.channel_id == channel_id && callback.callback != nullptr) return &callback;
    }
  }
  return FailedPrecondition("the run was given no callback for channel ", channel_id, " (ExecuteOptions::host_callbacks)");
}

absl::StatusOr<Literal> Nothing() { return Literal::MakeTuple({}); }

}  // namespace

bool IsTransfer(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kInfeed:
    case HloOpcode::kOutfeed:
    case HloOpcode::kSend:
    case HloOpcode::kSendDone:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
      return true;
    default:
      return false;
  }
}

bool WaitsForHost(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (IsTransfer(instruction->opcode())) return true;
    }
  }
  return false;
}

absl::StatusOr<TransferOp> TransferOp::Create(const HloInstruction& instruction) {
  TransferOp op;
  op.opcode_ = instruction.opcode();
  if (op.takes_data()) op.data_shape_ = instruction.operand(0)->shape();
  if (op.yields_data()) op.data_shape_ = instruction.shape().tuple_shapes(0);
  ShapeUtil::SetToDefaultLayout(&op.data_shape_);
  if (op.opcode_ == HloOpcode::kInfeed || op.opcode_ == HloOpcode::kOutfeed) return op;
  const auto& attrs = instruction.attrs<TransferAttrs>();
  if (!attrs.is_host_transfer) {
    return Unimplemented(HloOpcodeString(op.opcode_), " between devices is not supported; host transfers (is_host_transfer=true) are");
  }
  op.channel_id_ = attrs.channel_id.value_or(0);
  return op;
}

absl::StatusOr<Literal> TransferOp::Run(const RunContext& run, const Literal* data) const {
  const bool is_feed = opcode_ == HloOpcode::kInfeed || opcode_ == HloOpcode::kOutfeed;
  if (is_feed && run.transfers == nullptr) return Unimplemented(HloOpcodeString(opcode_), " needs the queues of a client's device");
  switch (opcode_) {
    case HloOpcode::kInfeed:
      // An empty tuple reads nothing.
      if (data_shape_.IsTuple() && data_shape_.tuple_shapes_size() == 0) return Nothing();
      return run.transfers->infeed.Pop(&data_shape_, absl::InfiniteFuture(), run.cancellation);
    case HloOpcode::kOutfeed: {
      Literal copy = data->Clone();
      if (copy.shape().element_type() == PRIMITIVE_TYPE_INVALID) return ResourceExhausted("no memory for what an outfeed carries");
      HILO_RETURN_IF_ERROR(run.transfers->outfeed.Push(std::move(copy), absl::InfiniteFuture(), run.cancellation));
      return Nothing();
    }
    case HloOpcode::kSend: {
      HILO_ASSIGN_OR_RETURN(const SendCallback* send,
                            FindCallback(run.host_callbacks == nullptr ? nullptr : &run.host_callbacks->sends, channel_id_));
      HILO_RETURN_IF_ERROR(send->callback(run.device, *data));
      return Nothing();
    }
    case HloOpcode::kRecvDone: {
      HILO_ASSIGN_OR_RETURN(const RecvCallback* recv,
                            FindCallback(run.host_callbacks == nullptr ? nullptr : &run.host_callbacks->recvs, channel_id_));
      HILO_ASSIGN_OR_RETURN(Literal received, recv->callback(run.device, data_shape_));
      if (!ShapeUtil::Compatible(received.shape(), data_shape_)) {
        return InvalidArgument("the callback of channel ", channel_id_, ": expected ", data_shape_.ToString(), ", got ",
                               received.shape().ToString());
      }
      return received;
    }
    default:  // send-done and recv: the work is done by the other half
      return Nothing();
  }
}

}  // namespace hilo
