// Dynamic-slice and dynamic-update-slice: blocks whose start is known at run time, clamped so that
// they are in bounds. Starts are one integer scalar per dimension.
#include <algorithm>

#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// The operands from `first` on are start indices for an array of rank `rank`.
absl::Status CheckStarts(const OpView& op, int64_t first, int64_t rank) {
  const int64_t count = static_cast<int64_t>(op.operands.size()) - first;
  for (int64_t i = first; i < first + count; ++i) {
    if (!op.operand(i).IsArray() || !InTypeClass(op.operand(i).element_type(), kInt)) {
      return InvalidOp(op, "start indices must be integers, but operand ", i, " is ", op.operand(i).ToString());
    }
  }
  if (count != rank) return InvalidOp(op, "expected ", rank, " start indices, got ", count);  // dynamic_slice_c2
  for (int64_t i = first; i < first + count; ++i) {
    if (!op.operand(i).IsScalar()) {
      return InvalidOp(op, "start indices must be scalars, but operand ", i, " is ", op.operand(i).ToString());
    }
    if (op.operand(i).element_type() != op.operand(first).element_type()) {  // dynamic_slice_c3
      return InvalidOp(op, "start indices must have one type, but operand ", first, " is ",
                       op.operand(first).ToString(), " and operand ", i, " is ", op.operand(i).ToString());
    }
  }
  return absl::OkStatus();
}

// Where a block of `sizes` starts in an array of `dimensions`.
std::vector<int64_t> ClampedStarts(Operands starts, absl::Span<const int64_t> dimensions,
                                   absl::Span<const int64_t> sizes) {
  std::vector<int64_t> clamped;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    clamped.push_back(std::clamp<int64_t>(starts[i]->GetAsInt64(0), 0, dimensions[i] - sizes[i]));
  }
  return clamped;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kDynamicSlice>(const OpView& op) {
  if (op.operands.empty()) return InvalidOp(op, "expected an operand and start indices, got no operands");
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "operand"));
  const Shape& operand = op.operand(0);
  HILO_RETURN_IF_ERROR(CheckStarts(op, 1, operand.rank()));
  const std::vector<int64_t>& sizes = op.attrs<DynamicSliceAttrs>().dynamic_slice_sizes;
  if (static_cast<int64_t>(sizes.size()) != operand.rank()) {  // dynamic_slice_c2
    return InvalidOp(op, "dynamic_slice_sizes = ", ListText(sizes), " has ", sizes.size(),
                     " entries, but the operand has rank ", operand.rank());
  }
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (sizes[i] < 0 || sizes[i] > operand.dimensions(i)) {  // dynamic_slice_c4
      return InvalidOp(op, "dynamic_slice_sizes[", i, "] = ", sizes[i], " is not in [0, ", operand.dimensions(i),
                       "], the operand's size");
    }
  }
  return Shape(operand.element_type(), sizes);  // dynamic_slice_c1, c5
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kDynamicSlice>(const OpView&, const Shape& shape, Operands operands) {
  const Literal& operand = *operands[0];
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  const auto dimensions = operand.shape().dimensions();
  const std::vector<int64_t> starts = ClampedStarts(operands.subspan(1), dimensions, shape.dimensions());
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(dimensions);
  StridedCopy(shape.dimensions(), operand, {DotProduct(starts, strides), strides}, &result, StridedWalk::Over(shape));
  return result;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kDynamicUpdateSlice>(const OpView& op) {
  if (op.operands.size() < 2) {
    return InvalidOp(op, "expected an operand, an update and start indices, got ", op.operands.size(), " operands");
  }
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "operand"));
  HILO_RETURN_IF_ERROR(CheckArray(op, 1, "update"));
  const Shape& operand = op.operand(0);
  const Shape& update = op.operand(1);
  if (update.element_type() != operand.element_type()) {  // dynamic_update_slice_c2
    return InvalidOp(op, "update must be of type ", PrimitiveTypeName(operand.element_type()), ", but is ",
                     update.ToString());
  }
  if (update.rank() != operand.rank()) {  // dynamic_update_slice_c3
    return InvalidOp(op, "update must have the operand's rank ", operand.rank(), ", but is ", update.ToString());
  }
  HILO_RETURN_IF_ERROR(CheckStarts(op, 2, operand.rank()));  // dynamic_update_slice_c4, c5
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (update.dimensions(i) > operand.dimensions(i)) {  // dynamic_update_slice_c6
      return InvalidOp(op, "update has size ", update.dimensions(i), " in dimension ", i, ", but the operand has ",
                       operand.dimensions(i));
    }
  }
  return WithoutLayouts(operand);  // dynamic_update_slice_c1
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kDynamicUpdateSlice>(const OpView&, const Shape&, Operands operands) {
  const Literal& update = *operands[1];
  HILO_ASSIGN_OR_RETURN(Literal result, CopyOf(*operands[0]));
  const auto dimensions = result.shape().dimensions();
  const auto sizes = update.shape().dimensions();
  const std::vector<int64_t> starts = ClampedStarts(operands.subspan(2), dimensions, sizes);
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(dimensions);
  StridedCopy(sizes, update, StridedWalk::Over(update.shape()), &result, {DotProduct(starts, strides), strides});
  return result;
}

}  // namespace hilo
