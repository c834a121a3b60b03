// Maps the ids in an op's groups and pairs to ranks of a run.
#ifndef HILO_COLLECTIVES_RANKS_H_
#define HILO_COLLECTIVES_RANKS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ops/collective/replica_groups.h"

namespace hilo {

// A device's position in a run. Its rank is replica_id * partition_count + partition_id.
struct DevicePosition {
  int64_t replica_id = 0, partition_id = 0;
  int64_t replica_count = 1, partition_count = 1;

  int64_t rank() const { return replica_id * partition_count + partition_id; }
  int64_t size() const { return replica_count * partition_count; }
};

// The number of ids that an op of this mode can name: replicas, partitions, or devices.
int64_t IdCount(CollectiveOpGroupMode mode, const DevicePosition& position);
// The id of the device at `position`.
int64_t IdOf(CollectiveOpGroupMode mode, const DevicePosition& position);
// The ranks that the id names, for the device at `position`: one, except for kCrossReplicaAndPartition,
// where it is one for each partition.
std::vector<int64_t> RanksOf(CollectiveOpGroupMode mode, int64_t id, const DevicePosition& position);

// The ranks of the group of the device at `position`, in order. Without groups, all ranks
// that the mode includes. Errors: InvalidArgument if the groups do not hold each of the ids
// once.
absl::StatusOr<std::vector<int64_t>> GroupOf(const ReplicaGroups& groups, CollectiveOpGroupMode mode,
                                             const DevicePosition& position);

// The ids from 0 to `count` - 1, and those of the pairs, in groups that exchange nothing with each other: an id that
// neither sends nor receives is in one alone. Each id must be the source of one pair at most, and the target of one.
ReplicaGroups GroupsOf(const SourceTargetPairs& pairs, int64_t count);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_RANKS_H_
