#include "collectives/ranks.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/errors.h"

namespace hilo {

int64_t IdCount(CollectiveOpGroupMode mode, const DevicePosition& position) {
  switch (mode) {
    case CollectiveOpGroupMode::kCrossReplica:
    case CollectiveOpGroupMode::kCrossReplicaAndPartition: return position.replica_count;
    case CollectiveOpGroupMode::kCrossPartition: return position.partition_count;
    case CollectiveOpGroupMode::kFlattenedID: return position.size();
  }
  return 0;
}

int64_t IdOf(CollectiveOpGroupMode mode, const DevicePosition& position) {
  switch (mode) {
    case CollectiveOpGroupMode::kCrossReplica:
    case CollectiveOpGroupMode::kCrossReplicaAndPartition: return position.replica_id;
    case CollectiveOpGroupMode::kCrossPartition: return position.partition_id;
    case CollectiveOpGroupMode::kFlattenedID: return position.rank();
  }
  return 0;
}

std::vector<int64_t> RanksOf(CollectiveOpGroupMode mode, int64_t id, const DevicePosition& position) {
  std::vector<int64_t> ranks;
  switch (mode) {
    case CollectiveOpGroupMode::kCrossReplica: return {id * position.partition_count + position.partition_id};
    case CollectiveOpGroupMode::kCrossPartition: return {position.replica_id * position.partition_count + id};
    case CollectiveOpGroupMode::kCrossReplicaAndPartition:
      for (int64_t p = 0; p < position.partition_count; ++p) ranks.push_back(id * position.partition_count + p);
      return ranks;
    case CollectiveOpGroupMode::kFlattenedID: return {id};
  }
  return ranks;
}

absl::StatusOr<std::vector<int64_t>> GroupOf(const ReplicaGroups& groups, CollectiveOpGroupMode mode,
                                             const DevicePosition& position) {
  const int64_t count = IdCount(mode, position), own = IdOf(mode, position);
  std::vector<int64_t> ids;
  if (groups.groups.empty()) {
    for (int64_t id = 0; id < count; ++id) ids.push_back(id);
  } else if (groups.id_count() != count) {
    return InvalidArgument("replica_groups must hold ", count, " ids (", CollectiveOpGroupModeName(mode), " on ",
                           position.replica_count, " replicas and ", position.partition_count,
                           " partitions), but hold ", groups.id_count());
  }
  for (const std::vector<int64_t>& group : groups.groups) {
    if (std::find(group.begin(), group.end(), own) != group.end()) ids = group;
  }
  if (ids.empty()) return InvalidArgument("replica_groups lack id ", own);
  std::vector<int64_t> ranks;
  for (int64_t id : ids) {
    for (int64_t rank : RanksOf(mode, id, position)) ranks.push_back(rank);
  }
  return ranks;
}

// The pairs form paths and cycles.
ReplicaGroups GroupsOf(const SourceTargetPairs& pairs, int64_t count) {
  absl::flat_hash_map<int64_t, int64_t> target_of;
  absl::flat_hash_set<int64_t> targets, visited;
  for (const auto& [source, target] : pairs.pairs) {
    target_of[source] = target;
    targets.insert(target);
  }
  ReplicaGroups groups;
  const auto add_from = [&](int64_t id) {
    if (visited.contains(id)) return;
    std::vector<int64_t>& group = groups.groups.emplace_back();
    while (visited.insert(id).second) {
      group.push_back(id);
      const auto next = target_of.find(id);
      if (next != target_of.end()) id = next->second;
    }
    std::sort(group.begin(), group.end());
  };
  for (const auto& [source, target] : pairs.pairs) {
    if (!targets.contains(source)) add_from(source);
  }
  for (const auto& [source, target] : pairs.pairs) add_from(source);
  for (int64_t id = 0; id < count; ++id) add_from(id);
  return groups;
}

}  // namespace hilo
