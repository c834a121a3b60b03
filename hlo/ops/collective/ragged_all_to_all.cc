// Ragged all-to-all: each device sends slices of rows of its input to each device of its group, and
// states at which rows of that device's output they go.
//
// Operands: input, output, input_offsets, send_sizes, output_offsets, recv_sizes. Entry i * k + j
// of the last four is about update j of the k that go to, or for recv_sizes come from, device i.
#include <algorithm>

#include "hlo/ops/collective/collective_checks.h"

namespace hilo {
namespace {

// Rows [start, start + count) are among `rows`.
bool RowsFit(int64_t start, int64_t count, int64_t rows) {
  return start >= 0 && count >= 0 && start <= rows && count <= rows - start;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kRaggedAllToAll>(const OpView& op) {
  const auto& attributes = op.attrs<RaggedAllToAllAttrs>();
  if (op.operands.size() != 6) {
    return InvalidOp(op, "expects 6 operands, got ", op.operands.size());
  }
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_ASSIGN_OR_RETURN(const GroupFacts facts, CheckReplicaGroups(op, attributes.replica_groups,
                                                                   attributes.channel_id.has_value(), std::nullopt));
  HILO_RETURN_IF_ERROR(CheckUniformGroups(op, attributes.replica_groups));
  const Shape& input = op.operand(0);
  const Shape& output = op.operand(1);
  bool fits = input.rank() >= 1 && input.rank() == output.rank() && input.element_type() == output.element_type();
  for (int64_t d = 1; fits && d < input.rank(); ++d) fits = input.dimensions(d) == output.dimensions(d);
  if (!fits) {
    return InvalidOp(op, "input and output must be rows of one shape and type, but are ", input.ToString(), " and ",
                     output.ToString());
  }
  for (int64_t i = 2; i < 6; ++i) {
    const Shape& sizes = op.operand(i);
    const PrimitiveType type = sizes.element_type();
    if ((type != S32 && type != S64) || type != op.operand(2).element_type() || sizes.rank() != 1 ||
        sizes.dimensions(0) != op.operand(2).dimensions(0)) {
      return InvalidOp(op, "offsets and sizes must be s32 or s64 vectors of one type and length, but operand ", i,
                       " is ", sizes.ToString());
    }
  }
  if (facts.size.has_value() && op.operand(2).dimensions(0) % *facts.size != 0) {
    return InvalidOp(op, "the ", op.operand(2).dimensions(0), " offsets must be as many for each of the ", *facts.size,
                     " devices of a group");
  }
  return WithoutLayouts(output);
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kRaggedAllToAll>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(
      Literal result, EvaluateAlone(op, shape, operands.subspan(1, 1), op.attrs<RaggedAllToAllAttrs>().replica_groups));
  const Literal& input = *operands[0];
  const int64_t rows = std::max<int64_t>(input.shape().dimensions(0), 1);
  const int64_t row = static_cast<int64_t>(input.untyped_data().size()) / rows;
  for (int64_t i = 0; i < operands[2]->element_count(); ++i) {
    const int64_t from = operands[2]->GetAsInt64(i), count = operands[3]->GetAsInt64(i);
    const int64_t to = operands[4]->GetAsInt64(i);
    if (!RowsFit(from, count, input.shape().dimensions(0)) || !RowsFit(to, count, shape.dimensions(0))) {
      return InvalidOp(op, "update ", i, " of ", count, " rows from row ", from, " to row ", to, " leaves the input ",
                       input.shape().ToString(), " or the output ", shape.ToString());
    }
    if (row > 0 && count > 0) {
      std::copy_n(input.untyped_data().data() + from * row, count * row, result.untyped_data().data() + to * row);
    }
  }
  return result;
}

}  // namespace hilo
