#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"
#include "hlo/ops/table/scalar_computation.h"

namespace hilo {
namespace {

std::vector<PrimitiveType> ElementTypes(const OpView& op) {
  std::vector<PrimitiveType> types;
  for (const Shape* operand : op.operands) types.push_back(operand->element_type());
  return types;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kMap>(const OpView& op) {
  if (op.operands.empty()) return InvalidOp(op, "expected at least 1 operand, got 0");  // map_c1
  HILO_RETURN_IF_ERROR(CheckSameDimensions(op, 0, op.operands.size(), "operands"));     // map_c1, map_c2
  // map_c3: in text, an empty dimension list means all of them.
  const std::vector<int64_t>& dimensions = op.attrs<MapAttrs>().dimensions;
  const int64_t rank = op.operand(0).rank();
  bool all = static_cast<int64_t>(dimensions.size()) == rank;
  for (int64_t i = 0; all && i < rank; ++i) all = dimensions[i] == i;
  if (!all && !dimensions.empty()) {
    return InvalidOp(op, "dimensions = ", ListText(dimensions), " must be all ", rank, " of the operands, in order");
  }
  std::vector<Shape> scalars;
  for (PrimitiveType type : ElementTypes(op)) scalars.emplace_back(type, absl::Span<const int64_t>());
  std::vector<const Shape*> arguments;
  for (const Shape& scalar : scalars) arguments.push_back(&scalar);
  HILO_RETURN_IF_ERROR(CheckArguments(op, 0, arguments));  // map_c4
  const Shape& result = op.called[0]->result;
  if (!result.IsScalar()) return InvalidOp(op, "to_apply must return a scalar, but returns ", result.ToString());
  return WithoutLayouts(ShapeUtil::ChangeElementType(op.operand(0), result.element_type()));
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kMap>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  ScalarComputation function(op.computations[0], ElementTypes(op));
  const int64_t size = PrimitiveTypeByteSize(shape.element_type());
  uint8_t* out = result.untyped_data().data();
  const int64_t count = result.element_count();
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      function.SetArgument(k, operands[k]->untyped_data().data() + i * function.element_size(k));
    }
    HILO_RETURN_IF_ERROR(function.Call());
    std::memcpy(out + i * size, function.result(0), size);
  }
  return result;
}

}  // namespace hilo
