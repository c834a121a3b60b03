// Replica-id and partition-id; alone, a device is replica 0 and partition 0.
#include "hlo/ops/table/op_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kReplicaId>(const OpView&) {
  return Shape(U32, {});
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kReplicaId>(const OpView&, const Shape&, Operands) {
  return LiteralUtil::CreateR0<uint32_t>(0);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kPartitionId>(const OpView&) {
  return Shape(U32, {});
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kPartitionId>(const OpView&, const Shape&, Operands) {
  return LiteralUtil::CreateR0<uint32_t>(0);
}

}  // namespace hilo
