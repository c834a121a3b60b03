// Checks shared by the inference of several collectives, and the semantics of a collective on one device.
// Private to hlo/ops.
#ifndef HILO_HLO_OPS_COLLECTIVE_COLLECTIVE_CHECKS_H_
#define HILO_HLO_OPS_COLLECTIVE_COLLECTIVE_CHECKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

// The groups of an op, as far as the op alone determines them.
struct GroupFacts {
  CollectiveOpGroupMode mode;
  // Devices in each group; absent if it depends on the number of devices, or groups differ in size.
  std::optional<int64_t> size;
};

// At least one operand, all of them arrays.
absl::Status CheckCollectiveOperands(const OpView& op);

// No group is empty, and each id from 0 on is in one group. `use_global_device_ids` is absent for
// ops without that attribute.
absl::StatusOr<GroupFacts> CheckReplicaGroups(const OpView& op, const ReplicaGroups& groups, bool has_channel_id,
                                              std::optional<bool> use_global_device_ids);
// Groups are of one size: for ops whose shape depends on it.
absl::Status CheckUniformGroups(const OpView& op, const ReplicaGroups& groups);

// dimensions={d} of an op that has just one; a dimension of every operand.
absl::StatusOr<int64_t> CheckTheDimension(const OpView& op, absl::Span<const int64_t> dimensions);

// to_apply takes two scalars of the operands' one element type, and returns one.
absl::Status CheckCollectiveReducer(const OpView& op);

// Shapes of the operands, collated.
Shape OperandShapes(const OpView& op);

// The number of shards of the result shape `whole`, of which `part` is one, along `dimension`; absent if part is no
// shard, or both are empty there, which leaves it open.
std::optional<int64_t> ShardCount(const Shape& whole, const Shape& part, int64_t dimension);

// Evaluates a collective on a single device: its operands. Errors: Unimplemented if the groups or
// the shape require more devices.
absl::StatusOr<Literal> EvaluateAlone(const OpView& op, const Shape& shape, Operands operands,
                                      const ReplicaGroups& groups);

}  // namespace hilo

#endif  // HILO_HLO_OPS_COLLECTIVE_COLLECTIVE_CHECKS_H_
