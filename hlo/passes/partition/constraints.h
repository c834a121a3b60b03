// Constraints on values that leave nothing open to propagation, and what they decide beside their own results.
#ifndef HILO_HLO_PASSES_PARTITION_CONSTRAINTS_H_
#define HILO_HLO_PASSES_PARTITION_CONSTRAINTS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/partition/sharding_marks.h"

namespace hilo {

// Whether propagation may add nothing to the sharding, and none of it waits.
bool IsClosed(const StatedSharding& stated);

// The tiles that a mark requires, if propagation may add nothing to them; nullopt if it states no such sharding.
absl::StatusOr<std::optional<TileAssignment>> ClosedBy(const HloInstruction& mark, const ShardingMeshes& meshes);

// Whether all marks and manual computations that use the value, which are not too many, require these tiles of it.
bool AllRequire(const HloInstruction& value, const TileAssignment& tiles, const ShardingMeshes& meshes);

// Removes the marks that leave all dimensions to propagation, or have none. JAX puts one on every value of a manual
// computation that leaves axes of its mesh automatic.
absl::Status RemoveOpenMarks(HloComputation* computation, const ShardingMeshes& meshes);

// Makes what uses a result of a loop, of branches or of a barrier use the mark that requires a closed sharding of it:
// the result itself is propagated together with all that flows into it.
void ReadThroughConstraints(HloModule* module, const ShardingMeshes& meshes);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_CONSTRAINTS_H_
