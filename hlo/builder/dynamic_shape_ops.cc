#include "base/errors.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/movement/dimension_size_attributes.h"

namespace hilo {
namespace {

std::unique_ptr<OpAttributes> Dimension(int64_t dimension) {
  auto attributes = std::make_unique<DimensionSizeAttrs>();
  attributes->dimensions = {dimension};
  return attributes;
}

}  // namespace

XlaOp GetDimensionSize(XlaOp operand, int64_t dimension) {
  if (operand.builder() == nullptr) return XlaOp();
  return AddOp(operand.builder(), HloOpcode::kGetDimensionSize, {operand}, Dimension(dimension));
}

XlaOp SetDimensionSize(XlaOp operand, XlaOp val, int64_t dimension) {
  if (operand.builder() == nullptr) return XlaOp();
  return AddOp(operand.builder(), HloOpcode::kSetDimensionSize, {operand, val}, Dimension(dimension));
}

XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  const absl::StatusOr<Shape> shape = builder->GetShape(operand);
  if (!shape.ok() || !shape->IsArray() || dimension < 0 || dimension >= shape->rank()) {
    return AddOp(builder, HloOpcode::kGetDimensionSize, {operand}, Dimension(dimension));  // reports the error
  }
  Shape result = *shape;
  result.set_dynamic_dimension(dimension, false);
  const XlaOp bound = ConstantR0<int32_t>(builder, static_cast<int32_t>(shape->dimensions(dimension)));
  return AddOp(builder, HloOpcode::kSetDimensionSize, {operand, bound}, Dimension(dimension), {}, &result);
}

XlaOp DynamicReshape(XlaOp operand, absl::Span<const XlaOp> dim_sizes, absl::Span<const int64_t> new_size_bounds,
                     const std::vector<bool>& dims_are_dynamic) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  const absl::StatusOr<Shape> shape = builder->GetShape(operand);
  if (!shape.ok()) return builder->ReportError(shape.status());
  if (dims_are_dynamic.size() != new_size_bounds.size()) {
    return builder->ReportError(InvalidArgument("DynamicReshape: expected a flag for each of the ",
                                                new_size_bounds.size(), " bounds, got ", dims_are_dynamic.size()));
  }
  std::vector<XlaOp> operands = {operand};
  operands.insert(operands.end(), dim_sizes.begin(), dim_sizes.end());
  const Shape result = ShapeUtil::MakeShape(shape->element_type(), new_size_bounds, dims_are_dynamic);
  return AddOp(builder, HloOpcode::kDynamicReshape, operands, nullptr, {}, &result);
}

}  // namespace hilo
