// Every collective is a list of tasks, a task being what one rank receives from another, split into
// pieces that any of the ranks may process: a running rank copies directly from the sender's array to
// the receiver's. In a reduction a task is a range of elements; the rank that takes it combines that
// range of all ranks, in the order of the group, in the array of the first that receives it, and
// copies it to the others while it is in the cache. So each element is combined once, in one order,
// regardless of the rank. Data too large for the cache is written past it, reductions from a small
// buffer: a line that is written whole need not be read first.
#include "collectives/in_process.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "collectives/rendezvous.h"
#include "collectives/rendezvous_communicator.h"
#include "collectives/streamed_copy.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int64_t kCopyPiece = 1 << 18;  // bytes
// A collective that writes as many bytes in all does so past the cache.
constexpr int64_t kStreamed = 32 << 20;

// From one array to another; from nowhere: zeros.
struct Copy {
  const uint8_t* from;
  uint8_t* to;
  int64_t bytes;
};

void AddCopy(const void* from, uint8_t* to, int64_t bytes, std::vector<Copy>* copies) {
  for (int64_t offset = 0; offset < bytes; offset += kCopyPiece) {
    copies->push_back(
        {from == nullptr ? nullptr : At(from, offset), to + offset, std::min(kCopyPiece, bytes - offset)});
  }
}

CollectiveWork CopyWork(std::vector<Copy> copies) {
  const int64_t parts = static_cast<int64_t>(copies.size());
  int64_t bytes = 0;
  for (const Copy& copy : copies) bytes += copy.bytes;
  return {.parts = parts,
          .run = [copies = std::move(copies), streamed = bytes >= kStreamed](int64_t i, const Arrival&) {
            const Copy& copy = copies[i];
            if (copy.from == nullptr) {
              std::memset(copy.to, 0, copy.bytes);
            } else {
              CopyBytes(copy.to, copy.from, copy.bytes, streamed);
            }
            return absl::OkStatus();
          }};
}

// A range of the ranks' buffers number `buffer` that is combined, and the destinations of the result.
struct Combination {
  int64_t buffer, from, to, bytes;
  int64_t receiver;  // index in the group; -1: all
};

absl::Status Combine(Arrivals arrivals, const Combination& range, const ReductionFunction& reduction, bool streamed) {
  alignas(64) uint8_t waiting[kReductionPiece];
  auto sent = [&](size_t i) { return At(Of(arrivals, i).buffers[range.buffer].send, range.from); };
  auto received = [&](size_t i) { return At(Of(arrivals, i).buffers[range.buffer].receive, range.to); };
  const size_t first = std::max<int64_t>(range.receiver, 0);
  const size_t end = range.receiver < 0 ? arrivals.size() : first + 1;
  // It may be what the first rank sends, of which nothing is needed once it is combined.
  uint8_t* const sum = streamed ? waiting : received(first);
  if (arrivals.size() == 1 && sum != sent(0)) std::memcpy(sum, sent(0), range.bytes);
  for (size_t i = 1; i < arrivals.size(); ++i) {
    HILO_RETURN_IF_ERROR(
        reduction.combine(sum, i == 1 ? sent(0) : sum, sent(i), range.bytes / reduction.element_bytes));
  }
  for (size_t i = first; i < end; ++i) {
    if (received(i) != sum) CopyBytes(received(i), sum, range.bytes, streamed);
  }
  return absl::OkStatus();
}

CollectiveWork ReductionWork(Arrivals arrivals, bool scatter) {
  std::vector<Combination> ranges;
  const absl::Span<const CollectiveBuffer> buffers = Of(arrivals, 0).buffers;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const int64_t bytes = buffers[b].bytes;
    for (int64_t receiver = 0; receiver < (scatter ? static_cast<int64_t>(arrivals.size()) : 1); ++receiver) {
      for (int64_t offset = 0; offset < bytes; offset += kReductionPiece) {
        ranges.push_back({static_cast<int64_t>(b), receiver * bytes + offset, offset,
                          std::min(kReductionPiece, bytes - offset), scatter ? receiver : -1});
      }
    }
  }
  const int64_t parts = static_cast<int64_t>(ranges.size());
  int64_t bytes = 0;
  for (const Combination& range : ranges) bytes += range.bytes;
  if (!scatter) bytes *= static_cast<int64_t>(arrivals.size());
  return {
      .parts = parts,
      .run = [arrivals, ranges = std::move(ranges), streamed = bytes >= kStreamed](int64_t i, const Arrival& worker) {
        return Combine(arrivals, ranges[i], *static_cast<const Contribution&>(worker).reduction, streamed);
      }};
}

CollectiveWork GatherWork(Arrivals arrivals) {
  std::vector<Copy> copies;
  for (size_t to = 0; to < arrivals.size(); ++to) {
    for (size_t b = 0; b < Of(arrivals, to).buffers.size(); ++b) {
      const CollectiveBuffer& buffer = Of(arrivals, to).buffers[b];
      for (size_t from = 0; from < arrivals.size(); ++from) {
        AddCopy(Of(arrivals, from).buffers[b].send, At(buffer.receive, from * buffer.bytes), buffer.bytes, &copies);
      }
    }
  }
  return CopyWork(std::move(copies));
}

