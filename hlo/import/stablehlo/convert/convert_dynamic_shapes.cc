// Operations whose sizes are operands. HLO's are not, so the sizes must be known here: constants, or computed from
// constants. Sizes that the operation's type leaves open are then inferred. Where the type states them, some of the
// other operands need not be known.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/op_movement.h"
#include "hlo/ops/movement/dimension_size_attributes.h"

namespace hilo::stablehlo {

absl::StatusOr<Shape> SizedShape(const OpConversion& c, HloInstruction* operand) {
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const Type& type = c.ResultType();
  if (type.kind != Type::Kind::kTensor) return c.ResultShape();
  const bool is_static = type.IsStatic();
  const int64_t rank = is_static ? type.shape.rank() : static_cast<int64_t>(type.open_dimensions.size());
  const Shape& list = operand->shape();
  if (!list.IsArray() || !IsIntegralType(list.element_type()) || list.dimensions() != absl::Span<const int64_t>({rank}))
    return InvalidArgument("expected ", rank, " integers as sizes, got ", list.ToString());
  if (is_static && operand->opcode() != HloOpcode::kConstant) return type.shape;
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.ConstantIntegers(operand, "sizes"));
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t stated = is_static ? type.shape.dimensions(d) : type.open_dimensions[d];
    const bool is_bound = is_static && type.shape.is_dynamic_dimension(d);
    if (sizes[d] < 0 || (stated != kDynamicSize && (is_bound ? sizes[d] > stated : sizes[d] != stated)))
      return InvalidArgument("expected the sizes of ", TypeText(type), ", got ", absl::StrJoin(sizes, ", "));
  }
  if (is_static) return type.shape;
  Shape shape(type.element, sizes);
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  return shape;
}

