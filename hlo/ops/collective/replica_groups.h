// Groups of devices that run a collective together: the attribute types of the collectives.
#ifndef HILO_HLO_OPS_COLLECTIVE_REPLICA_GROUPS_H_
#define HILO_HLO_OPS_COLLECTIVE_REPLICA_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo {

// Lists of ids, one per group; the meaning of an id depends on the group mode. No group at all means
// one group of all devices. HLO text writes groups in one of three forms:
//
//   {{0,1},{2,3}}                                   a list
//   [2,4]<=[4,2]T(1,0)                              2 groups of 4: the ids 0 .. 7 as an array
//                                                   [4,2], transposed, read in rows of 4
//   mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a','b':(1)2}
//                                                   ids laid out over named axes, and the axes
//                                                   along which they are grouped; 'b':(1)2 is the
//                                                   part of size 2 of 'b' before which 1 lies
struct ReplicaGroups {
  std::vector<std::vector<int64_t>> groups;
  // The text of a form other than a list, which is printed again as it was read; "{}" is kept too,
  // to distinguish it from a missing attribute.
  std::string form;

  bool operator==(const ReplicaGroups&) const = default;
  // The ids in all groups.
  int64_t id_count() const;
};
std::string FieldToText(const ReplicaGroups& value);
// Errors: InvalidArgument if the text has none of the forms, the numbers of a form are inconsistent, or
// there are more than kMaxReplicaIds ids.
absl::Status FieldFromText(absl::string_view text, ReplicaGroups* value);
inline constexpr int64_t kMaxReplicaIds = 1 << 18;

// Pairs of sender and receiver: "{{0,1},{1,0}}".
struct SourceTargetPairs {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  bool operator==(const SourceTargetPairs&) const = default;
};
std::string FieldToText(const SourceTargetPairs& value);
absl::Status FieldFromText(absl::string_view text, SourceTargetPairs* value);

// What the ids in groups denote, on replicas times partitions.
enum class CollectiveOpGroupMode {
  kCrossReplica,              // replicas; within each partition separately
  kCrossPartition,            // partitions; within each replica separately
  kCrossReplicaAndPartition,  // replicas, each with all of its partitions
  kFlattenedID,               // devices: replica * partitions + partition
};
absl::string_view CollectiveOpGroupModeName(CollectiveOpGroupMode mode);
// `use_global_device_ids` is absent for ops that have no such attribute. Errors: InvalidArgument if
// it is true without a channel.
absl::StatusOr<CollectiveOpGroupMode> GetCollectiveOpGroupMode(bool has_channel_id,
                                                               std::optional<bool> use_global_device_ids);

}  // namespace hilo

#endif  // HILO_HLO_OPS_COLLECTIVE_REPLICA_GROUPS_H_
