// Operations that move elements: broadcasts, slices, gathers, scatters, sorts ...
#include <algorithm>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/op_movement.h"
#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"

namespace hilo::stablehlo {

// HLO's broadcast stretches nothing: dimensions of size 1 that shall grow are reshaped away first.
absl::StatusOr<HloInstruction*> BroadcastInDim(OpConversion& c, HloInstruction* operand, const Shape& result,
                                               std::vector<int64_t> dimensions) {
  const Shape from = operand->shape();
  if (!from.IsArray() || from.rank() != static_cast<int64_t>(dimensions.size())) {
    return InvalidArgument("expected a broadcast dimension for each dimension of ", from.ToString(), ", got ",
                           dimensions.size());
  }
  auto attributes = std::make_unique<BroadcastAttrs>();
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (dimensions[i] < 0 || dimensions[i] >= result.rank()) {
      return InvalidArgument("broadcast dimension ", dimensions[i], " is none of ", result.ToString());
    }
    if (from.dimensions(i) == 1 && result.dimensions(dimensions[i]) != 1) continue;
    kept.push_back(from.dimensions(i));
    attributes->dimensions.push_back(dimensions[i]);
  }
  if (static_cast<int64_t>(kept.size()) != from.rank()) {
    std::vector<int64_t> sorted = dimensions;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return InvalidArgument("a broadcast dimension is given twice");
    HILO_ASSIGN_OR_RETURN(operand, c.Reshape(operand, kept));
  }
  return c.Add(HloOpcode::kBroadcast, {operand}, std::move(attributes), {}, &result);
}