namespace {

// Errors: InvalidArgument, unless the dimensions of the operand that are known to grow, or not to, are such, each given
// once.
absl::Status CheckKnownDimensions(const OpConversion& c) {
  std::set<int64_t> seen;
  for (absl::string_view name : {"known_expanding_dimensions", "known_nonexpanding_dimensions"}) {
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, c.Integers(name));
    for (int64_t d : dimensions) {
      if (d < 0 || d >= c.operands[0]->shape().rank())
        return InvalidArgument(name, " holds ", d, ", which is no dimension of ", c.operands[0]->shape().ToString());
      if (!seen.insert(d).second) return InvalidArgument(name, " holds ", d, ", which is given twice");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Results> DynamicBroadcastInDim(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_RETURN_IF_ERROR(CheckKnownDimensions(c));
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
  const int64_t rank = c.operands[0]->shape().rank();
  if (const Shape& count = c.operands[2]->shape(); count.rank() != 1 || count.dimensions(0) != rank)
    return InvalidArgument("expected ", rank, " integers as slice sizes, got ", count.ToString());
  absl::StatusOr<std::vector<int64_t>> sizes = c.ConstantIntegers(c.operands[2], "slice sizes");
  if (!sizes.ok() && c.ResultType().IsStatic()) sizes = SliceSizes(c);
  if (!sizes.ok()) return sizes.status();
  return c.Split(Gather(c, *std::move(sizes)));
}

// A list of integers as s64[rank]. Errors: InvalidArgument for other numbers of integers.
absl::StatusOr<HloInstruction*> Wide(OpConversion& c, HloInstruction* integers, int64_t rank, absl::string_view what) {
  const Shape& shape = integers->shape();
  if (shape.rank() != 1 || shape.dimensions(0) != rank)
    return InvalidArgument("expected ", rank, " integers as ", what, ", got ", shape.ToString());
  const Shape wide = ShapeUtil::ChangeElementType(shape, S64);
  return c.Add(HloOpcode::kConvert, {integers}, nullptr, {}, &wide);
}

HloInstruction* ConstantList(OpConversion& c, absl::Span<const int64_t> values) {
  return c.AddConstant(std::make_shared<const Literal>(LiteralUtil::CreateR1<int64_t>(values)));
}

// start + index * step for each index into arrays of `dimensions`, of which there is at least one: s64[dimensions,
// rank]. `start`, `step`: s64[rank].
absl::StatusOr<HloInstruction*> Positions(OpConversion& c, absl::Span<const int64_t> dimensions, HloInstruction* start,
                                          HloInstruction* step) {
  const auto rank = static_cast<int64_t>(dimensions.size());
  std::vector<int64_t> column(dimensions.begin(), dimensions.end());
  column.push_back(1);
  const Shape column_shape(S64, column);
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(column_shape));
  std::vector<HloInstruction*> columns;
  for (int64_t d = 0; d < rank; ++d) {
    auto iota = std::make_unique<IotaAttrs>();
    iota->iota_dimension = d;
    HILO_ASSIGN_OR_RETURN(columns.emplace_back(), c.Add(HloOpcode::kIota, {}, std::move(iota), {}, &column_shape));
  }
  auto side_by_side = std::make_unique<ConcatenateAttrs>();
  side_by_side->dimensions = {rank};
  HILO_ASSIGN_OR_RETURN(HloInstruction * at, c.Add(HloOpcode::kConcatenate, columns, std::move(side_by_side)));
  HILO_ASSIGN_OR_RETURN(step, BroadcastInDim(c, step, at->shape(), {rank}));
  HILO_ASSIGN_OR_RETURN(start, BroadcastInDim(c, start, at->shape(), {rank}));
  HILO_ASSIGN_OR_RETURN(at, c.Add(HloOpcode::kMultiply, {at, step}));
  return c.Add(HloOpcode::kAdd, {at, start});
}

// Elements of `operand` at low + index * (interior + 1) of an array full of `value`; elements that are cut off lie
// outside of it. `low`, `interior`: s64[rank].
absl::StatusOr<HloInstruction*> ScatterPadded(OpConversion& c, HloInstruction* operand, HloInstruction* value,
                                              HloInstruction* low, HloInstruction* interior, const Shape& result) {
  const int64_t rank = operand->shape().rank();
  if (rank == 0) return operand;
  HloInstruction* one = ConstantList(c, std::vector<int64_t>(static_cast<size_t>(rank), 1));
  HILO_ASSIGN_OR_RETURN(HloInstruction * step, c.Add(HloOpcode::kAdd, {interior, one}));
  HILO_ASSIGN_OR_RETURN(HloInstruction * at, Positions(c, operand->shape().dimensions(), low, step));
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
  const int64_t rank = result.rank();
  HILO_ASSIGN_OR_RETURN(HloInstruction * lows, Wide(c, c.operands[2], rank, "paddings"));
  HILO_ASSIGN_OR_RETURN(HloInstruction * interiors, Wide(c, c.operands[4], rank, "paddings"));
  return c.Split(ScatterPadded(c, c.operands[0], c.operands[1], lows, interiors, result));
}

// How much of one dimension of the padded and dilated input the window covers at all of its positions.
absl::StatusOr<int64_t> Covered(int64_t positions, int64_t stride, int64_t window, int64_t dilation) {
  if (positions <= 0 || window <= 0) return 0;
  const std::optional<int64_t> last = CheckedMul(positions - 1, stride), reach = CheckedMul(window - 1, dilation);
  std::optional<int64_t> size = last && reach ? CheckedAdd(*last, *reach) : std::nullopt;
  if (size) size = CheckedAdd(*size, 1);
  if (!size) return InvalidArgument(positions, " positions of a window of ", window, " lie too far apart");
  return *size;
}

// The input of a convolution whose paddings are known when the program runs: padded and dilated as far as the windows
// of the result reach.
absl::StatusOr<HloInstruction*> PaddedInput(OpConversion& c) {
  HILO_ASSIGN_OR_RETURN(const Shape result, c.ResultShape());
  HloInstruction* input = c.operands[0];
  const Shape& kernel = c.operands[1]->shape();
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> from, c.Integers("input_spatial_dimensions"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> by, c.Integers("kernel_spatial_dimensions"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> to, c.Integers("output_spatial_dimensions"));
  const auto rank = static_cast<int64_t>(from.size());
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.Integers("window_strides", rank, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> base, c.Integers("lhs_dilation", rank, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dilations, c.Integers("rhs_dilation", rank, 1));
  const Shape& paddings = c.operands[2]->shape();
  if (!paddings.IsArray() || paddings.dimensions() != absl::Span<const int64_t>({rank, 2}))
    return InvalidArgument("expected ", rank, " pairs as padding, got ", paddings.ToString());
  HILO_ASSIGN_OR_RETURN(HloInstruction * lows, Slice(c, c.operands[2], {0, 0}, {rank, 1}, {1, 1}));
  HILO_ASSIGN_OR_RETURN(lows, c.Reshape(lows, {rank}));
  HILO_ASSIGN_OR_RETURN(lows, Wide(c, lows, rank, "paddings"));

  Shape padded = input->shape();
  std::vector<HloInstruction*> low(static_cast<size_t>(padded.rank()), ConstantList(c, {0}));
  std::vector<int64_t> interior(low.size(), 0);
  for (size_t d = 0; d < from.size(); ++d) {
    if (to.size() != from.size() || by.size() != from.size() || from[d] < 0 || from[d] >= padded.rank() || by[d] < 0 ||
        by[d] >= kernel.rank() || to[d] < 0 || to[d] >= result.rank())
      return InvalidArgument("expected spatial dimensions of ", padded.ToString(), ", ", kernel.ToString(), " and ",
                             result.ToString());
    HILO_ASSIGN_OR_RETURN(const int64_t size,
                          Covered(result.dimensions(to[d]), strides[d], kernel.dimensions(by[d]), dilations[d]));
    padded.set_dimensions(from[d], size);
    const auto k = static_cast<int64_t>(d), at = from[d];
    HILO_ASSIGN_OR_RETURN(low[static_cast<size_t>(at)], Slice(c, lows, {k}, {k + 1}, {1}));
    interior[static_cast<size_t>(at)] = base[d] - 1;
  }
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(padded));
  auto in_order = std::make_unique<ConcatenateAttrs>();
  in_order->dimensions = {0};
  HILO_ASSIGN_OR_RETURN(HloInstruction * starts, c.Add(HloOpcode::kConcatenate, low, std::move(in_order)));
  HloInstruction* value = c.AddConstant(std::make_shared<const Literal>(LiteralUtil::Zero(padded.element_type())));
  return ScatterPadded(c, input, value, starts, ConstantList(c, interior), padded);
}

// Where the sizes of the result are stated, the paddings may be anything.
absl::StatusOr<Results> DynamicConvolution(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(3));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const absl::StatusOr<std::vector<int64_t>> flat = c.ConstantIntegers(c.operands[2], "paddings");
  if (!flat.ok()) {
    if (!c.ResultType().IsStatic()) return flat.status();
    HILO_ASSIGN_OR_RETURN(HloInstruction * input, PaddedInput(c));
    return c.Split(Convolve(c, input, {}, /*dilate_input=*/false));
  }
  if (flat->size() % 2 != 0) return InvalidArgument("expected pairs as padding, got ", flat->size(), " integers");
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (size_t i = 0; i < flat->size(); i += 2) padding.emplace_back((*flat)[i], (*flat)[i + 1]);
  return c.Split(Convolve(c, c.operands[0], padding));
}

// Elements start + index * stride.
absl::StatusOr<HloInstruction*> GatherStrided(OpConversion& c, const Shape& result) {
  const int64_t rank = c.operands[0]->shape().rank();
  if (result.rank() != rank)
    return InvalidArgument("a result of ", result.ToString(), " from ", c.operands[0]->shape().ToString());
  HILO_ASSIGN_OR_RETURN(HloInstruction * start, Wide(c, c.operands[1], rank, "starts of slices"));
  HILO_ASSIGN_OR_RETURN(HloInstruction * stride, Wide(c, c.operands[3], rank, "strides"));
  HILO_ASSIGN_OR_RETURN(HloInstruction * at, Positions(c, result.dimensions(), start, stride));
  auto attributes = std::make_unique<GatherAttrs>();
  for (int64_t d = 0; d < rank; ++d) {
    attributes->collapsed_slice_dims.push_back(d);
    attributes->start_index_map.push_back(d);
    attributes->slice_sizes.push_back(1);
  }
  attributes->index_vector_dim = rank;
  return c.Add(HloOpcode::kGather, {c.operands[0], at}, std::move(attributes));
}

// Where the size of the result is stated, the start and the strides may be anything.
absl::StatusOr<Results> RealDynamicSlice(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(4));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const absl::StatusOr<std::vector<int64_t>> starts = c.ConstantIntegers(c.operands[1], "starts of slices");
  const absl::StatusOr<std::vector<int64_t>> limits = c.ConstantIntegers(c.operands[2], "limits of slices");
  const absl::StatusOr<std::vector<int64_t>> strides = c.ConstantIntegers(c.operands[3], "strides");
  if (starts.ok() && limits.ok() && strides.ok()) return c.Split(Slice(c, c.operands[0], *starts, *limits, *strides));
  if (!c.ResultType().IsStatic())
    return !starts.ok() ? starts.status() : !limits.ok() ? limits.status() : strides.status();
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  if (shape.rank() == 0) return Results{c.operands[0]};
  if (!strides.ok() || std::any_of(strides->begin(), strides->end(), [](int64_t stride) { return stride != 1; }))
    return c.Split(GatherStrided(c, shape));
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

// The sizes of an array, as index numbers.
absl::StatusOr<Results> ShapeOf(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const Shape& shape = c.operands[0]->shape();
  if (!shape.IsArray() || !shape.is_static())
    return Unimplemented("sizes that are not known when the program is compiled");
  return Results{ConstantList(c, shape.dimensions())};
}

constexpr ConversionRule kDynamicShapeRules[] = {
    {"shape.shape_of", ShapeOf},
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

absl::Span<const ConversionRule> DynamicShapeRules() { return kDynamicShapeRules; }

}  // namespace hilo::stablehlo
