// The shardings that a program states, and the relations between its arrays by which they are propagated
// (propagate_shardings.h).
#ifndef HILO_HLO_PASSES_PARTITION_SHARDING_RELATIONS_H_
#define HILO_HLO_PASSES_PARTITION_SHARDING_RELATIONS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/partition/manual_regions.h"
#include "hlo/passes/partition/sharding_marks.h"
#include "hlo/passes/partition/sharding_rule.h"
#include "hlo/passes/partition/tile_cut.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {

// An op whose dimensions are related, or an edge along which one value is handed on.
struct ShardingRelation {
  ShardingRule rule;
  std::vector<int> arrays;  // operands, then results; -1 for what has no sharding
  size_t operands = 0;
  std::vector<int> scopes;  // by operand: where it is used, as the state of a loop, which is one array, is in the body,
                            // the condition and behind the loop
  HloOpcode opcode = HloOpcode::kCopy;
  bool is_elementwise = false;
  PropagationDirection allowed = PropagationDirection::kBoth;
  bool is_data_flow = false;  // into the state of a loop, or out of branches or a barrier
};

// A dimension whose sharding is propagated with a later priority. Until then it is whole and closed.
struct WithheldCut {
  int64_t priority = 0;
  int array = 0;
  size_t dimension = 0;
  TileCut cut;
  bool is_closed = true;
};

// The arrays of a program, what it states of their shardings, and how these are related.
struct ShardingRelations {
  absl::flat_hash_map<const HloInstruction*, std::vector<int>> leaves;  // indices of arrays
  std::vector<int> results;
  // By array.
  std::vector<const Shape*> shapes;
  std::vector<std::vector<TileCut>> cuts;      // by dimension
  std::vector<std::vector<bool>> closed;       // by dimension
  std::vector<std::vector<TileCut>> reserved;  // axes along which it must not be cut (now)
  std::vector<WithheldCut> withheld;
  std::vector<ShardingRelation> relations;
};

// Errors: as PropagateShardings.
absl::StatusOr<ShardingRelations> RelateShardings(const HloModule& module, const ShardingMeshes& meshes,
                                                  const ManualRegions& regions, const OpenValues& open);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SHARDING_RELATIONS_H_
