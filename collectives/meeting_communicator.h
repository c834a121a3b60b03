// What communicators whose ranks meet have in common: every collective becomes a contribution that
// says all about what a rank brings and wants. Private to collectives.
#ifndef HILO_COLLECTIVES_MEETING_COMMUNICATOR_H_
#define HILO_COLLECTIVES_MEETING_COMMUNICATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/rendezvous.h"

namespace hilo {

enum class CollectiveKind {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kPermute,
  kBroadcast,
  kRagged,
};

// The fields that its kind has; the others are empty.
struct Contribution : Arrival {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  absl::Span<const CollectiveBuffer> buffers;
  const Reduction* reduction = nullptr;
  int64_t source = -1, target = -1;  // of a permute
  // Of all-to-all.
  absl::Span<const void* const> sends;
  absl::Span<void* const> receives;
  int64_t bytes = 0;
  // Of ragged-all-to-all.
  const void* send = nullptr;
  void* receive = nullptr;
  int64_t receive_bytes = 0;
  absl::Span<const RaggedUpdate> updates;
};

// Checks what a rank can check alone, and leaves the rest to Meet.
class MeetingCommunicator : public Communicator {
 public:
  absl::Status AllReduce(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                         const Reduction& reduction) final;
  absl::Status ReduceScatter(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                             const Reduction& reduction) final;
  absl::Status AllGather(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers) final;
  absl::Status AllToAll(const CollectiveCall& call, absl::Span<const void* const> sends,
                        absl::Span<void* const> receives, int64_t bytes) final;
  absl::Status CollectivePermute(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers, int64_t source,
                                 int64_t target) final;
  absl::Status CollectiveBroadcast(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers) final;
  absl::Status RaggedAllToAll(const CollectiveCall& call, const void* send, int64_t send_bytes, void* receive,
                              int64_t receive_bytes, absl::Span<const RaggedUpdate> updates) final;

 protected:
  // Brings the contribution (of `call`, too) together with those of the others.
  virtual absl::Status Meet(Contribution& contribution) = 0;
  // An error that only this rank sees ends the run for all. Returns what the caller gets.
  virtual absl::Status Refuse(const absl::Status& error) = 0;

 private:
  absl::Status MeetToReduce(CollectiveKind kind, const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                            const Reduction& reduction);
};

using Arrivals = absl::Span<const Arrival* const>;
inline const Contribution& Of(Arrivals arrivals, int64_t i) { return static_cast<const Contribution&>(*arrivals[i]); }

inline const uint8_t* At(const void* base, int64_t offset) { return static_cast<const uint8_t*>(base) + offset; }
inline uint8_t* At(void* base, int64_t offset) { return static_cast<uint8_t*>(base) + offset; }

// The work of a collective all of whose ranks are threads of this process.
absl::StatusOr<CollectiveWork> LocalWork(CollectiveKind kind, Arrivals arrivals);

constexpr int64_t kReductionPiece = 1 << 14;  // bytes, a multiple of every element's size

// Whether `bytes` bytes from `start` lie in `size` bytes.
bool Inside(int64_t start, int64_t bytes, int64_t size);
// Whether all agree on who sends to whom; the ranks of the group in order with their sources and
// targets.
absl::Status CheckPermute(absl::string_view name, absl::Span<const int64_t> group, absl::Span<const int64_t> sources,
                          absl::Span<const int64_t> targets);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_MEETING_COMMUNICATOR_H_