CollectiveWork BroadcastWork(Arrivals arrivals) {
  std::vector<Copy> copies;
  for (size_t to = 0; to < arrivals.size(); ++to) {
    for (size_t b = 0; b < Of(arrivals, to).buffers.size(); ++b) {
      const CollectiveBuffer& buffer = Of(arrivals, to).buffers[b];
      AddCopy(Of(arrivals, 0).buffers[b].send, At(buffer.receive, 0), buffer.bytes, &copies);
    }
  }
  return CopyWork(std::move(copies));
}

CollectiveWork AllToAllWork(Arrivals arrivals) {
  std::vector<Copy> copies;
  for (size_t to = 0; to < arrivals.size(); ++to) {
    for (size_t from = 0; from < arrivals.size(); ++from) {
      AddCopy(Of(arrivals, from).sends[to], At(Of(arrivals, to).receives[from], 0), Of(arrivals, to).bytes, &copies);
    }
  }
  return CopyWork(std::move(copies));
}

absl::StatusOr<CollectiveWork> PermuteWork(Arrivals arrivals) {
  const CollectiveCall& call = *arrivals[0]->call;
  const absl::Span<const int64_t> group = call.group;
  std::vector<int64_t> sources, targets;
  for (size_t i = 0; i < group.size(); ++i) {
    sources.push_back(Of(arrivals, i).source);
    targets.push_back(Of(arrivals, i).target);
  }
  HILO_RETURN_IF_ERROR(CheckPermute(call.name, group, sources, targets));
  std::vector<Copy> copies;
  for (size_t i = 0; i < group.size(); ++i) {
    const size_t from = std::find(group.begin(), group.end(), sources[i]) - group.begin();
    const absl::Span<const CollectiveBuffer> buffers = Of(arrivals, i).buffers;
    for (size_t b = 0; b < buffers.size(); ++b) {
      const void* send = sources[i] < 0 ? nullptr : Of(arrivals, from).buffers[b].send;
      AddCopy(send, At(buffers[b].receive, 0), buffers[b].bytes, &copies);
    }
  }
  return CopyWork(std::move(copies));
}

// Applies the updates that one rank receives, in the order of their senders: they may overlap.
void Update(Arrivals arrivals, int64_t receiver) {
  const size_t each = Of(arrivals, 0).updates.size() / arrivals.size();
  for (size_t sender = 0; sender < arrivals.size(); ++sender) {
    for (const RaggedUpdate& update : Of(arrivals, sender).updates.subspan(receiver * each, each)) {
      if (update.bytes == 0) continue;
      std::memcpy(At(Of(arrivals, receiver).receive, update.to), At(Of(arrivals, sender).send, update.from),
                  update.bytes);
    }
  }
}

CollectiveWork RaggedWork(Arrivals arrivals) {
  return {.parts = static_cast<int64_t>(arrivals.size()), .run = [arrivals](int64_t receiver, const Arrival&) {
            Update(arrivals, receiver);
            return absl::OkStatus();
          }};
}

class InProcessCommunicator : public RendezvousCommunicator {
 public:
  InProcessCommunicator(std::shared_ptr<RunState> run, int64_t rank) : run_(std::move(run)), rank_(rank) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return run_->size(); }

  absl::Status Send(const CollectiveCall& call, const void* data, int64_t bytes, int64_t target) override {
    return run_->Send(rank_, call, target, std::string(static_cast<const char*>(data), bytes));
  }

  absl::Status Receive(const CollectiveCall& call, void* data, int64_t bytes, int64_t source) override {
    absl::Status status = run_->ReceiveInto(rank_, call, source, data, bytes);
    return status.ok() ? status : Refuse(status);
  }

  absl::Status failure() const override { return run_->failure(); }
  void Finish(const absl::Status& status) override { run_->Finish(rank_, status); }

 protected:
  absl::Status Join(Contribution& contribution) override {
    return run_->Join(rank_, contribution,
                      [kind = contribution.kind](Arrivals arrivals) { return LocalWork(kind, arrivals); });
  }
  absl::Status Refuse(const absl::Status& error) override {
    run_->Finish(rank_, error);
    return error;
  }

 private:
  std::shared_ptr<RunState> run_;
  const int64_t rank_;
};

}  // namespace

absl::StatusOr<CollectiveWork> LocalWork(CollectiveKind kind, Arrivals arrivals) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter: return ReductionWork(arrivals, kind == CollectiveKind::kReduceScatter);
    case CollectiveKind::kAllGather: return GatherWork(arrivals);
    case CollectiveKind::kAllToAll: return AllToAllWork(arrivals);
    case CollectiveKind::kPermute: return PermuteWork(arrivals);
    case CollectiveKind::kBroadcast: return BroadcastWork(arrivals);
    case CollectiveKind::kRagged: return RaggedWork(arrivals);
  }
  return CollectiveWork();
}

std::vector<std::unique_ptr<Communicator>> MakeInProcessCommunicators(int64_t size) {
  auto run = std::make_shared<RunState>(size);
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int64_t rank = 0; rank < size; ++rank)
    communicators.push_back(std::make_unique<InProcessCommunicator>(run, rank));
  return communicators;
}

}  // namespace hilo
