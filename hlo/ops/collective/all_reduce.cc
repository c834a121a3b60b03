// All-reduce, at once or as a pair of -start and -done: the start has the result's own shape.
#include "hlo/ops/collective/collective_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAllReduce>(const OpView& op) {
  const auto& attributes = op.attrs<AllReduceAttrs>();
  HILO_RETURN_IF_ERROR(CheckCollectiveOperands(op));
  HILO_RETURN_IF_ERROR(CheckReplicaGroups(op, attributes.replica_groups, attributes.channel_id.has_value(),
                                          attributes.use_global_device_ids)
                           .status());               // all_reduce_c1 .. c4
  HILO_RETURN_IF_ERROR(CheckCollectiveReducer(op));  // all_reduce_c5
  return OperandShapes(op);                          // all_reduce_c6, c7
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAllReduce>(const OpView& op, const Shape& shape, Operands operands) {
  return EvaluateAlone(op, shape, operands, op.attrs<AllReduceAttrs>().replica_groups);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAllReduceStart>(const OpView& op) {
  return Infer<HloOpcode::kAllReduce>(op);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAllReduceStart>(const OpView& op, const Shape& shape, Operands operands) {
  return Evaluate<HloOpcode::kAllReduce>(op, shape, operands);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAllReduceDone>(const OpView& op) {
  return WithoutLayouts(op.operand(0));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAllReduceDone>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(*operands[0]);
}

}  // namespace hilo
