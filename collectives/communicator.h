// Communicator: the interface of one rank to the other ranks of a run. It moves bytes between addresses.
//
// Ranks are numbered from 0; in a run on replicas and partitions, a device's rank is replica_id *
// partition_count + partition_id. All ranks of a group call the same collectives in the same order,
// each on a separate thread; a call returns when its results are complete. A call never hangs: it
// ends with an error when its deadline passes, when it is cancelled, when a rank that it needs
// fails, has ended, or can never arrive, and when ranks disagree on the operation. An error ends
// the run for all ranks: every later call of the run returns that error.
#ifndef HILO_COLLECTIVES_COMMUNICATOR_H_
#define HILO_COLLECTIVES_COMMUNICATOR_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "hilo/host.h"

namespace hilo {

// What every collective needs besides its data. All of it is read during the call only.
struct CollectiveCall {
  absl::string_view name;           // for messages: "all-reduce %sum"
  int64_t key = 0;                  // the number of the op in its program, or of the channel: equal on all ranks
  absl::Span<const int64_t> group;  // ranks in order, each once; the caller is one of them
  absl::Time deadline = absl::InfiniteFuture();
  const CancellationToken* cancellation = nullptr;  // null: the call cannot be cancelled
};

// One array of a transfer. No operand of a call may overlap a result of it except for all-reduce, whose
// `send` and `receive` may be equal.
struct CollectiveBuffer {
  const void* send = nullptr;
  void* receive = nullptr;
  int64_t bytes = 0;  // of the piece that one rank contributes (all-reduce, all-gather, ...) or receives
                      // (reduce-scatter)
};

// result[i] = f(a[i], b[i]) for `count` dense elements; `result` may be `a`. The reduction of a rank is called on the
// thread of that rank only.
struct ReductionFunction {
  int64_t element_bytes = 0;
  std::function<absl::Status(void* result, const void* a, const void* b, int64_t count)> combine;
};

// `bytes` from `from` of the sender's array to `to` of the receiver's.
struct RaggedUpdate {
  int64_t from, to, bytes;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  // Errors of all functions: DeadlineExceeded and Cancelled, naming the ranks that are missing;
  // FailedPrecondition, naming the ranks that disagree, and for ranks that cannot arrive; InvalidArgument
  // for arguments that a rank finds invalid by itself; the error of a rank that has failed, and of a reduction.

  // Every rank receives the elements of all, combined in the order of the group, so that all get
  // the same bits in every run.
  virtual absl::Status AllReduce(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                                 const ReductionFunction& reduction) = 0;
  // `send` holds a piece for each rank of the group; the i-th rank receives the i-th pieces of all,
  // combined in the order of the group.
  virtual absl::Status ReduceScatter(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                                     const ReductionFunction& reduction) = 0;
  // Every rank receives the pieces of all, in the order of the group.
  virtual absl::Status AllGather(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers) = 0;
  // The i-th rank of the group receives sends[i] of each rank, receives[j] coming from the j-th. All
  // are of `bytes` bytes.
  virtual absl::Status AllToAll(const CollectiveCall& call, absl::Span<const void* const> sends,
                                absl::Span<void* const> receives, int64_t bytes) = 0;
  // Receives the data that rank `source` sends, zeros if that is -1; this rank's data goes to rank
  // `target`, or nowhere (-1).
  virtual absl::Status CollectivePermute(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                                         int64_t source, int64_t target) = 0;
  // Every rank receives what the first rank of the group sends.
  virtual absl::Status CollectiveBroadcast(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers) = 0;
  // Exchanges updates of `receive` (of `receive_bytes` bytes, on all ranks) within the group: the same number for
  // each rank, those for the first rank first. They are applied in the order of their
  // senders. An update out of the bounds of an array is an error of its sender.
  virtual absl::Status RaggedAllToAll(const CollectiveCall& call, const void* send, int64_t send_bytes, void* receive,
                                      int64_t receive_bytes, absl::Span<const RaggedUpdate> updates) = 0;

  // Queues `bytes` bytes for the rank `target` on the channel `call.key`, and returns without
  // waiting for the receiver. call.group is ignored.
  virtual absl::Status Send(const CollectiveCall& call, const void* data, int64_t bytes, int64_t target) = 0;
  // Takes the oldest message that the rank `source` has queued for this rank on the channel; waits for
  // it. FailedPrecondition if it is not of `bytes` bytes.
  virtual absl::Status Receive(const CollectiveCall& call, void* data, int64_t bytes, int64_t source) = 0;

  // OK until the run has failed, on any rank. Thread-safe.
  virtual absl::Status failure() const = 0;

  // Ends this rank's run, successfully or not: ranks that wait for it are notified at once.
  virtual void Finish(const absl::Status& status) = 0;
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_COMMUNICATOR_H_
