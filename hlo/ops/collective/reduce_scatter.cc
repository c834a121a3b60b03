#include "hlo/ops/collective/collective_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kReduceScatter>(const OpView& op) {
  const auto& attributes = op.attrs<ReduceScatterAttrs>();
  HILO_RETURN_IF_ERROR(CheckCollectiveOperands(op));
  HILO_ASSIGN_OR_RETURN(const int64_t dimension, CheckTheDimension(op, attributes.dimensions));  // reduce_scatter_c2
  HILO_ASSIGN_OR_RETURN(const GroupFacts facts,
                        CheckReplicaGroups(op, attributes.replica_groups, attributes.channel_id.has_value(),
                                           attributes.use_global_device_ids));  // reduce_scatter_c3 .. c6
  HILO_RETURN_IF_ERROR(CheckUniformGroups(op, attributes.replica_groups));
  HILO_RETURN_IF_ERROR(CheckCollectiveReducer(op));  // reduce_scatter_c7
  if (op.stated == nullptr && !facts.size.has_value()) {
    return InvalidOp(op, "the result shape must be stated where replica_groups do not give it");
  }
  const size_t count = op.operands.size();
  if (op.stated != nullptr && count != 1 &&
      (!op.stated->IsTuple() || op.stated->tuple_shapes_size() != static_cast<int64_t>(count))) {
    return InvalidOp(op, "expected a tuple of ", count, " results, got ", op.stated->ToString());
  }
  std::vector<Shape> results;
  for (size_t i = 0; i < count; ++i) {
    const Shape& operand = op.operand(i);
    std::optional<int64_t> shards = facts.size;
    if (!shards.has_value()) {
      const Shape& result = count == 1 ? *op.stated : op.stated->tuple_shapes(i);
      if (!result.IsArray() || result.rank() != operand.rank()) {
        return InvalidOp(op, "result ", result.ToString(), " must have the rank of operand ", operand.ToString());
      }
      shards = operand.dimensions(dimension) == 0 ? 1 : ShardCount(operand, result, dimension);
    }
    if (!shards.has_value() || operand.dimensions(dimension) % *shards != 0) {
      return InvalidOp(op, "dimension ", dimension, " of ", operand.ToString(),
                       " must be divisible by the number of shards");  // reduce_scatter_c1
    }
    Shape& shape = results.emplace_back(operand);
    shape.set_dimensions(dimension, operand.dimensions(dimension) / *shards);  // reduce_scatter_c8
  }
  return CollateShapes(std::move(results));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kReduceScatter>(const OpView& op, const Shape& shape, Operands operands) {
  return EvaluateAlone(op, shape, operands, op.attrs<ReduceScatterAttrs>().replica_groups);
}

}  // namespace hilo
