// The first device of each group sends; devices in no group get zeros.
#include "absl/container/flat_hash_set.h"
#include "hlo/ops/collective/collective_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCollectiveBroadcast>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckCollectiveOperands(op));
  absl::flat_hash_set<int64_t> seen;
  for (const auto& group : op.attrs<CollectiveBroadcastAttrs>().replica_groups.groups) {
    if (group.empty()) return InvalidOp(op, "replica_groups holds an empty group");
    for (int64_t id : group) {
      if (id < 0)  // collective_broadcast_c2
        return InvalidOp(op, "replica_groups hold the negative id ", id);
      if (!seen.insert(id).second)  // collective_broadcast_c1
        return InvalidOp(op, "replica_groups hold id ", id, " twice");
    }
  }
  return OperandShapes(op);  // collective_broadcast_c3
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCollectiveBroadcast>(const OpView& op, const Shape& shape,
                                                                  Operands operands) {
  return EvaluateAlone(op, shape, operands, op.attrs<CollectiveBroadcastAttrs>().replica_groups);
}

}  // namespace hilo
