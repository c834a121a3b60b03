// All-gather, synchronous or as a pair of -start and -done. An op without groups does not determine the number
// of shards, so it is derived from the stated result.
#include "hlo/ops/collective/async_shapes.h"
#include "hlo/ops/collective/collective_checks.h"

namespace hilo {
namespace {

// Checks everything; `stated` is the result as stated, or null.
absl::StatusOr<Shape> InferGathered(const OpView& op, const Shape* stated) {
  const auto& attributes = op.attrs<AllGatherAttrs>();
  HILO_RETURN_IF_ERROR(CheckCollectiveOperands(op));
  HILO_ASSIGN_OR_RETURN(const int64_t dimension, CheckTheDimension(op, attributes.dimensions));  // all_gather_c1
  HILO_ASSIGN_OR_RETURN(const GroupFacts facts,
                        CheckReplicaGroups(op, attributes.replica_groups, attributes.channel_id.has_value(),
                                           attributes.use_global_device_ids));  // all_gather_c2 .. c5
  HILO_RETURN_IF_ERROR(CheckUniformGroups(op, attributes.replica_groups));
  if (stated == nullptr && !facts.size.has_value()) {
    return InvalidOp(op, "the result shape must be stated where replica_groups do not give it");
  }
  const size_t count = op.operands.size();
  if (stated != nullptr && count != 1 &&
      (!stated->IsTuple() || stated->tuple_shapes_size() != static_cast<int64_t>(count))) {
    return InvalidOp(op, "expected a tuple of ", count, " results, got ", stated->ToString());
  }
  std::vector<Shape> results;
  for (size_t i = 0; i < count; ++i) {
    const Shape& operand = op.operand(i);
    const Shape* result = stated == nullptr ? nullptr : count == 1 ? stated : &stated->tuple_shapes(i);
    std::optional<int64_t> shards = facts.size;
    if (!shards.has_value()) {
      if (!result->IsArray() || result->rank() != operand.rank()) {
        return InvalidOp(op, "result ", result->ToString(), " must have the rank of operand ", operand.ToString());
      }
      shards = operand.dimensions(dimension) == 0 ? 1 : ShardCount(*result, operand, dimension);
      if (!shards.has_value()) {
        return InvalidOp(op, "dimension ", dimension, " of the result ", result->ToString(),
                         " must be a multiple of that of the operand ", operand.ToString());
      }
    }
    Shape& shape = results.emplace_back(operand);  // all_gather_c6
    int64_t size;
    if (__builtin_mul_overflow(operand.dimensions(dimension), *shards, &size))
      return InvalidOp(op, "the result of ", *shards, " shards is too large");
    shape.set_dimensions(dimension, size);
  }
  return CollateShapes(std::move(results));
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAllGather>(const OpView& op) {
  return InferGathered(op, op.stated);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAllGather>(const OpView& op, const Shape& shape, Operands operands) {
  return EvaluateAlone(op, shape, operands, op.attrs<AllGatherAttrs>().replica_groups);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAllGatherStart>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckStartShape(op));
  HILO_ASSIGN_OR_RETURN(Shape result, InferGathered(op, op.stated == nullptr ? nullptr : &op.stated->tuple_shapes(1)));
  return StartShape(op, OperandShapes(op), std::move(result));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAllGatherStart>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Evaluate<HloOpcode::kAllGather>(op, shape.tuple_shapes(1), operands));
  return StartedLiteral(shape, operands, std::move(result));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAllGatherDone>(const OpView& op) {
  return InferDone(op);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAllGatherDone>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(operands[0]->element(1));
}

}  // namespace hilo
