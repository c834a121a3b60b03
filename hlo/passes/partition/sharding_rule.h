// Which dimensions of an op's operands and results are sharded alike when shardings are propagated.
//
// Unlike the factors by which an op is computed on tiles (op_factors.h), these also relate dimensions that take
// exchanges of data, as those that a slice shortens do. A dimension may have several factors, the most major one
// first:
//
//   reshape(f32[16]) -> f32[2,8]:  factors 0 (2) and 1 (8); operand: {{0, 1}}, result: {{0}, {1}}
#ifndef HILO_HLO_PASSES_PARTITION_SHARDING_RULE_H_
#define HILO_HLO_PASSES_PARTITION_SHARDING_RULE_H_

#include <optional>
#include <vector>

#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/partition/op_factors.h"

namespace hilo {

struct ShardingRule {
  struct Factor {
    int64_t size = 1;
    bool passes_through = true;  // needs no exchange of data
  };
  std::vector<Factor> factors;
  // [operand, and then result][dimension]: its factors.
  std::vector<std::vector<std::vector<int>>> tensors;
};

// Of an op with these factors.
ShardingRule ShardingRuleOf(const HloInstruction& op, const OpFactors& factors);

// The tiles of a reshape's result if its operand has the tiles `tiles`, and none of them is exchanged. Works both ways,
// from the result to the operand. nullopt if tiles of one are not tiles of the other.
std::optional<TileAssignment> ReshapedTiles(const Shape& from, const TileAssignment& tiles, const Shape& to,
                                            int64_t devices);

// All dimensions alike of `tensors` arrays of this shape.
ShardingRule IdentityRule(const Shape& shape, size_t tensors);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SHARDING_RULE_H_
