// Every collective is a list of tasks, a task being what one rank receives of one other, cut into
// pieces that any of the ranks may do: whoever is awake copies straight from the sender's array to
// the receiver's. In a reduction a task is a range of elements; whoever takes it combines that
// range of all ranks, in the order of the group, in a small buffer of its own, and gives it to all
// that receive it. So each element is combined once, in one order, whoever does it.
#include "collectives/in_process.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "collectives/rendezvous.h"

namespace hilo {
namespace {

constexpr int64_t kCopyPiece = 1 << 20;       // bytes
constexpr int64_t kReductionPiece = 1 << 14;  // bytes, a multiple of every element's size

using Buffers = absl::Span<const CollectiveBuffer>;

struct BuffersArrival : Arrival {
  Buffers buffers;
  const Reduction* reduction = nullptr;
  int64_t source = -1, target = -1;
};
struct AllToAllArrival : Arrival {
  absl::Span<const void* const> sends;
  absl::Span<void* const> receives;
};
struct RaggedArrival : Arrival {
  const void* send = nullptr;
  void* receive = nullptr;
  absl::Span<const RaggedUpdate> updates;
};

template <typename T>
const T& As(const Arrival* arrival) {
  return static_cast<const T&>(*arrival);
}
using Arrivals = absl::Span<const Arrival* const>;
const BuffersArrival& Of(Arrivals arrivals, int64_t i) { return As<BuffersArrival>(arrivals[i]); }

const uint8_t* At(const void* base, int64_t offset) {
  return static_cast<const uint8_t*>(base) + offset;
}
uint8_t* At(void* base, int64_t offset) { return static_cast<uint8_t*>(base) + offset; }

// From one array to another; from nowhere: zeros.
struct Copy {
  const uint8_t* from;
  uint8_t* to;
  int64_t bytes;
};

void AddCopy(const uint8_t* from, uint8_t* to, int64_t bytes, std::vector<Copy>* copies) {
  for (int64_t offset = 0; offset < bytes; offset += kCopyPiece) {
    copies->push_back({from == nullptr ? nullptr : from + offset, to + offset,
                       std::min(kCopyPiece, bytes - offset)});
  }
}

CollectiveWork CopyWork(std::vector<Copy> copies) {
  const int64_t parts = static_cast<int64_t>(copies.size());
  return {.parts = parts, .run = [copies = std::move(copies)](int64_t i, const Arrival&) {
            const Copy& copy = copies[i];
            if (copy.from == nullptr) {
              std::memset(copy.to, 0, copy.bytes);
            } else {
              std::memcpy(copy.to, copy.from, copy.bytes);
            }
            return absl::OkStatus();
          }};
}

// A range of the ranks' buffers number `buffer` that is combined, and who receives it where.
struct Combination {
  int64_t buffer, from, to, bytes;
  int64_t receiver;  // place in the group; -1: all
};

absl::Status Combine(Arrivals arrivals, const Combination& range, const Reduction& reduction) {
  alignas(64) uint8_t sum[kReductionPiece];
  std::memcpy(sum, At(Of(arrivals, 0).buffers[range.buffer].send, range.from), range.bytes);
  for (size_t i = 1; i < arrivals.size(); ++i) {
    HILO_RETURN_IF_ERROR(
        reduction.combine(sum, At(Of(arrivals, i).buffers[range.buffer].send, range.from),
                          range.bytes / reduction.element_bytes));
  }
  for (size_t i = 0; i < arrivals.size(); ++i) {
    if (range.receiver >= 0 && range.receiver != static_cast<int64_t>(i)) continue;
    std::memcpy(At(Of(arrivals, i).buffers[range.buffer].receive, range.to), sum, range.bytes);
  }
  return absl::OkStatus();
}

CollectiveWork ReductionWork(Arrivals arrivals, bool scatter) {
  std::vector<Combination> ranges;
  const Buffers buffers = Of(arrivals, 0).buffers;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const int64_t bytes = buffers[b].bytes;
    for (int64_t receiver = 0; receiver < (scatter ? static_cast<int64_t>(arrivals.size()) : 1);
         ++receiver) {
      for (int64_t offset = 0; offset < bytes; offset += kReductionPiece) {
        ranges.push_back({static_cast<int64_t>(b), receiver * bytes + offset, offset,
                          std::min(kReductionPiece, bytes - offset), scatter ? receiver : -1});
      }
    }
  }
  const int64_t parts = static_cast<int64_t>(ranges.size());
  return {.parts = parts,
          .run = [arrivals, ranges = std::move(ranges)](int64_t i, const Arrival& worker) {
            return Combine(arrivals, ranges[i], *As<BuffersArrival>(&worker).reduction);
          }};
}

absl::StatusOr<CollectiveWork> PermuteWork(Arrivals arrivals) {
  const absl::Span<const int64_t> group = arrivals[0]->call->group;
  auto place_of = [&](int64_t rank) {
    return std::find(group.begin(), group.end(), rank) - group.begin();
  };
  std::vector<Copy> copies;
  for (size_t i = 0; i < group.size(); ++i) {
    const int64_t source = Of(arrivals, i).source, target = Of(arrivals, i).target;
    const size_t from = place_of(source), to = place_of(target);
    if ((source >= 0 && (from == group.size() || Of(arrivals, from).target != group[i])) ||
        (target >= 0 && (to == group.size() || Of(arrivals, to).source != group[i]))) {
      return InvalidArgument(arrivals[i]->call->name, ": rank ", group[i], " receives from rank ",
                             source, " and sends to rank ", target, ", which do not agree");
    }
    const Buffers buffers = Of(arrivals, i).buffers;
    for (size_t b = 0; b < buffers.size(); ++b) {
      const void* send = source < 0 ? nullptr : Of(arrivals, from).buffers[b].send;
      AddCopy(static_cast<const uint8_t*>(send), At(buffers[b].receive, 0), buffers[b].bytes,
              &copies);
    }
  }
  return CopyWork(std::move(copies));
}

// The updates that one rank receives, in the order of their senders: they may overlap.
absl::Status Update(Arrivals arrivals, int64_t receiver) {
  const size_t each = As<RaggedArrival>(arrivals[0]).updates.size() / arrivals.size();
  for (const Arrival* sender : arrivals) {
    for (const RaggedUpdate& update :
         As<RaggedArrival>(sender).updates.subspan(receiver * each, each)) {
      if (update.bytes == 0) continue;
      std::memcpy(At(As<RaggedArrival>(arrivals[receiver]).receive, update.to),
                  At(As<RaggedArrival>(sender).send, update.from), update.bytes);
    }
  }
  return absl::OkStatus();
}

std::string SizesText(Buffers buffers) {
  return absl::StrCat("of ",
                      absl::StrJoin(buffers, ", ",
                                    [](std::string* out, const CollectiveBuffer& b) {
                                      absl::StrAppend(out, b.bytes);
                                    }),
                      " bytes");
}

bool Inside(int64_t start, int64_t bytes, int64_t size) {
  return start >= 0 && bytes >= 0 && start <= size && bytes <= size - start;
}

class InProcessCommunicator : public Communicator {
 public:
  InProcessCommunicator(std::shared_ptr<RunState> run, int64_t rank)
      : run_(std::move(run)), rank_(rank) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return run_->size(); }

