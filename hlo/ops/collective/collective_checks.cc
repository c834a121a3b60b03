#include "hlo/ops/collective/collective_checks.h"

#include <utility>

namespace hilo {

absl::Status CheckCollectiveOperands(const OpView& op) {
  if (op.operands.empty()) return InvalidOp(op, "expected at least 1 operand, got 0");
  return CheckArrayOperands(op);
}

absl::StatusOr<GroupFacts> CheckReplicaGroups(const OpView& op, const ReplicaGroups& groups, bool has_channel_id,
                                              std::optional<bool> use_global_device_ids) {
  auto mode = GetCollectiveOpGroupMode(has_channel_id, use_global_device_ids);
  if (!mode.ok()) return InvalidOp(op, mode.status().message());
  GroupFacts facts{.mode = *mode};
  if (groups.groups.empty()) {
    if (*mode == CollectiveOpGroupMode::kFlattenedID) {
      return InvalidOp(op, "use_global_device_ids=true needs replica_groups");
    }
    return facts;
  }
  const int64_t count = groups.id_count();
  std::vector<bool> seen(count, false);
  for (const std::vector<int64_t>& group : groups.groups) {
    if (group.empty()) return InvalidOp(op, "replica_groups holds an empty group");
    for (int64_t id : group) {
      if (id < 0 || id >= count) {
        return InvalidOp(op, "replica_groups of ", count, " ids must hold 0 to ", count - 1, ", but hold ", id);
      }
      if (seen[id]) return InvalidOp(op, "replica_groups hold id ", id, " twice");
      seen[id] = true;
    }
  }
  if (*mode != CollectiveOpGroupMode::kCrossReplicaAndPartition) {
    facts.size = static_cast<int64_t>(groups.groups[0].size());
    for (const std::vector<int64_t>& group : groups.groups) {
      if (static_cast<int64_t>(group.size()) != facts.size) facts.size.reset();
      if (!facts.size.has_value()) break;
    }
  }
  return facts;
}

absl::Status CheckUniformGroups(const OpView& op, const ReplicaGroups& groups) {
  for (const std::vector<int64_t>& group : groups.groups) {
    if (group.size() != groups.groups[0].size()) {
      return InvalidOp(op, "replica_groups must be of one size, but there are groups of ", groups.groups[0].size(),
                       " and ", group.size(), " ids");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CheckTheDimension(const OpView& op, absl::Span<const int64_t> dimensions) {
  if (dimensions.size() != 1) return InvalidOp(op, "expected one dimension, got dimensions = ", ListText(dimensions));
  for (const Shape* operand : op.operands) {
    HILO_RETURN_IF_ERROR(CheckDimensions(op, "dimensions", dimensions, operand->rank(), "operand"));
  }
  return dimensions[0];
}

absl::Status CheckCollectiveReducer(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckSameElementTypes(op));
  const PrimitiveType type = op.operand(0).element_type();
  return CheckReducer(op, {type});
}

Shape OperandShapes(const OpView& op) {
  std::vector<Shape> shapes;
  for (const Shape* operand : op.operands) shapes.push_back(*operand);
  return CollateShapes(std::move(shapes));
}

std::optional<int64_t> ShardCount(const Shape& whole, const Shape& part, int64_t dimension) {
  const int64_t size = part.dimensions(dimension), total = whole.dimensions(dimension);
  if (size == 0 || total % size != 0) return std::nullopt;
  return total / size;
}

absl::StatusOr<Literal> EvaluateAlone(const OpView& op, const Shape& shape, Operands operands,
                                      const ReplicaGroups& groups) {
  if (groups.id_count() > 1) {
    return Unimplemented(HloOpcodeString(op.opcode), ": replica_groups name ", groups.id_count(),
                         " devices, but the program runs on one");
  }
  std::vector<Literal> results;
  for (const Literal* operand : operands) {
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), CopyOf(*operand));
  }
  Literal result = shape.IsTuple() ? Literal::MakeTuple(std::move(results)) : CollateLiterals(std::move(results));
  if (ShapeUtil::Compatible(result.shape(), shape)) return result;
  return Unimplemented(HloOpcodeString(op.opcode), ": the result ", shape.ToString(),
                       " is of several devices, but the program runs on one");
}

}  // namespace hilo
