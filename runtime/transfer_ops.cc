#include "runtime/transfer_ops.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "collectives/communicator.h"
#include "collectives/ranks.h"
#include "hilo/executable.h"
#include "hilo/status_macros.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/collective/replica_groups.h"
#include "hlo/ops/collective/transfer_attributes.h"
#include "hlo/ops/structure/custom_call.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "runtime/lapack_handler.h"
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
  return FailedPrecondition("the run was given no callback for channel ", channel_id,
                            " (ExecuteOptions::host_callbacks)");
}

constexpr char kPairsAttribute[] = "_xla_send_recv_source_target_pairs";

// The pairs in the attributes of `instruction` itself; empty if there are none.
std::string PairsText(const HloInstruction& instruction) {
  return FrontendAttribute(ExtraAttribute(instruction.extra_attributes(), "frontend_attributes"), kPairsAttribute);
}

// Depth first.
std::vector<const Literal*> ArraysOf(const Literal& literal) {
  if (!literal.shape().IsTuple()) return {&literal};
  std::vector<const Literal*> arrays;
  for (int64_t i = 0; i < literal.tuple_size(); ++i) {
    const std::vector<const Literal*> inner = ArraysOf(literal.element(i));
    arrays.insert(arrays.end(), inner.begin(), inner.end());
  }
  return arrays;
}

absl::StatusOr<Literal> Nothing() { return Literal::MakeTuple({}); }

void NoteCustomCall(const HloInstruction& call, ProgramEffects* effects) {
  const auto& attributes = call.attrs<CustomCallAttrs>();
  if (!CallsFunction(attributes)) return;
  const std::string& name = attributes.custom_call_target;
  if (attributes.api_version != API_VERSION_TYPED_FFI || !absl::StartsWith(name, "lapack_")) {
    effects->custom_calls = true;
  } else if (!absl::c_linear_search(effects->lapack_calls, name)) {
    effects->lapack_calls.push_back(name);
  }
}

}  // namespace

ProgramEffects FindEffects(const HloModule& module) {
  ProgramEffects effects;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      effects.any = effects.any || instruction->HasSideEffect();
      if (HasTrait(instruction->opcode(), kTransfer)) effects.transfers = true;
      effects.collectives += HasTrait(instruction->opcode(), kCollective) ? 1 : 0;
      if (instruction->opcode() == HloOpcode::kCustomCall) NoteCustomCall(*instruction, &effects);
      if (instruction->opcode() == HloOpcode::kInfeed) effects.infeeds.push_back(instruction->shape().tuple_shapes(0));
    }
  }
  return effects;
}

void FindReplacedCalls(const CustomCallRegistry& registry, absl::string_view platform, ProgramEffects* effects) {
  const absl::string_view platforms[] = {platform, kHostPlatform};
  for (const std::string& name : effects->lapack_calls) {
    const absl::StatusOr<CustomCallTarget> target = registry.Find(name, platforms, API_VERSION_TYPED_FFI);
    if (!target.ok() || !IsLapackHandler(name, target->handlers.execute)) effects->custom_calls = true;
  }
}

absl::StatusOr<TransferOp> TransferOp::Create(const HloInstruction& instruction) {
  TransferOp op;
  op.opcode_ = instruction.opcode();
  if (op.takes_data()) op.data_shape_ = instruction.operand(0)->shape();
  if (op.yields_data()) op.data_shape_ = instruction.shape().tuple_shapes(0);
  ShapeUtil::SetToDefaultLayout(&op.data_shape_);
  if (op.opcode_ == HloOpcode::kInfeed || op.opcode_ == HloOpcode::kOutfeed) return op;
  const auto& attrs = instruction.attrs<TransferAttrs>();
  op.channel_id_ = attrs.channel_id.value_or(0);
  op.is_host_transfer_ = attrs.is_host_transfer;
  op.name_ = absl::StrCat(HloOpcodeString(op.opcode_), " %", instruction.name());
  if (op.is_host_transfer_ || op.opcode_ == HloOpcode::kSendDone || op.opcode_ == HloOpcode::kRecv) return op;
  std::string pairs = PairsText(instruction);
  if (pairs.empty() && op.opcode_ == HloOpcode::kRecvDone) pairs = PairsText(*instruction.operand(0));
  if (pairs.empty()) {
    return Unimplemented(HloOpcodeString(op.opcode_), " between devices needs the frontend attribute ",
                         kPairsAttribute);
  }
  SourceTargetPairs parsed;
  HILO_RETURN_IF_ERROR(FieldFromText(pairs, &parsed));
  op.pairs_ = std::move(parsed.pairs);
  return op;
}

