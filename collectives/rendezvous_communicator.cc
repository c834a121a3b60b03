#include "collectives/rendezvous_communicator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"

namespace hilo {
namespace {

using Buffers = absl::Span<const CollectiveBuffer>;

std::string SizesText(Buffers buffers) {
  return absl::StrCat(
      "of ",
      absl::StrJoin(buffers, ", ", [](std::string* out, const CollectiveBuffer& b) { absl::StrAppend(out, b.bytes); }),
      " bytes");
}

Contribution Bring(CollectiveKind kind, const CollectiveCall& call, std::string signature, Buffers buffers = {}) {
  Contribution contribution;
  contribution.call = &call;
  contribution.signature = std::move(signature);
  contribution.kind = kind;
  contribution.buffers = buffers;
  return contribution;
}

}  // namespace

bool Inside(int64_t start, int64_t bytes, int64_t size) {
  return start >= 0 && bytes >= 0 && start <= size && bytes <= size - start;
}

absl::Status CheckPermute(absl::string_view name, absl::Span<const int64_t> group, absl::Span<const int64_t> sources,
                          absl::Span<const int64_t> targets) {
  auto place_of = [&](int64_t rank) {
    return static_cast<size_t>(std::find(group.begin(), group.end(), rank) - group.begin());
  };
  for (size_t i = 0; i < group.size(); ++i) {
    const int64_t source = sources[i], target = targets[i];
    const size_t from = place_of(source), to = place_of(target);
    if ((source >= 0 && (from == group.size() || targets[from] != group[i])) ||
        (target >= 0 && (to == group.size() || sources[to] != group[i]))) {
      return FailedPrecondition(name, ": rank ", group[i], " receives from rank ", source, " and sends to rank ",
                                target, ", which do not agree");
    }
  }
  return absl::OkStatus();
}

absl::Status RendezvousCommunicator::JoinToReduce(CollectiveKind kind, const CollectiveCall& call, Buffers buffers,
                                                  const ReductionFunction& reduction) {
  if (reduction.element_bytes <= 0 || kReductionPiece % reduction.element_bytes != 0) {
    return Refuse(InvalidArgument(call.name, ": elements of ", reduction.element_bytes, " bytes cannot be reduced"));
  }
  const bool scatter = kind == CollectiveKind::kReduceScatter;
  Contribution contribution = Bring(kind, call,
                                    absl::StrCat("reduced", scatter ? " and scattered" : "", ", elements of ",
                                                 reduction.element_bytes, " in arrays ", SizesText(buffers)),
                                    buffers);
  contribution.reduction = &reduction;
  return Join(contribution);
}

absl::Status RendezvousCommunicator::AllReduce(const CollectiveCall& call, Buffers buffers,
                                               const ReductionFunction& reduction) {
  return JoinToReduce(CollectiveKind::kAllReduce, call, buffers, reduction);
}
absl::Status RendezvousCommunicator::ReduceScatter(const CollectiveCall& call, Buffers buffers,
                                                   const ReductionFunction& reduction) {
  return JoinToReduce(CollectiveKind::kReduceScatter, call, buffers, reduction);
}

absl::Status RendezvousCommunicator::AllGather(const CollectiveCall& call, Buffers buffers) {
  Contribution contribution =
      Bring(CollectiveKind::kAllGather, call, absl::StrCat("gathered, ", SizesText(buffers)), buffers);
  return Join(contribution);
}

absl::Status RendezvousCommunicator::CollectiveBroadcast(const CollectiveCall& call, Buffers buffers) {
  Contribution contribution =
      Bring(CollectiveKind::kBroadcast, call, absl::StrCat("broadcast, ", SizesText(buffers)), buffers);
  return Join(contribution);
}

absl::Status RendezvousCommunicator::CollectivePermute(const CollectiveCall& call, Buffers buffers, int64_t source,
                                                       int64_t target) {
  Contribution contribution =
      Bring(CollectiveKind::kPermute, call, absl::StrCat("permuted, ", SizesText(buffers)), buffers);
  contribution.source = source;
  contribution.target = target;
  return Join(contribution);
}

absl::Status RendezvousCommunicator::AllToAll(const CollectiveCall& call, absl::Span<const void* const> sends,
                                              absl::Span<void* const> receives, int64_t bytes) {
  if (sends.size() != call.group.size() || receives.size() != call.group.size()) {
    return Refuse(InvalidArgument(call.name, ": expected an array for each of the ", call.group.size(),
                                  " ranks of the group, got ", sends.size(), " to send and ", receives.size(),
                                  " to receive"));
  }
  Contribution contribution = Bring(CollectiveKind::kAllToAll, call, absl::StrCat("exchanged, of ", bytes, " bytes"));
  contribution.sends = sends;
  contribution.receives = receives;
  contribution.bytes = bytes;
  return Join(contribution);
}

absl::Status RendezvousCommunicator::RaggedAllToAll(const CollectiveCall& call, const void* send, int64_t send_bytes,
                                                    void* receive, int64_t receive_bytes,
                                                    absl::Span<const RaggedUpdate> updates) {
  if (call.group.empty() || updates.size() % call.group.size() != 0) {
    return Refuse(InvalidArgument(call.name, ": expected as many updates for each of the ", call.group.size(),
                                  " ranks of the group, got ", updates.size(), " in all"));
  }
  for (size_t i = 0; i < updates.size(); ++i) {
    const RaggedUpdate& update = updates[i];
    if (Inside(update.from, update.bytes, send_bytes) && Inside(update.to, update.bytes, receive_bytes)) continue;
    return Refuse(InvalidArgument(call.name, ": update ", i, " of rank ", rank(), ", of ", update.bytes, " bytes from ",
                                  update.from, " to ", update.to, ", leaves the ", send_bytes,
                                  " bytes of the input or the ", receive_bytes, " bytes of the output"));
  }
  Contribution contribution = Bring(CollectiveKind::kRagged, call,
                                    absl::StrCat("of ", updates.size(), " updates of ", receive_bytes, " bytes"));
  contribution.send = send;
  contribution.receive = receive;
  contribution.receive_bytes = receive_bytes;
  contribution.updates = updates;
  return Join(contribution);
}

}  // namespace hilo
