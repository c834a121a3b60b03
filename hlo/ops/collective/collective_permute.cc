// Collective-permute, at once or as a pair of -start and -done. Several operands travel together.
#include "absl/container/flat_hash_set.h"
#include "hlo/ops/collective/async_shapes.h"
#include "hlo/ops/collective/collective_checks.h"

namespace hilo {
namespace {

absl::Status CheckPairs(const OpView& op) {
  const auto& attributes = op.attrs<CollectivePermuteAttrs>();
  if (!attributes.slice_sizes.empty()) {
    return Unimplemented(HloOpcodeString(op.opcode),
                         ": the form with slice_sizes, which sends slices of buffers, is not "
                         "supported");
  }
  absl::flat_hash_set<int64_t> sources, targets;
  for (const auto& [source, target] : attributes.source_target_pairs.pairs) {
    if (source < 0 || target < 0) {  // collective_permute_c4
      return InvalidOp(op, "source_target_pairs hold the negative id ", std::min(source, target));
    }
    if (!sources.insert(source).second)  // collective_permute_c2
      return InvalidOp(op, "source_target_pairs name source ", source, " twice");
    if (!targets.insert(target).second)  // collective_permute_c3
      return InvalidOp(op, "source_target_pairs name target ", target, " twice");
  }
  return absl::OkStatus();
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCollectivePermute>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckCollectiveOperands(op));
  HILO_RETURN_IF_ERROR(CheckPairs(op));
  return OperandShapes(op);  // collective_permute_c5
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCollectivePermute>(const OpView& op, const Shape& shape,
                                                                Operands operands) {
  bool to_itself = false;
  for (const auto& [source, target] : op.attrs<CollectivePermuteAttrs>().source_target_pairs.pairs) {
    if (source != 0 || target != 0) {
      return Unimplemented("collective-permute: source_target_pairs name device ", std::max(source, target),
                           ", but the program runs on one");
    }
    to_itself = true;
  }
  if (!to_itself) return Literal::Create(shape);  // zeros: no sender
  return EvaluateAlone(op, shape, operands, {});
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCollectivePermuteStart>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckStartShape(op));
  HILO_ASSIGN_OR_RETURN(Shape result, Infer<HloOpcode::kCollectivePermute>(op));
  return StartShape(op, OperandShapes(op), std::move(result));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCollectivePermuteStart>(const OpView& op, const Shape& shape,
                                                                     Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Evaluate<HloOpcode::kCollectivePermute>(op, shape.tuple_shapes(1), operands));
  return StartedLiteral(shape, operands, std::move(result));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCollectivePermuteDone>(const OpView& op) {
  return InferDone(op);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCollectivePermuteDone>(const OpView&, const Shape&, Operands operands) {
  return CopyOf(operands[0]->element(1));
}

}  // namespace hilo
