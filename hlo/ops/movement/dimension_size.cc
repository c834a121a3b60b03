// The size of a dimension at run time: reading it, and setting it below the bound that the shape states.
#include <algorithm>

#include "hlo/ops/movement/dimension_size_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// Operand 0 is an array, and the attribute names one of its dimensions.
absl::Status CheckDimension(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "operand"));
  const std::vector<int64_t>& dimensions = op.attrs<DimensionSizeAttrs>().dimensions;
  if (dimensions.size() != 1) return InvalidOp(op, "expected one dimension, got ", ListText(dimensions));
  return CheckDimensions(op, "dimensions", dimensions, op.operand(0).rank(), "operand");
}

absl::Status CheckSize(const OpView& op, int64_t i) {
  const Shape& size = op.operand(i);
  if (size.IsScalar() && size.element_type() == S32) return absl::OkStatus();
  return InvalidOp(op, "a size is an s32[], but operand ", i, " is ", size.ToString());
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kGetDimensionSize>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckDimension(op));  // get_dimension_size_c1
  return ShapeUtil::MakeScalarShape(S32);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kGetDimensionSize>(const OpView& op, const Shape&, Operands operands) {
  return LiteralUtil::CreateR0<int32_t>(
      static_cast<int32_t>(operands[0]->GetDynamicSize(op.attrs<DimensionSizeAttrs>().dimensions[0])));
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kSetDimensionSize>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckDimension(op));
  HILO_RETURN_IF_ERROR(CheckSize(op, 1));
  Shape result = WithoutLayouts(op.operand(0));
  // A shape that states the dimension as static is taken at its word: the size may be the bound, or is known from the
  // instruction alone.
  const int64_t dimension = op.attrs<DimensionSizeAttrs>().dimensions[0];
  const bool stated_static =
      op.stated != nullptr && ShapeUtil::Compatible(*op.stated, result) && !op.stated->is_dynamic_dimension(dimension);
  result.set_dynamic_dimension(dimension, !stated_static);
  return result;
}
// All elements stay, also those beyond the size: setting a larger one brings them back.
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kSetDimensionSize>(const OpView& op, const Shape&, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, CopyOf(*operands[0]));
  result.SetDynamicSize(op.attrs<DimensionSizeAttrs>().dimensions[0], operands[1]->GetFirstElement<int32_t>());
  return result;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kDynamicReshape>(const OpView& op) {
  if (op.operands.empty()) return InvalidOp(op, "expected an operand and sizes, got no operands");
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "operand"));
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  const Shape& operand = op.operand(0);
  if (operand.element_type() != op.stated->element_type()) {
    return InvalidOp(op, "result ", op.stated->ToString(), " must have the operand's element type, ",
                     PrimitiveTypeName(operand.element_type()));
  }
  if (static_cast<int64_t>(op.operands.size()) != 1 + op.stated->rank()) {
    return InvalidOp(op, "expected a size for each of the ", op.stated->rank(), " dimensions of the result, got ",
                     op.operands.size() - 1);
  }
  for (size_t i = 1; i < op.operands.size(); ++i) HILO_RETURN_IF_ERROR(CheckSize(op, static_cast<int64_t>(i)));
  if (ShapeUtil::ElementsIn(operand) != ShapeUtil::ElementsIn(*op.stated)) {
    return InvalidOp(op, "operand ", operand.ToString(), " and result ", op.stated->ToString(),
                     " must have as many elements at their bounds");
  }
  return *op.stated;
}
// The elements that count, in row-major order, under the sizes given; what they do not fill is zero.
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kDynamicReshape>(const OpView&, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(const Literal elements, operands[0]->ToStatic());
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = operands[1 + d]->GetFirstElement<int32_t>();
    sizes.push_back(shape.is_dynamic_dimension(d) ? std::clamp<int64_t>(size, 0, shape.dimensions(d))
                                                  : shape.dimensions(d));
  }
  HILO_ASSIGN_OR_RETURN(Literal packed, Literal::Create(Shape(shape.element_type(), sizes)));
  const auto from = elements.untyped_data();
  const auto to = packed.untyped_data();
  std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
  return packed.ToBoundedDynamic(shape);
}

}  // namespace hilo