absl::StatusOr<HloInstruction*> Gather(OpConversion& c, std::vector<int64_t> slice_sizes) {
  auto attributes = std::make_unique<GatherAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->offset_dims, c.Integers("offset_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->collapsed_slice_dims, c.Integers("collapsed_slice_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->start_index_map, c.Integers("start_index_map"));
  HILO_ASSIGN_OR_RETURN(attributes->operand_batching_dims, c.Integers("operand_batching_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->start_indices_batching_dims, c.Integers("start_indices_batching_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->index_vector_dim, c.IntegerOr("index_vector_dim", 0));
  attributes->slice_sizes = std::move(slice_sizes);
  attributes->indices_are_sorted = c.Flag("indices_are_sorted");
  return c.Add(HloOpcode::kGather, {c.operands[0], c.operands[1]}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> Slice(OpConversion& c, HloInstruction* operand, const std::vector<int64_t>& starts,
                                      const std::vector<int64_t>& limits, const std::vector<int64_t>& strides) {
  if (starts.size() != limits.size() || strides.size() != starts.size()) {
    return InvalidArgument("expected as many start_indices, limit_indices and strides, got ", starts.size(), ", ",
                           limits.size(), " and ", strides.size());
  }
  auto attributes = std::make_unique<SliceAttrs>();
  for (size_t d = 0; d < starts.size(); ++d) attributes->slice.push_back({starts[d], limits[d], strides[d]});
  return c.Add(HloOpcode::kSlice, {operand}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> Pad(OpConversion& c, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                                    const std::vector<int64_t>& interior) {
  if (low.size() != high.size() || low.size() != interior.size()) {
    return InvalidArgument("expected as many low, high and interior paddings, got ", low.size(), ", ", high.size(),
                           " and ", interior.size());
  }
  auto attributes = std::make_unique<PadAttrs>();
  for (size_t d = 0; d < low.size(); ++d) attributes->padding.dimensions.push_back({low[d], high[d], interior[d]});
  return c.Add(HloOpcode::kPad, {c.operands[0], c.operands[1]}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> Iota(OpConversion& c, const Shape& shape) {
  auto attributes = std::make_unique<IotaAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->iota_dimension, c.Integer("iota_dimension"));
  return c.Add(HloOpcode::kIota, {}, std::move(attributes), {}, &shape);
}

namespace {

absl::StatusOr<Results> ConvertBroadcastInDim(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> dimensions, c.Integers("broadcast_dimensions"));
  return c.Split(BroadcastInDim(c, c.operands[0], shape, std::move(dimensions)));
}

// New dimensions in front.
absl::StatusOr<Results> ConvertBroadcast(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.Integers("broadcast_sizes"));
  std::vector<int64_t> dimensions = sizes;
  auto attributes = std::make_unique<BroadcastAttrs>();
  for (int64_t size : c.operands[0]->shape().dimensions()) {
    attributes->dimensions.push_back(static_cast<int64_t>(dimensions.size()));
    dimensions.push_back(size);
  }
  const Shape shape(c.operands[0]->shape().element_type(), dimensions);
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  return c.Split(c.Add(HloOpcode::kBroadcast, c.operands, std::move(attributes), {}, &shape));
}

absl::StatusOr<Results> ConvertReshape(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Split(c.Add(HloOpcode::kReshape, c.operands, nullptr, {}, &shape));
}

absl::StatusOr<Results> ConvertTranspose(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> permutation, c.Integers("permutation"));
  return c.Split(c.Transpose(c.operands[0], std::move(permutation)));
}

absl::StatusOr<Results> ConvertReverse(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  auto attributes = std::make_unique<ReverseAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dimensions, c.Integers("dimensions"));
  return c.Split(c.Add(HloOpcode::kReverse, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> ConvertConcatenate(OpConversion& c) {
  auto attributes = std::make_unique<ConcatenateAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dimensions.emplace_back(), c.Integer("dimension"));
  return c.Split(c.Add(HloOpcode::kConcatenate, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> ConvertSlice(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, c.Integers("start_indices"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> limits, c.Integers("limit_indices"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> strides,
                        c.Integers("strides", static_cast<int64_t>(starts.size()), 1));
  return c.Split(Slice(c, c.operands[0], starts, limits, strides));
}

absl::StatusOr<Results> ConvertDynamicSlice(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(1));
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dynamic_slice_sizes, c.Integers("slice_sizes"));
  return c.Split(c.Add(HloOpcode::kDynamicSlice, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> ConvertDynamicUpdateSlice(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(2));
  return c.Split(c.Add(HloOpcode::kDynamicUpdateSlice, c.operands));
}

absl::StatusOr<Results> ConvertPad(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> low, c.Integers("edge_padding_low"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> high, c.Integers("edge_padding_high"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> interior,
                        c.Integers("interior_padding", static_cast<int64_t>(low.size()), 0));
  return c.Split(Pad(c, low, high, interior));
}

absl::StatusOr<Results> ConvertGather(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> slice_sizes, c.Integers("slice_sizes"));
  return c.Split(Gather(c, std::move(slice_sizes)));
}

absl::StatusOr<Results> ConvertScatter(OpConversion& c) {
  auto attributes = std::make_unique<ScatterAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->update_window_dims, c.Integers("update_window_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->inserted_window_dims, c.Integers("inserted_window_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->scatter_dims_to_operand_dims, c.Integers("scatter_dims_to_operand_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->input_batching_dims, c.Integers("input_batching_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->scatter_indices_batching_dims, c.Integers("scatter_indices_batching_dims"));
  HILO_ASSIGN_OR_RETURN(attributes->index_vector_dim, c.IntegerOr("index_vector_dim", 0));
  attributes->indices_are_sorted = c.Flag("indices_are_sorted");
  attributes->unique_indices = c.Flag("unique_indices");
  return c.Split(c.Add(HloOpcode::kScatter, c.operands, std::move(attributes), c.regions));
}

absl::StatusOr<Results> ConvertIota(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(0));
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Split(Iota(c, shape));
}

absl::StatusOr<Results> ConvertSort(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(1));
  auto attributes = std::make_unique<SortAttrs>();
  HILO_ASSIGN_OR_RETURN(int64_t dimension, c.IntegerOr("dimension", -1));
  if (dimension < 0) dimension += c.operands[0]->shape().rank();
  attributes->dimensions = {dimension};
  attributes->is_stable = c.Flag("is_stable");
  return c.Split(c.Add(HloOpcode::kSort, c.operands, std::move(attributes), c.regions));
}

absl::StatusOr<Results> ConvertRng(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(3));
  HILO_ASSIGN_OR_RETURN(const Shape shape, SizedShape(c, c.operands[2]));
  auto attributes = std::make_unique<RngAttrs>();
  HILO_ASSIGN_OR_RETURN(const absl::string_view distribution, c.OneOf("rng_distribution", {"UNIFORM", "NORMAL"}));
  attributes->distribution = distribution == "NORMAL" ? RandomDistribution::kNormal : RandomDistribution::kUniform;
  return c.Split(c.Add(HloOpcode::kRng, {c.operands[0], c.operands[1]}, std::move(attributes), {}, &shape));
}

absl::StatusOr<Results> ConvertRngBitGenerator(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(c.ExpectResults(2));
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapes());
  auto attributes = std::make_unique<RngBitGeneratorAttrs>();
  HILO_ASSIGN_OR_RETURN(const absl::string_view algorithm,
                        c.OneOf("rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"}));
  attributes->algorithm = algorithm == "THREE_FRY" ? RandomAlgorithm::kThreeFry
                          : algorithm == "PHILOX"  ? RandomAlgorithm::kPhilox
                                                   : RandomAlgorithm::kDefault;
  return c.Split(c.Add(HloOpcode::kRngBitGenerator, c.operands, std::move(attributes), {}, &shape));
}

constexpr ConversionRule kMovementRules[] = {
    {"stablehlo.broadcast", ConvertBroadcast},
    {"stablehlo.broadcast_in_dim", ConvertBroadcastInDim},
    {"stablehlo.concatenate", ConvertConcatenate},
    {"stablehlo.dynamic_slice", ConvertDynamicSlice},
    {"stablehlo.dynamic_update_slice", ConvertDynamicUpdateSlice},
    {"stablehlo.gather", ConvertGather},
    {"stablehlo.iota", ConvertIota},
    {"stablehlo.pad", ConvertPad},
    {"stablehlo.reshape", ConvertReshape},
    {"stablehlo.reverse", ConvertReverse},
    {"stablehlo.rng", ConvertRng},
    {"stablehlo.rng_bit_generator", ConvertRngBitGenerator},
    {"stablehlo.scatter", ConvertScatter},
    {"stablehlo.slice", ConvertSlice},
    {"stablehlo.sort", ConvertSort},
    {"stablehlo.transpose", ConvertTranspose},
};

}  // namespace

absl::Span<const ConversionRule> MovementRules() { return kMovementRules; }

}  // namespace hilo::stablehlo
