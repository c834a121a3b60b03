// Operations whose sizes are operands. HLO's are not, so the sizes must be known here: constants, or computed from
// constants. Sizes that the operation's type leaves open are then inferred. Where the type states them, some of the
// other operands need not be known.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/op_movement.h"
#include "hlo/ops/movement/dimension_size_attributes.h"

namespace hilo::stablehlo {
namespace {

// The result's shape: as stated, or of the sizes in `operand`.
absl::StatusOr<Shape> SizedShape(const OpConversion& c, HloInstruction* operand) {
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const Type& type = c.ResultType();
  if (type.kind != Type::Kind::kTensor || type.IsStatic()) return c.ResultShape();
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.ConstantIntegers(operand, "sizes"));
  Shape shape(type.element, sizes);
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  return shape;
}

absl::StatusOr<Results> DynamicBroadcastInDim(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_ASSIGN_OR_RETURN(const Shape shape, SizedShape(c, c.operands[1]));
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> dimensions, c.Integers("broadcast_dimensions"));
  return c.Split(BroadcastInDim(c, c.operands[0], shape, std::move(dimensions)));
}

absl::StatusOr<Results> DynamicReshape(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_ASSIGN_OR_RETURN(const Shape shape, SizedShape(c, c.operands[1]));
  return c.Split(c.Add(HloOpcode::kReshape, {c.operands[0]}, nullptr, {}, &shape));
}

absl::StatusOr<Results> DynamicIota(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const Shape shape, SizedShape(c, c.operands[0]));
  return c.Split(Iota(c, shape));
}

// Sizes of slices, from those of the result: 1 along dimensions that it lacks.
absl::StatusOr<std::vector<int64_t>> SliceSizes(const OpConversion& c) {
  HILO_ASSIGN_OR_RETURN(const Shape result, c.ResultShape());
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets, c.Integers("offset_dims"));
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> missing, c.Integers("collapsed_slice_dims"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> batch, c.Integers("operand_batching_dims"));
  missing.insert(missing.end(), batch.begin(), batch.end());
  std::vector<int64_t> sizes;
  size_t next = 0;
  for (int64_t d = 0; d < c.operands[0]->shape().rank(); ++d) {
    if (std::find(missing.begin(), missing.end(), d) != missing.end()) {
      sizes.push_back(1);
      continue;
    }
    if (next == offsets.size() || offsets[next] < 0 || offsets[next] >= result.rank())
      return InvalidArgument("expected a dimension of ", result.ToString(), " in offset_dims for dimension ", d);
    sizes.push_back(result.dimensions(offsets[next++]));
  }
  return sizes;
}

absl::StatusOr<Results> DynamicGather(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(3));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  absl::StatusOr<std::vector<int64_t>> sizes = c.ConstantIntegers(c.operands[2], "slice sizes");
  if (!sizes.ok() && c.ResultType().IsStatic()) sizes = SliceSizes(c);
  if (!sizes.ok()) return sizes.status();
  return c.Split(Gather(c, *std::move(sizes)));
}

// Elements at low + index * (interior + 1) of an array full of the padding value; elements that are cut off lie outside
// of it.
absl::StatusOr<HloInstruction*> ScatterPadded(OpConversion& c, const Shape& result) {
  HloInstruction *const operand = c.operands[0], *const value = c.operands[1];
  const int64_t rank = operand->shape().rank();
  if (rank == 0) return operand;
  std::vector<int64_t> column(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  column.push_back(1);
  const Shape column_shape(S64, column);
  std::vector<HloInstruction*> columns;
  for (int64_t d = 0; d < rank; ++d) {
    auto iota = std::make_unique<IotaAttrs>();
    iota->iota_dimension = d;
    HILO_ASSIGN_OR_RETURN(columns.emplace_back(), c.Add(HloOpcode::kIota, {}, std::move(iota), {}, &column_shape));
  }
  auto side_by_side = std::make_unique<ConcatenateAttrs>();
  side_by_side->dimensions = {rank};
  HILO_ASSIGN_OR_RETURN(HloInstruction * at, c.Add(HloOpcode::kConcatenate, columns, std::move(side_by_side)));
  const Shape indices = at->shape();
  const auto of_each_element = [&](HloInstruction* paddings) -> absl::StatusOr<HloInstruction*> {
    const Shape wide = ShapeUtil::ChangeElementType(paddings->shape(), S64);
    HILO_ASSIGN_OR_RETURN(paddings, c.Add(HloOpcode::kConvert, {paddings}, nullptr, {}, &wide));
    return BroadcastInDim(c, paddings, indices, {rank});
  };
  HILO_ASSIGN_OR_RETURN(HloInstruction * low, of_each_element(c.operands[2]));
  HILO_ASSIGN_OR_RETURN(HloInstruction * interior, of_each_element(c.operands[4]));
  HILO_ASSIGN_OR_RETURN(HloInstruction * holes, c.Add(HloOpcode::kMultiply, {at, interior}));
  HILO_ASSIGN_OR_RETURN(at, c.Add(HloOpcode::kAdd, {at, holes}));
  HILO_ASSIGN_OR_RETURN(at, c.Add(HloOpcode::kAdd, {at, low}));

  HILO_ASSIGN_OR_RETURN(HloInstruction * padding, BroadcastInDim(c, value, result, {}));
  auto attributes = std::make_unique<ScatterAttrs>();
  for (int64_t d = 0; d < rank; ++d) {
    attributes->inserted_window_dims.push_back(d);
    attributes->scatter_dims_to_operand_dims.push_back(d);
  }
  attributes->index_vector_dim = rank;
  attributes->unique_indices = true;
  HloComputation* second = c.state.module->AddComputation("second");
  for (int64_t number : {0, 1}) {
    second->AddInstruction(HloInstruction::CreateParameter(number, value->shape(), absl::StrCat("arg", number)));
  }
  HILO_RETURN_IF_ERROR(second->set_root_instruction(second->parameter_instruction(1)));
  return c.Add(HloOpcode::kScatter, {padding, at, operand}, std::move(attributes), {second});
}

// Where the sizes of the result are stated, the paddings may be anything.
absl::StatusOr<Results> DynamicPad(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(5));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const absl::StatusOr<std::vector<int64_t>> low = c.ConstantIntegers(c.operands[2], "paddings");
  const absl::StatusOr<std::vector<int64_t>> high = c.ConstantIntegers(c.operands[3], "paddings");
  const absl::StatusOr<std::vector<int64_t>> interior = c.ConstantIntegers(c.operands[4], "paddings");
  if (low.ok() && high.ok() && interior.ok()) return c.Split(Pad(c, *low, *high, *interior));
  if (!c.ResultType().IsStatic()) return !low.ok() ? low.status() : !high.ok() ? high.status() : interior.status();
  HILO_ASSIGN_OR_RETURN(const Shape result, c.ResultShape());
  if (result.rank() != c.operands[0]->shape().rank())
    return InvalidArgument("a result of ", result.ToString(), " from ", c.operands[0]->shape().ToString());
  return c.Split(ScatterPadded(c, result));
}