  absl::Status AllReduce(const CollectiveCall& call, Buffers buffers,
                         const Reduction& reduction) override {
    return MeetToReduce(call, buffers, reduction, /*scatter=*/false);
  }
  absl::Status ReduceScatter(const CollectiveCall& call, Buffers buffers,
                             const Reduction& reduction) override {
    return MeetToReduce(call, buffers, reduction, /*scatter=*/true);
  }

  absl::Status AllGather(const CollectiveCall& call, Buffers buffers) override {
    return MeetToCopy(call, "gathered", buffers, [](Arrivals arrivals) {
      std::vector<Copy> copies;
      for (size_t to = 0; to < arrivals.size(); ++to) {
        for (size_t b = 0; b < Of(arrivals, to).buffers.size(); ++b) {
          const CollectiveBuffer& buffer = Of(arrivals, to).buffers[b];
          for (size_t from = 0; from < arrivals.size(); ++from) {
            AddCopy(At(Of(arrivals, from).buffers[b].send, 0),
                    At(buffer.receive, from * buffer.bytes), buffer.bytes, &copies);
          }
        }
      }
      return CopyWork(std::move(copies));
    });
  }

  absl::Status CollectiveBroadcast(const CollectiveCall& call, Buffers buffers) override {
    return MeetToCopy(call, "broadcast", buffers, [](Arrivals arrivals) {
      std::vector<Copy> copies;
      for (size_t to = 0; to < arrivals.size(); ++to) {
        for (size_t b = 0; b < Of(arrivals, to).buffers.size(); ++b) {
          const CollectiveBuffer& buffer = Of(arrivals, to).buffers[b];
          AddCopy(At(Of(arrivals, 0).buffers[b].send, 0), At(buffer.receive, 0), buffer.bytes,
                  &copies);
        }
      }
      return CopyWork(std::move(copies));
    });
  }

  absl::Status CollectivePermute(const CollectiveCall& call, Buffers buffers, int64_t source,
                                 int64_t target) override {
    BuffersArrival arrival;
    arrival.call = &call;
    arrival.signature = absl::StrCat("permuted, ", SizesText(buffers));
    arrival.buffers = buffers;
    arrival.source = source;
    arrival.target = target;
    return run_->Meet(rank_, arrival, PermuteWork);
  }

