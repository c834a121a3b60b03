// Infeed, outfeed, send and recv as performed by a run, for all backends.
#ifndef HILO_RUNTIME_TRANSFER_OPS_H_
#define HILO_RUNTIME_TRANSFER_OPS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/ffi.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/hlo_module.h"
#include "runtime/compiler.h"

namespace hilo {

// What a program does besides computing its results.
struct ProgramEffects {
  // Whether there are instructions with side effects: runs take place in the order of the calls.
  bool any = false;
  // Whether there are transfers among them: a run may wait for the host, and must not block the thread that launches
  // it.
  bool transfers = false;
  // Whether there are custom calls of functions that may wait for anything, also for other devices of the run: of all
  // but those of LAPACK.
  bool custom_calls = false;
  std::vector<std::string> lapack_calls;  // their names, each once
  int64_t collectives = 0;                // instructions at which devices wait for each other
  std::vector<Shape> infeeds;             // the shape of each infeed, in the order of the module
};
// Before a program runs, FindReplacedCalls completes what this finds: the registry is not part of the module.
ProgramEffects FindEffects(const HloModule& module);
// Sets `custom_calls` if another function than LAPACK's is registered under one of the names of `lapack_calls`.
void FindReplacedCalls(const CustomCallRegistry& registry, absl::string_view platform, ProgramEffects* effects);

// An instruction whose opcode is kTransfer, without the instruction itself.
class TransferOp {
 public:
  // Transfers between devices state their pairs of sender and receiver in the frontend attribute
  // _xla_send_recv_source_target_pairs (of the done or of its start), as XLA's do: partitions of a replica if there is
  // a channel_id above 0 and more than one partition, else replicas. Errors: Unimplemented for such transfers
  // without that; InvalidArgument if it is not a list of pairs.
  static absl::StatusOr<TransferOp> Create(const HloInstruction& instruction);

  // `data` is operand 0 of outfeed and send, null for the others. Returns the array or tuple that infeed and recv-done
  // yield before the token (zeros from a device if none sends to this one), and an empty tuple for the others.
  // Errors: those of TransferQueue; of Communicator; of callbacks; FailedPrecondition if there is no callback for the
  // channel.
  absl::StatusOr<Literal> Run(const RunContext& run, const Literal* data) const;
  // Shape of operand 0 of outfeed and send; of the data that infeed and recv-done yield before the token.
  const Shape& data_shape() const { return data_shape_; }
  bool takes_data() const { return opcode_ == HloOpcode::kOutfeed || opcode_ == HloOpcode::kSend; }
  bool yields_data() const { return opcode_ == HloOpcode::kInfeed || opcode_ == HloOpcode::kRecvDone; }
  // Of send and recv: with the host or between devices; the channel, and between devices the pairs: partitions
  // of a replica if there is a channel above 0 and more than one partition, else replicas.
  bool is_host_transfer() const { return is_host_transfer_; }
  int64_t channel_id() const { return channel_id_; }
  const std::vector<std::pair<int64_t, int64_t>>& pairs() const { return pairs_; }

 private:
  // The peer of the device of `run` in the channel's pairs; -1: none.
  int64_t Peer(const RunContext& run) const;
  absl::StatusOr<Literal> Infeed(const RunContext& run, const Literal* data) const;
  absl::StatusOr<Literal> Outfeed(const RunContext& run, const Literal* data) const;
  absl::StatusOr<Literal> Send(const RunContext& run, const Literal* data) const;
  absl::StatusOr<Literal> Receive(const RunContext& run, const Literal* data) const;
  absl::Status SendToDevice(const RunContext& run, const Literal& data) const;
  absl::StatusOr<Literal> ReceiveFromDevice(const RunContext& run) const;

  HloOpcode opcode_;
  std::string name_;
  Shape data_shape_;
  int64_t channel_id_ = 0;
  bool is_host_transfer_ = true;
  std::vector<std::pair<int64_t, int64_t>> pairs_;  // between devices
};

}  // namespace hilo

#endif  // HILO_RUNTIME_TRANSFER_OPS_H_
