// All-to-all in its two forms: one array that is split along a dimension, or as many arrays as
// there are devices in a group.
#include "hlo/ops/collective/collective_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kAllToAll>(const OpView& op) {
  const auto& attributes = op.attrs<AllToAllAttrs>();
  HILO_RETURN_IF_ERROR(CheckCollectiveOperands(op));
  HILO_ASSIGN_OR_RETURN(const GroupFacts facts,
                        CheckReplicaGroups(op, attributes.replica_groups, attributes.channel_id.has_value(),
                                           std::nullopt));  // all_to_all_c5, c7, c8
  HILO_RETURN_IF_ERROR(CheckUniformGroups(op, attributes.replica_groups));
  if (!attributes.dimensions.empty()) {
    HILO_ASSIGN_OR_RETURN(const int64_t dimension, CheckTheDimension(op, attributes.dimensions));  // all_to_all_c1, c3
    if (op.operands.size() != 1) {
      return InvalidOp(op, "with a dimension there must be 1 operand, got ", op.operands.size());
    }
    if (facts.size.has_value() && op.operand(0).dimensions(dimension) % *facts.size != 0) {
      return InvalidOp(op, "dimension ", dimension, " of ", op.operand(0).ToString(), " must be divisible by ",
                       *facts.size,
                       ", the devices of a group");  // all_to_all_c2
    }
    return WithoutLayouts(op.operand(0));  // all_to_all_c9
  }
  const int64_t count = static_cast<int64_t>(op.operands.size());
  if (facts.size.has_value() && count != *facts.size) {
    return InvalidOp(op, "without a dimension there must be an operand for each of the ", *facts.size,
                     " devices of a group, got ", count);
  }
  std::vector<Shape> results;
  for (int64_t i = 0; i < count; ++i) {
    if (!ShapeUtil::Compatible(op.operand(i), op.operand(0))) {
      return InvalidOp(op, "operands must have one shape, but operand 0 is ", op.operand(0).ToString(), " and operand ",
                       i, " is ", op.operand(i).ToString());
    }
    results.push_back(op.operand(i));
  }
  return WithoutLayouts(Shape(std::move(results)));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kAllToAll>(const OpView& op, const Shape& shape, Operands operands) {
  if (shape.IsTuple() && operands.size() != 1) {
    return Unimplemented("all-to-all: ", operands.size(),
                         " operands are of as many devices, but the program runs on one");
  }
  return EvaluateAlone(op, shape, operands, op.attrs<AllToAllAttrs>().replica_groups);
}

}  // namespace hilo