int64_t TransferOp::Peer(const RunContext& run) const {
  const DevicePosition position{run.replica_id, run.partition_id, run.replica_count, run.partition_count};
  const auto mode = channel_id_ > 0 && run.partition_count > 1 ? CollectiveOpGroupMode::kCrossPartition
                                                               : CollectiveOpGroupMode::kCrossReplica;
  const int64_t own = IdOf(mode, position);
  for (const auto& [source, target] : pairs_) {
    if ((takes_data() ? source : target) == own) return RanksOf(mode, takes_data() ? target : source, position)[0];
  }
  return -1;
}

absl::Status TransferOp::SendToDevice(const RunContext& run, const Literal& data) const {
  const int64_t target = Peer(run);
  if (target < 0) return absl::OkStatus();
  if (run.communicator == nullptr)
    return InvalidArgument(name_, " names other devices, but the program runs on one alone");
  const CollectiveCall call{.name = name_, .key = channel_id_, .group = {}, .cancellation = run.cancellation};
  for (const Literal* leaf : ArraysOf(data)) {
    const auto bytes = leaf->untyped_data();
    HILO_RETURN_IF_ERROR(run.communicator->Send(call, bytes.data(), static_cast<int64_t>(bytes.size()), target));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> TransferOp::ReceiveFromDevice(const RunContext& run) const {
  HILO_ASSIGN_OR_RETURN(Literal received, Literal::Create(data_shape_));
  const int64_t source = Peer(run);
  if (source < 0) return received;
  if (run.communicator == nullptr)
    return InvalidArgument(name_, " names other devices, but the program runs on one alone");
  const CollectiveCall call{.name = name_, .key = channel_id_, .group = {}, .cancellation = run.cancellation};
  for (const Literal* leaf : ArraysOf(received)) {
    const auto bytes = const_cast<Literal*>(leaf)->untyped_data();
    HILO_RETURN_IF_ERROR(run.communicator->Receive(call, bytes.data(), static_cast<int64_t>(bytes.size()), source));
  }
  return received;
}

absl::StatusOr<Literal> TransferOp::Infeed(const RunContext& run, const Literal*) const {
  // An empty tuple reads nothing.
  if (data_shape_.IsTuple() && data_shape_.tuple_shapes_size() == 0) return Nothing();
  return run.transfers->infeed.Pop(&data_shape_, absl::InfiniteFuture(), run.cancellation);
}

absl::StatusOr<Literal> TransferOp::Outfeed(const RunContext& run, const Literal* data) const {
  Literal copy = data->Clone();
  if (copy.shape().element_type() == PRIMITIVE_TYPE_INVALID)
    return ResourceExhausted("no memory for what an outfeed carries");
  HILO_RETURN_IF_ERROR(run.transfers->outfeed.Push(std::move(copy), absl::InfiniteFuture(), run.cancellation));
  return Nothing();
}

absl::StatusOr<Literal> TransferOp::Send(const RunContext& run, const Literal* data) const {
  if (!is_host_transfer_) {
    HILO_RETURN_IF_ERROR(SendToDevice(run, *data));
    return Nothing();
  }
  HILO_ASSIGN_OR_RETURN(
      const SendCallback* send,
      FindCallback(run.host_callbacks == nullptr ? nullptr : &run.host_callbacks->sends, channel_id_));
  HILO_RETURN_IF_ERROR(send->callback(run.device, *data));
  return Nothing();
}

absl::StatusOr<Literal> TransferOp::Receive(const RunContext& run, const Literal*) const {
  if (!is_host_transfer_) return ReceiveFromDevice(run);
  HILO_ASSIGN_OR_RETURN(
      const RecvCallback* recv,
      FindCallback(run.host_callbacks == nullptr ? nullptr : &run.host_callbacks->recvs, channel_id_));
  HILO_ASSIGN_OR_RETURN(Literal received, recv->callback(run.device, data_shape_));
  if (!ShapeUtil::Compatible(received.shape(), data_shape_)) {
    return InvalidArgument("the callback of channel ", channel_id_, ": expected ", data_shape_.ToString(), ", got ",
                           received.shape().ToString());
  }
  return received;
}

absl::StatusOr<Literal> TransferOp::Run(const RunContext& run, const Literal* data) const {
  const bool is_feed = opcode_ == HloOpcode::kInfeed || opcode_ == HloOpcode::kOutfeed;
  if (is_feed && run.transfers == nullptr)
    return Unimplemented(HloOpcodeString(opcode_), " needs the queues of a client's device");
  static constexpr OpcodeMap<absl::StatusOr<Literal> (TransferOp::*)(const RunContext&, const Literal*) const> kRun = {
      {HloOpcode::kInfeed, &TransferOp::Infeed},
      {HloOpcode::kOutfeed, &TransferOp::Outfeed},
      {HloOpcode::kRecvDone, &TransferOp::Receive},
      {HloOpcode::kSend, &TransferOp::Send},
  };
  // The work of send-done and recv is done by the other half.
  return kRun[opcode_] == nullptr ? Nothing() : (this->*kRun[opcode_])(run, data);
}

}  // namespace hilo