absl::StatusOr<Results> DynamicConvolution(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(3));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> flat, c.ConstantIntegers(c.operands[2], "paddings"));
  if (flat.size() % 2 != 0) return InvalidArgument("expected pairs as padding, got ", flat.size(), " integers");
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (size_t i = 0; i < flat.size(); i += 2) padding.emplace_back(flat[i], flat[i + 1]);
  return c.Split(Convolve(c, padding));
}

// Where the size of the result is stated and the strides are 1, the start may be anything.
absl::StatusOr<Results> RealDynamicSlice(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(4));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.ConstantIntegers(c.operands[3], "strides"));
  absl::StatusOr<std::vector<int64_t>> starts = c.ConstantIntegers(c.operands[1], "starts of slices");
  absl::StatusOr<std::vector<int64_t>> limits = c.ConstantIntegers(c.operands[2], "limits of slices");
  if (starts.ok() && limits.ok()) return c.Split(Slice(c, c.operands[0], *starts, *limits, strides));
  const Type& type = c.ResultType();
  for (int64_t stride : strides) {
    if (stride != 1 || !type.IsStatic()) return starts.ok() ? limits.status() : starts.status();
  }
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  std::vector<HloInstruction*> operands = {c.operands[0]};
  for (int64_t d = 0; d < shape.rank(); ++d) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * start, Slice(c, c.operands[1], {d}, {d + 1}, {1}));
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), c.Reshape(start, {}));
  }
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
  return c.Split(c.Add(HloOpcode::kDynamicSlice, operands, std::move(attributes)));
}

// A size that is known is a constant, so that others can be computed from it.
absl::StatusOr<Results> GetDimensionSize(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const int64_t dimension, c.Integer("dimension"));
  const Shape& shape = c.operands[0]->shape();
  if (dimension >= 0 && dimension < shape.rank() && !shape.is_dynamic_dimension(dimension) &&
      shape.dimensions(dimension) <= INT32_MAX) {
    const auto size = static_cast<int32_t>(shape.dimensions(dimension));
    return c.Split(c.AddConstant(std::make_shared<const Literal>(LiteralUtil::CreateR0<int32_t>(size))));
  }
  auto attributes = std::make_unique<DimensionSizeAttrs>();
  attributes->dimensions = {dimension};
  return c.Split(c.Add(HloOpcode::kGetDimensionSize, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> SetDimensionSize(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  auto attributes = std::make_unique<DimensionSizeAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dimensions.emplace_back(), c.Integer("dimension"));
  return c.Split(c.Add(HloOpcode::kSetDimensionSize, c.operands, std::move(attributes)));
}

constexpr ConversionRule kRules[] = {
    {"stablehlo.dynamic_broadcast_in_dim", DynamicBroadcastInDim},
    {"stablehlo.dynamic_conv", DynamicConvolution},
    {"stablehlo.dynamic_gather", DynamicGather},
    {"stablehlo.dynamic_iota", DynamicIota},
    {"stablehlo.dynamic_pad", DynamicPad},
    {"stablehlo.dynamic_reshape", DynamicReshape},
    {"stablehlo.get_dimension_size", GetDimensionSize},
    {"stablehlo.real_dynamic_slice", RealDynamicSlice},
    {"stablehlo.set_dimension_size", SetDimensionSize},
};

}  // namespace

absl::Span<const ConversionRule> DynamicShapeRules() { return kRules; }

}  // namespace hilo::stablehlo
