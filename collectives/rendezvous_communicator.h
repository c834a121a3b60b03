// Base of communicators whose ranks rendezvous: every collective becomes a contribution that
// describes all the inputs and outputs of a rank. Private to collectives.
#ifndef HILO_COLLECTIVES_RENDEZVOUS_COMMUNICATOR_H_
#define HILO_COLLECTIVES_RENDEZVOUS_COMMUNICATOR_H_

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

// Only the fields of its kind are set; the others are empty.
struct Contribution : Arrival {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  absl::Span<const CollectiveBuffer> buffers;
  const ReductionFunction* reduction = nullptr;
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

// Performs the checks that need only this rank's arguments, and delegates the rest to Join.
class RendezvousCommunicator : public Communicator {
 public:
  absl::Status AllReduce(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                         const ReductionFunction& reduction) final;
  absl::Status ReduceScatter(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                             const ReductionFunction& reduction) final;
  absl::Status AllGather(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers) final;
  absl::Status AllToAll(const CollectiveCall& call, absl::Span<const void* const> sends,
                        absl::Span<void* const> receives, int64_t bytes) final;
  absl::Status CollectivePermute(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers, int64_t source,
                                 int64_t target) final;
  absl::Status CollectiveBroadcast(const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers) final;
  absl::Status RaggedAllToAll(const CollectiveCall& call, const void* send, int64_t send_bytes, void* receive,
                              int64_t receive_bytes, absl::Span<const RaggedUpdate> updates) final;

 protected:
  // Combines the contribution (and that of `call`) with those of the other ranks.
  virtual absl::Status Join(Contribution& contribution) = 0;
  // Ends the run of all ranks because of an error that only this rank sees. Returns the error for the caller.
  virtual absl::Status Refuse(const absl::Status& error) = 0;

 private:
  absl::Status JoinToReduce(CollectiveKind kind, const CollectiveCall& call, absl::Span<const CollectiveBuffer> buffers,
                            const ReductionFunction& reduction);
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
// Whether all ranks agree on the pairs of source and target; the ranks of the group in order with their sources and
// targets.
absl::Status CheckPermute(absl::string_view name, absl::Span<const int64_t> group, absl::Span<const int64_t> sources,
                          absl::Span<const int64_t> targets);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_RENDEZVOUS_COMMUNICATOR_H_
