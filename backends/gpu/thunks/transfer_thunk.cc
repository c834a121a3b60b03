#include "backends/gpu/thunks/transfer_thunk.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/collective/transfer_attributes.h"

namespace hilo::gpu {
namespace {

// Indices in a clique of two.
constexpr int64_t kSender = 0, kReceiver = 1;

}  // namespace

template <typename Stream, typename Self>
void TransferThunk::Fields(Stream& stream, Self& self) {
  stream.Text(self.name_);
  stream.Text(self.context_);
  stream.Collective(self.spec_);
  stream.Int(self.channel_);
  stream.Bool(self.sends_);
  stream.Slices(self.leaves_);
}

void TransferThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> TransferThunk::Read(ThunkReader& in) {
  std::unique_ptr<TransferThunk> thunk(new TransferThunk());
  Fields(in, *thunk);
  in.Require(thunk->name_.find('%') != std::string::npos, "the name of a transfer");
  for (const BufferSlice& leaf : thunk->leaves_) in.RequireBytes(leaf, 0, /*written=*/!thunk->sends_);
  return thunk;
}

absl::Status TransferThunk::Run(GpuRun& run) const { return AddContext(sends_ ? Send(run) : Receive(run), context_); }

std::string TransferThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, sends_ ? "send" : "receive", " ", absl::string_view(name_).substr(name_.find('%')),
                      " channel ", channel_, " (",
                      absl::StrJoin(leaves_, ", ",
                                    [&](std::string* out, const BufferSlice& leaf) {
                                      absl::StrAppend(out, sends_ ? "" : "&", SliceToString(leaf));
                                    }),
                      ")\n");
}

std::string TransferThunk::Op() const { return absl::StrCat("the transfer of channel ", channel_); }

absl::Status TransferThunk::Send(GpuRun& run) const {
  CollectiveRun& collectives = *run.collectives;
  const CollectiveRole& role = collectives.role(spec_);
  if (role.send_clique < 0 && !role.sends_to_itself) return absl::OkStatus();
  for (const BufferSlice& leaf : leaves_) {
    if (leaf.kind == StorageKind::kNone) continue;
    HILO_ASSIGN_OR_RETURN(void* copy, collectives.driver().Allocate(leaf.size, &run.stream));
    HILO_RETURN_IF_ERROR(run.stream.Copy(copy, run.Address(leaf), leaf.size));
    if (role.sends_to_itself) {
      collectives.mail(channel_).push_back({copy, leaf.size});
      continue;
    }
    HILO_ASSIGN_OR_RETURN(GpuStream * stream, collectives.BeginTransfer(role.send_clique, Op(), run.stream));
    HILO_RETURN_IF_ERROR(collectives.communicator(role.send_clique)->Send(copy, leaf.size, U8, kReceiver, *stream));
    HILO_RETURN_IF_ERROR(collectives.EndTransfer(role.send_clique));
    HILO_RETURN_IF_ERROR(collectives.driver().Free(copy, stream));
  }
  return absl::OkStatus();
}

absl::Status TransferThunk::Receive(GpuRun& run) const {
  CollectiveRun& collectives = *run.collectives;
  const CollectiveRole& role = collectives.role(spec_);
  for (const BufferSlice& leaf : leaves_) {
    if (leaf.kind == StorageKind::kNone) continue;
    if (role.sends_to_itself) {
      HILO_RETURN_IF_ERROR(TakeMail(run, leaf));
    } else if (role.receive_clique < 0) {
      HILO_RETURN_IF_ERROR(run.stream.Fill(run.Address(leaf), 0, 1, leaf.size));
    } else {
      HILO_ASSIGN_OR_RETURN(GpuStream * stream, collectives.BeginTransfer(role.receive_clique, Op(), run.stream));
      HILO_RETURN_IF_ERROR(
          collectives.communicator(role.receive_clique)->Receive(run.Address(leaf), leaf.size, U8, kSender, *stream));
      HILO_RETURN_IF_ERROR(collectives.EndTransfer(role.receive_clique));
      HILO_RETURN_IF_ERROR(collectives.AwaitTransfer(role.receive_clique, run.stream));
    }
  }
  return absl::OkStatus();
}

absl::Status TransferThunk::TakeMail(GpuRun& run, const BufferSlice& leaf) const {
  std::deque<CollectiveRun::Message>& mail = run.collectives->mail(channel_);
  const int64_t rank = run.collectives->rank();
  if (mail.empty()) return FailedPrecondition(name_, ": rank ", rank, " waits for what it has not sent to itself");
  const CollectiveRun::Message message = mail.front();
  mail.pop_front();
  absl::Status status = message.bytes == leaf.size
                            ? run.stream.Copy(run.Address(leaf), message.data, leaf.size)
                            : InvalidArgument(name_, ": rank ", rank, " has sent ", message.bytes,
                                              " bytes to itself, but expects ", leaf.size);
  const absl::Status freed = run.collectives->driver().Free(message.data, &run.stream);
  return status.ok() ? freed : status;
}

bool IsDeviceTransfer(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  if (!HasTrait(opcode, kTransfer) || opcode == HloOpcode::kInfeed || opcode == HloOpcode::kOutfeed) return false;
  return !instruction.attrs<TransferAttrs>().is_host_transfer;
}

}  // namespace hilo::gpu
