// Groups of arrays that a program requests to shard alike: marks xla.sdy.ShardingGroup with the number of the group.
#ifndef HILO_HLO_PASSES_PARTITION_SHARDING_GROUPS_H_
#define HILO_HLO_PASSES_PARTITION_SHARDING_GROUPS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {

// The groups of one computation.
class ShardingGroups {
 public:
  // `instructions`: those of the computation, operands first.
  explicit ShardingGroups(const std::vector<HloInstruction*>& instructions);

  // The instructions in another order, operands first: all members of a group come before the users of one, except
  // where a member depends on such a user. The sharding of a member is then known before it is used.
  std::vector<HloInstruction*> Order(const std::vector<HloInstruction*>& instructions) const;

  // Must be called for each instruction once `walk` has visited it. The last mark of a group shards the members as the
  // first of them that is sharded.
  absl::Status AfterVisit(const HloInstruction* instruction, TileWalk* walk);

 private:
  struct Group {
    std::vector<HloInstruction*> marks;
    size_t visited = 0;
  };
  std::vector<Group> groups_;
  absl::flat_hash_map<const HloInstruction*, size_t> group_of_;  // of marks
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SHARDING_GROUPS_H_