  absl::Status AllToAll(const CollectiveCall& call, absl::Span<const void* const> sends,
                        absl::Span<void* const> receives, int64_t bytes) override {
    if (sends.size() != call.group.size() || receives.size() != call.group.size()) {
      return Refuse(InvalidArgument(call.name, ": expected an array for each of the ",
                                    call.group.size(), " ranks of the group, got ", sends.size(),
                                    " to send and ", receives.size(), " to receive"));
    }
    AllToAllArrival arrival;
    arrival.call = &call;
    arrival.signature = absl::StrCat("exchanged, of ", bytes, " bytes");
    arrival.sends = sends;
    arrival.receives = receives;
    return run_->Meet(rank_, arrival, [bytes](Arrivals arrivals) -> absl::StatusOr<CollectiveWork> {
      std::vector<Copy> copies;
      for (size_t to = 0; to < arrivals.size(); ++to) {
        for (size_t from = 0; from < arrivals.size(); ++from) {
          AddCopy(At(As<AllToAllArrival>(arrivals[from]).sends[to], 0),
                  At(As<AllToAllArrival>(arrivals[to]).receives[from], 0), bytes, &copies);
        }
      }
      return CopyWork(std::move(copies));
    });
  }

  absl::Status RaggedAllToAll(const CollectiveCall& call, const void* send, int64_t send_bytes,
                              void* receive, int64_t receive_bytes,
                              absl::Span<const RaggedUpdate> updates) override {
    if (call.group.empty() || updates.size() % call.group.size() != 0) {
      return Refuse(InvalidArgument(call.name, ": expected as many updates for each of the ",
                                    call.group.size(), " ranks of the group, got ", updates.size(),
                                    " in all"));
    }
    for (size_t i = 0; i < updates.size(); ++i) {
      const RaggedUpdate& update = updates[i];
      if (Inside(update.from, update.bytes, send_bytes) &&
          Inside(update.to, update.bytes, receive_bytes))
        continue;
      return Refuse(InvalidArgument(call.name, ": update ", i, " of rank ", rank_, ", of ",
                                    update.bytes, " bytes from ", update.from, " to ", update.to,
                                    ", leaves the ", send_bytes, " bytes of the input or the ",
                                    receive_bytes, " bytes of the output"));
    }
    RaggedArrival arrival;
    arrival.call = &call;
    arrival.signature =
        absl::StrCat("of ", updates.size(), " updates of ", receive_bytes, " bytes");
    arrival.send = send;
    arrival.receive = receive;
    arrival.updates = updates;
    return run_->Meet(rank_, arrival, [](Arrivals arrivals) -> absl::StatusOr<CollectiveWork> {
      return CollectiveWork{.parts = static_cast<int64_t>(arrivals.size()),
                            .run = [arrivals](int64_t receiver, const Arrival&) {
                              return Update(arrivals, receiver);
                            }};
    });
  }

  absl::Status Send(const CollectiveCall& call, const void* data, int64_t bytes,
                    int64_t target) override {
    return run_->Send(rank_, call, target, std::string(static_cast<const char*>(data), bytes));
  }

  absl::Status Receive(const CollectiveCall& call, void* data, int64_t bytes,
                       int64_t source) override {
    HILO_ASSIGN_OR_RETURN(const std::string message, run_->Receive(rank_, call, source));
    if (static_cast<int64_t>(message.size()) != bytes) {
      return Refuse(InvalidArgument(call.name, ": rank ", source, " has sent ", message.size(),
                                    " bytes to rank ", rank_, ", which expects ", bytes));
    }
    std::copy(message.begin(), message.end(), static_cast<char*>(data));
    return absl::OkStatus();
  }

  void Finish(const absl::Status& status) override { run_->Finish(rank_, status); }

 private:
  template <typename MakeCopies>
  absl::Status MeetToCopy(const CollectiveCall& call, absl::string_view kind, Buffers buffers,
                          MakeCopies make_copies) {
    BuffersArrival arrival;
    arrival.call = &call;
    arrival.signature = absl::StrCat(kind, ", ", SizesText(buffers));
    arrival.buffers = buffers;
    return run_->Meet(rank_, arrival, [&](Arrivals arrivals) -> absl::StatusOr<CollectiveWork> {
      return make_copies(arrivals);
    });
  }

  absl::Status MeetToReduce(const CollectiveCall& call, Buffers buffers, const Reduction& reduction,
                            bool scatter) {
    if (reduction.element_bytes <= 0 || kReductionPiece % reduction.element_bytes != 0) {
      return Refuse(InvalidArgument(call.name, ": elements of ", reduction.element_bytes,
                                    " bytes cannot be reduced"));
    }
    BuffersArrival arrival;
    arrival.call = &call;
    arrival.signature = absl::StrCat("reduced", scatter ? " and scattered" : "", ", elements of ",
                                     reduction.element_bytes, " in arrays ", SizesText(buffers));
    arrival.buffers = buffers;
    arrival.reduction = &reduction;
    return run_->Meet(rank_, arrival,
                      [scatter](Arrivals arrivals) -> absl::StatusOr<CollectiveWork> {
                        return ReductionWork(arrivals, scatter);
                      });
  }

  // An error that only this rank sees ends the run for all.
  absl::Status Refuse(const absl::Status& error) {
    run_->Finish(rank_, error);
    return error;
  }

  std::shared_ptr<RunState> run_;
  const int64_t rank_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> MakeInProcessCommunicators(int64_t size) {
  auto run = std::make_shared<RunState>(size);
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int64_t rank = 0; rank < size; ++rank)
    communicators.push_back(std::make_unique<InProcessCommunicator>(run, rank));
  return communicators;
}

}  // namespace hilo
