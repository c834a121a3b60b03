// Rewrites of each op on arrays at their bounds. An op that moves or maps elements is kept, and its sizes are its
// operands' (DimensionFlows); one that combines elements along a dynamic dimension gets operands with neutral
// padding.
#include "hlo/passes/dynamic/static_forms.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dynamic_dimensions.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/movement/dimension_size_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {

std::vector<HloInstruction*> DataOf(SizedOperands operands) {
  std::vector<HloInstruction*> data;
  for (const SizedValue* operand : operands) data.push_back(operand->data);
  return data;
}

std::vector<int64_t> AllDimensions(const Shape& shape) {
  std::vector<int64_t> all;
  for (int64_t d = 0; d < shape.rank(); ++d) all.push_back(d);
  return all;
}

absl::Status NotWritten(const HloInstruction& instruction, absl::string_view what) {
  return Unimplemented(HloOpcodeString(instruction.opcode()), " ", what, InstructionContext(instruction));
}

SizedValue WithFlows(const HloInstruction& instruction, SizedOperands operands, HloInstruction* data) {
  SizedValue result{.data = data};
  for (const DimensionFlow& flow : DimensionFlows(instruction)) {
    HloInstruction* size = operands[flow.operand]->size(flow.operand_dimension);
    if (size != nullptr) result.sizes.try_emplace({flow.leaf, flow.dimension}, size);
  }
  return result;
}

namespace {

bool Contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

absl::StatusOr<SizedValue> WriteSetDimensionSize(const HloInstruction& instruction, SizedOperands operands,
                                                 GraphWriter*) {
  SizedValue result = *operands[0];
  const int64_t dimension = instruction.attrs<DimensionSizeAttrs>().dimensions[0];
  const HloInstruction* size = operands[1]->data;
  const bool whole = size->IsConstant() && size->literal().GetAsInt64(0) == result.data->shape().dimensions(dimension);
  if (whole) {
    result.sizes.erase({0, dimension});
  } else {
    result.sizes[{0, dimension}] = operands[1]->data;
  }
  return result;
}

// Padding is chosen only where a row has fewer than k elements.
absl::StatusOr<SizedValue> WriteTopK(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  const PrimitiveType type = operands[0]->data->shape().element_type();
  HloInstruction* filler = writer->computation()->AddConstant(
      instruction.attrs<TopKAttrs>().largest ? LiteralUtil::MinValue(type) : LiteralUtil::MaxValue(type));
  HloInstruction* masked = writer->Mask(*operands[0], {operands[0]->data->shape().rank() - 1}, filler);
  return WithFlows(instruction, operands, writer->Copy(instruction, {masked}));
}

// Rows and columns of the padding are those of the identity, which leaves all others what they are.
SizedValue BorderedByIdentity(const SizedValue& matrices, GraphWriter* writer) {
  const Shape shape = matrices.data->shape();
  const int64_t row = shape.rank() - 2, column = shape.rank() - 1;
  HloInstruction* size = matrices.size(row) != nullptr ? matrices.size(row) : matrices.size(column);
  if (size == nullptr) return matrices;
  SizedValue bordered = matrices;
  bordered.sizes[{0, row}] = bordered.sizes[{0, column}] = size;
  HloInstruction* diagonal = writer->Compare(writer->Iota(shape.dimensions(), row),
                                             writer->Iota(shape.dimensions(), column), ComparisonDirection::kEq);
  const Shape result = ShapeUtil::MakeShape(shape.element_type(), shape.dimensions());
  HloInstruction* identity = writer->Op(HloOpcode::kConvert, {diagonal}, nullptr, {}, &result);
  HloInstruction* counts = writer->Op(HloOpcode::kAnd, {writer->IsBelow(shape.dimensions(), row, size),
                                                        writer->IsBelow(shape.dimensions(), column, size)});
  bordered.data = writer->Op(HloOpcode::kSelect, {counts, matrices.data, identity});
  return bordered;
}

absl::StatusOr<SizedValue> WriteCholesky(const HloInstruction& instruction, SizedOperands operands,
                                         GraphWriter* writer) {
  const SizedValue matrices = BorderedByIdentity(*operands[0], writer);
  const SizedValue* bordered[] = {&matrices};
  return WithFlows(instruction, bordered, writer->Copy(instruction, DataOf(bordered)));
}

// As many unknowns as equations: padding of the right-hand sides is zero.
absl::StatusOr<SizedValue> WriteTriangularSolve(const HloInstruction& instruction, SizedOperands operands,
                                                GraphWriter* writer) {
  const int64_t rank = operands[1]->data->shape().rank();
  const int64_t unknowns = instruction.attrs<TriangularSolveAttrs>().left_side ? rank - 2 : rank - 1;
  SizedValue matrices = *operands[0], sides = *operands[1];
  HloInstruction* size = matrices.size(rank - 2) != nullptr ? matrices.size(rank - 2) : matrices.size(rank - 1);
  if (size == nullptr) size = sides.size(unknowns);
  if (size != nullptr) {
    sides.sizes[{0, unknowns}] = matrices.sizes[{0, rank - 2}] = matrices.sizes[{0, rank - 1}] = size;
    matrices = BorderedByIdentity(matrices, writer);
    sides.data = writer->Mask(sides, {unknowns}, writer->Zero(instruction.shape().element_type()));
  }
  const SizedValue* bordered[] = {&matrices, &sides};
  return WithFlows(instruction, bordered, writer->Copy(instruction, DataOf(bordered)));
}

// Both sides are zero where products are summed that do not count: zero times infinity would.
absl::StatusOr<SizedValue> WriteDot(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  const auto& attrs = instruction.attrs<DotAttrs>();
  std::vector<SizedValue> sides = {*operands[0], *operands[1]};
  for (size_t i = 0; i < attrs.lhs_contracting_dims.size(); ++i) {
    const DynamicDimension lhs{0, attrs.lhs_contracting_dims[i]}, rhs{0, attrs.rhs_contracting_dims[i]};
    HloInstruction* size = operands[0]->size(lhs.dimension);
    if (size == nullptr) size = operands[1]->size(rhs.dimension);
    if (size == nullptr) continue;
    sides[0].sizes[lhs] = size;
    sides[1].sizes[rhs] = size;
  }
  std::vector<HloInstruction*> data = DataOf(operands);
  data[0] = writer->Mask(sides[0], attrs.lhs_contracting_dims, writer->Zero(data[0]->shape().element_type()));
  data[1] = writer->Mask(sides[1], attrs.rhs_contracting_dims, writer->Zero(data[1]->shape().element_type()));
  return WithFlows(instruction, operands, writer->Copy(instruction, data));
}

// As a product over the features of the input; its image is zero beyond its size, like the padding of a convolution.
absl::StatusOr<SizedValue> WriteConvolution(const HloInstruction& instruction, SizedOperands operands,
                                            GraphWriter* writer) {
  const auto& attrs = instruction.attrs<ConvolutionAttrs>();
  const auto& labels = attrs.dim_labels;
  const bool grouped = attrs.feature_group_count != 1 || attrs.batch_group_count != 1;
  std::vector<SizedValue> sides = {*operands[0], *operands[1]};
  const DynamicDimension feature{0, labels.input_feature_dimension()},
      kernel_feature{0, labels.kernel_input_feature_dimension()};
  HloInstruction* features = sides[0].size(feature.dimension);
  if (features == nullptr) features = sides[1].size(kernel_feature.dimension);
  const bool dynamic_groups =
      features != nullptr || sides[1].size(labels.kernel_output_feature_dimension()) != nullptr ||
      (attrs.batch_group_count != 1 && sides[0].size(labels.input_batch_dimension()) != nullptr);
  if (grouped && dynamic_groups) return NotWritten(instruction, "of groups of dynamic size is not supported");
  for (int64_t d : labels.kernel_spatial_dimensions()) {
    if (sides[1].size(d) != nullptr) return NotWritten(instruction, "with a window of dynamic size is not supported");
  }
  if (features != nullptr) sides[0].sizes[feature] = sides[1].sizes[kernel_feature] = features;
  std::vector<int64_t> masked(labels.input_spatial_dimensions().begin(), labels.input_spatial_dimensions().end());
  masked.push_back(feature.dimension);
  std::vector<HloInstruction*> data = DataOf(operands);
  data[0] = writer->Mask(sides[0], masked, writer->Zero(data[0]->shape().element_type()));
  data[1] = writer->Mask(sides[1], {kernel_feature.dimension}, writer->Zero(data[1]->shape().element_type()));
  SizedValue result = WithFlows(instruction, operands, writer->Copy(instruction, data));
  for (size_t i = 0; i < attrs.window.dimensions.size(); ++i) {
    const int64_t d = labels.input_spatial_dimensions()[i];
    if (sides[0].size(d) == nullptr) continue;
    result.sizes[{0, labels.output_spatial_dimensions()[i]}] =
        WindowedSize(writer->SizeWithinBound(sides[0], d), attrs.window.dimensions[i], writer);
  }
  return result;
}

// Operands are written one after the other, each over the padding of the previous one.
absl::StatusOr<SizedValue> WriteConcatenate(const HloInstruction& instruction, SizedOperands operands,
                                            GraphWriter* writer) {
  const int64_t dimension = instruction.attrs<ConcatenateAttrs>().dimensions[0];
  const bool simple = std::all_of(operands.begin(), operands.end() - 1,
                                  [&](const SizedValue* operand) { return operand->size(dimension) == nullptr; });
  const Shape& shape = instruction.shape();
  HloInstruction* end = writer->S32(0);
  HloInstruction* data = simple ? writer->Copy(instruction, DataOf(operands))
                                : writer->Broadcast(writer->Zero(shape.element_type()), shape.dimensions());
  for (const SizedValue* operand : operands) {
    if (!simple) {
      std::vector<HloInstruction*> update = {data, operand->data};
      for (int64_t d = 0; d < shape.rank(); ++d) update.push_back(d == dimension ? end : writer->S32(0));
      data = writer->Op(HloOpcode::kDynamicUpdateSlice, update);
    }
    end = writer->Add(end, writer->SizeWithinBound(*operand, dimension));
  }
  SizedValue result = WithFlows(instruction, operands, data);
  const bool dynamic = !simple || operands.back()->size(dimension) != nullptr;
  if (dynamic) result.sizes[{0, dimension}] = end;
  return result;
}

// The padding of the operand becomes that of pad.
absl::StatusOr<SizedValue> WritePad(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  const auto& padding = instruction.attrs<PadAttrs>().padding.dimensions;
  std::vector<int64_t> padded;
  for (size_t d = 0; d < padding.size(); ++d) {
    if (padding[d] != PaddingConfig::Dimension()) padded.push_back(static_cast<int64_t>(d));
  }
  HloInstruction* masked = writer->Mask(*operands[0], padded, operands[1]->data);
  SizedValue result = WithFlows(instruction, operands, writer->Copy(instruction, {masked, operands[1]->data}));
  for (int64_t d : padded) {
    if (operands[0]->size(d) == nullptr) continue;
    HloInstruction* size = writer->SizeWithinBound(*operands[0], d);
    HloInstruction* gaps = writer->Maximum(writer->Subtract(size, writer->S32(1)), writer->S32(0));
    HloInstruction* spread = writer->Add(size, writer->Multiply(gaps, writer->S32(padding[d].interior_padding)));
    HloInstruction* total =
        writer->Add(spread, writer->S32(padding[d].edge_padding_low + padding[d].edge_padding_high));
    result.sizes[{0, d}] = writer->Maximum(total, writer->S32(0));
  }
  return result;
}

// Reversed at the bounds the padding comes first: the array begins after it.
absl::StatusOr<SizedValue> WriteReverse(const HloInstruction& instruction, SizedOperands operands,
                                        GraphWriter* writer) {
  const std::vector<int64_t>& dimensions = instruction.attrs<ReverseAttrs>().dimensions;
  HloInstruction* data = writer->Copy(instruction, DataOf(operands));
  const std::vector<int64_t> bounds(data->shape().dimensions().begin(), data->shape().dimensions().end());
  const bool moved =
      std::any_of(dimensions.begin(), dimensions.end(), [&](int64_t d) { return operands[0]->size(d) != nullptr; });
  if (moved) {
    auto longer = std::make_unique<PadAttrs>();
    longer->padding.dimensions.resize(bounds.size());
    std::vector<HloInstruction*> starts;
    for (int64_t d = 0; d < static_cast<int64_t>(bounds.size()); ++d) {
      const bool moves = Contains(dimensions, d) && operands[0]->size(d) != nullptr;
      if (moves) longer->padding.dimensions[d].edge_padding_high = bounds[d];
      starts.push_back(moves ? writer->Subtract(writer->S32(bounds[d]), writer->SizeWithinBound(*operands[0], d))
                             : writer->S32(0));
    }
    data = writer->Op(HloOpcode::kPad, {data, writer->Zero(data->shape().element_type())}, std::move(longer));
    data = writer->DynamicSlice(data, starts, bounds);
  }
  return WithFlows(instruction, operands, data);
}

absl::StatusOr<SizedValue> WriteReshape(const HloInstruction& instruction, SizedOperands operands,
                                        GraphWriter* writer) {
  const SizedValue& operand = *operands[0];
  const Shape& from = operand.data->shape();
  const Shape& to = instruction.shape();
  std::vector<bool> is_dynamic;
  for (int64_t d = 0; d < from.rank(); ++d) is_dynamic.push_back(operand.size(d) != nullptr);
  HILO_ASSIGN_OR_RETURN(const std::vector<ReshapedDimension> dimensions, ReshapedDimensions(instruction, is_dynamic));
  SizedValue result;
  bool in_place = true;  // the elements that count lie where they would in the result
  for (const ReshapedDimension& dimension : dimensions) {
    HloInstruction* product = nullptr;
    for (int64_t d = dimension.operand_begin; d < dimension.operand_end; ++d) {
      HloInstruction* size = writer->SizeWithinBound(operand, d);
      product = product == nullptr ? size : writer->Multiply(product, size);
      // Padding is only allowed at the end of the group: after its first dimension greater than 1.
      for (int64_t before = dimension.operand_begin; before < d; ++before) {
        if (is_dynamic[d] && from.dimensions(before) > 1) in_place = false;
      }
    }
    result.sizes[{0, dimension.dimension}] = writer->Divide(product, writer->S32(dimension.divisor));
    // So too in the result: everything before its dynamic dimension in the group has size 1.
    const int64_t before_group = Product(from.dimensions().subspan(0, dimension.operand_begin));
    const int64_t before_dimension = Product(to.dimensions().subspan(0, dimension.dimension));
    if (before_dimension != before_group) in_place = false;
  }
  if (in_place) {
    result.data = writer->Copy(instruction, {operand.data});
    return result;
  }
  std::vector<HloInstruction*> sizes;
  for (int64_t d = 0; d < to.rank(); ++d) {
    HloInstruction* size = result.size(d);
    sizes.push_back(size == nullptr ? writer->S32(to.dimensions(d)) : size);
  }
  result.data = writer->Repack(operand, to.dimensions(), sizes);
  return result;
}

absl::StatusOr<SizedValue> WriteDynamicReshape(const HloInstruction& instruction, SizedOperands operands,
                                               GraphWriter* writer) {
  const Shape& shape = instruction.shape();
  SizedValue result;
  std::vector<HloInstruction*> sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    HloInstruction* bound = writer->S32(shape.dimensions(d));
    if (!shape.is_dynamic_dimension(d)) {
      sizes.push_back(bound);
      continue;
    }
    sizes.push_back(writer->Maximum(writer->S32(0), writer->Minimum(operands[1 + d]->data, bound)));
    result.sizes[{0, d}] = sizes.back();
  }
  result.data = writer->Repack(*operands[0], shape.dimensions(), sizes);
  return result;
}

// The highest index, as a number of `type`, from which `slice` elements of dimension `d` count; 0 if there are fewer.
HloInstruction* HighestStart(const SizedValue& array, int64_t d, int64_t slice, PrimitiveType type,
                             GraphWriter* writer) {
  HloInstruction* highest =
      writer->Maximum(writer->S32(0), writer->Subtract(writer->SizeWithinBound(array, d), writer->S32(slice)));
  const int bits = PrimitiveTypeBitWidth(type) - (IsSignedIntegralType(type) ? 1 : 0);
  if (bits < 31) highest = writer->Minimum(highest, writer->S32((int64_t{1} << bits) - 1));
  const Shape scalar = ShapeUtil::MakeScalarShape(type);
  return type == S32 ? highest : writer->Op(HloOpcode::kConvert, {highest}, nullptr, {}, &scalar);
}

// What is read starts where all of it counts, if so much does.
absl::StatusOr<SizedValue> WriteDynamicSlice(const HloInstruction& instruction, SizedOperands operands,
                                             GraphWriter* writer) {
  const std::vector<int64_t>& sizes = instruction.attrs<DynamicSliceAttrs>().dynamic_slice_sizes;
  std::vector<HloInstruction*> data = DataOf(operands);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (operands[0]->size(static_cast<int64_t>(d)) == nullptr) continue;
    HloInstruction*& start = data[1 + d];
    start = writer->Minimum(
        start, HighestStart(*operands[0], static_cast<int64_t>(d), sizes[d], start->shape().element_type(), writer));
  }
  return WithFlows(instruction, operands, writer->Copy(instruction, data));
}

absl::StatusOr<SizedValue> WriteGather(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  const auto& attrs = instruction.attrs<GatherAttrs>();
  std::vector<HloInstruction*> data = DataOf(operands);
  const Shape indices = data[1]->shape();
  const PrimitiveType type = indices.element_type();
  std::vector<HloInstruction*> highest;  // of each component
  bool any = false;
  for (int64_t d : attrs.start_index_map) {
    any = any || operands[0]->size(d) != nullptr;
    highest.push_back(HighestStart(*operands[0], d, attrs.slice_sizes[d], type, writer));
  }
  if (any && attrs.index_vector_dim == indices.rank()) {
    data[1] = writer->Minimum(data[1], writer->Broadcast(highest[0], indices.dimensions()));
  } else if (any) {
    for (HloInstruction*& component : highest) component = writer->Reshape(component, {1});
    auto joined = std::make_unique<ConcatenateAttrs>();
    joined->dimensions = {0};
    auto spread = std::make_unique<BroadcastAttrs>();
    spread->dimensions = {attrs.index_vector_dim};
    HloInstruction* vector = writer->Op(HloOpcode::kConcatenate, highest, std::move(joined));
    data[1] = writer->Minimum(data[1], writer->Op(HloOpcode::kBroadcast, {vector}, std::move(spread), {}, &indices));
  }
  return WithFlows(instruction, operands, writer->Copy(instruction, data));
}

// What does not count of the update is what the operand has there.
absl::StatusOr<SizedValue> WriteUpdate(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  std::vector<HloInstruction*> data = DataOf(operands);
  if (operands[1]->is_dynamic()) {
    const Shape& shape = data[1]->shape();
    HloInstruction* present = writer->DynamicSlice(data[0], absl::MakeSpan(data).subspan(2), shape.dimensions());
    HloInstruction* counts = nullptr;
    for (const auto& [dimension, size] : operands[1]->sizes) {
      HloInstruction* below = writer->IsBelow(shape.dimensions(), dimension.dimension, size);
      counts = counts == nullptr ? below : writer->Op(HloOpcode::kAnd, {counts, below});
    }
    data[1] = writer->Op(HloOpcode::kSelect, {counts, data[1], present});
  }
  return WithFlows(instruction, operands, writer->Copy(instruction, data));
}

// The comparator for arrays with one more pred array each: padding sorts after all valid elements.
absl::StatusOr<HloComputation*> PaddingLast(const HloInstruction& sort) {
  HloComputation* comparator = sort.module()->CloneComputation(*sort.called_computation());
  GraphWriter writer(comparator);
  const int64_t count = comparator->num_parameters();
  const Shape pred = ShapeUtil::MakeScalarShape(PRED);
  HloInstruction* left = comparator->AddInstruction(HloInstruction::CreateParameter(count, pred, "left_is_padding"));
  HloInstruction* right =
      comparator->AddInstruction(HloInstruction::CreateParameter(count + 1, pred, "right_is_padding"));
  HloInstruction* differ = writer.Op(HloOpcode::kXor, {left, right});
  HloInstruction* before = writer.Op(HloOpcode::kSelect, {differ, right, comparator->root_instruction()});
  HILO_RETURN_IF_ERROR(writer.status());
  HILO_RETURN_IF_ERROR(comparator->set_root_instruction(before));
  return comparator;
}

absl::StatusOr<SizedValue> WriteSort(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  const int64_t dimension = instruction.attrs<SortAttrs>().dimensions[0];
  std::vector<HloInstruction*> data = DataOf(operands);
  HloInstruction* size = nullptr;
  for (const SizedValue* operand : operands) {
    if (size == nullptr) size = operand->size(dimension);
  }
  if (size == nullptr) return WithFlows(instruction, operands, writer->Copy(instruction, data));
  const auto dimensions = data[0]->shape().dimensions();
  data.push_back(writer->Op(HloOpcode::kNot, {writer->IsBelow(dimensions, dimension, size)}));
  HILO_ASSIGN_OR_RETURN(HloComputation* const comparator, PaddingLast(instruction));
  HloComputation* const called[] = {comparator};
  HloInstruction* sorted = writer->Op(HloOpcode::kSort, data, instruction.attributes()->Clone(), called);
  HILO_RETURN_IF_ERROR(writer->status());
  sorted->CopyOriginFrom(instruction);
  HloInstruction* first = writer->Element(sorted, 0);
  if (operands.size() == 1) return WithFlows(instruction, operands, first);
  std::vector<HloInstruction*> others;
  for (size_t i = 1; i < operands.size(); ++i) others.push_back(writer->Element(sorted, static_cast<int64_t>(i)));
  return WithFlows(instruction, operands, writer->Tuple(first, others));
}

// Updates that do not count go where no element is.
absl::StatusOr<SizedValue> WriteScatter(const HloInstruction& instruction, SizedOperands operands,
                                        GraphWriter* writer) {
  const auto& attrs = instruction.attrs<ScatterAttrs>();
  const size_t arrays = operands.size() / 2;
  SizedValue indices = *operands[arrays];
  const Shape& shape = indices.data->shape();
  for (size_t i = arrays + 1; i < operands.size(); ++i) {
    int64_t next_window = 0, next_index = 0;
    for (int64_t d = 0; d < operands[i]->data->shape().rank(); ++d) {
      const bool in_window = Contains(attrs.update_window_dims, d);
      while (in_window &&
             (Contains(attrs.inserted_window_dims, next_window) || Contains(attrs.input_batching_dims, next_window)))
        ++next_window;
      if (!in_window && next_index == attrs.index_vector_dim) ++next_index;
      HloInstruction* size = operands[i]->size(d);
      if (size != nullptr && in_window) {
        // Harmless only where the elements written beyond the size are padding.
        const SizedValue& target = *operands[i - arrays - 1];
        const bool padding = target.size(next_window) != nullptr &&
                             target.data->shape().dimensions(next_window) == operands[i]->data->shape().dimensions(d);
        if (!padding) return NotWritten(instruction, "with a window of dynamic size is not supported");
      } else if (size != nullptr) {
        indices.sizes.try_emplace({0, next_index}, size);
      }
      ++(in_window ? next_window : next_index);
    }
  }
  std::vector<HloInstruction*> data = DataOf(operands);
  indices.sizes.erase({0, attrs.index_vector_dim});
  data[arrays] = writer->Mask(indices, AllDimensions(shape),
                              writer->computation()->AddConstant(InTypeClass(shape.element_type(), kSignedInt)
                                                                     ? LiteralUtil::FromDouble(shape.element_type(), -1)
                                                                     : LiteralUtil::MaxValue(shape.element_type())));
  return WithFlows(instruction, operands, writer->Copy(instruction, data));
}

absl::StatusOr<SizedValue> WriteGetDimensionSize(const HloInstruction& instruction, SizedOperands operands,
                                                 GraphWriter* writer) {
  const int64_t dimension = instruction.attrs<DimensionSizeAttrs>().dimensions[0];
  HloInstruction* size = operands[0]->size(dimension);
  return SizedValue{.data = size == nullptr ? writer->S32(operands[0]->data->shape().dimensions(dimension)) : size};
}

// Ops that move or map elements.
absl::StatusOr<SizedValue> WriteAtBounds(const HloInstruction& instruction, SizedOperands operands,
                                         GraphWriter* writer) {
  return WithFlows(instruction, operands, writer->Copy(instruction, DataOf(operands)));
}

using StaticForm = absl::StatusOr<SizedValue> (*)(const HloInstruction&, SizedOperands, GraphWriter*);

// Of any operands.
constexpr OpcodeMap<StaticForm> kSizeOps = {
    {HloOpcode::kDynamicReshape, WriteDynamicReshape},
    {HloOpcode::kGetDimensionSize, WriteGetDimensionSize},
    {HloOpcode::kSetDimensionSize, WriteSetDimensionSize},
};
// Of dynamic operands, besides the element-wise ops.
constexpr OpcodeMap<StaticForm> kStaticForms = {
    {HloOpcode::kBitcastConvert, WriteAtBounds},
    {HloOpcode::kBroadcast, WriteAtBounds},
    {HloOpcode::kCholesky, WriteCholesky},
    {HloOpcode::kConcatenate, WriteConcatenate},
    {HloOpcode::kConvolution, WriteConvolution},
    {HloOpcode::kDot, WriteDot},
    {HloOpcode::kDynamicSlice, WriteDynamicSlice},
    {HloOpcode::kDynamicUpdateSlice, WriteUpdate},
    {HloOpcode::kGather, WriteGather},
    {HloOpcode::kPad, WritePad},
    {HloOpcode::kReduce, WriteReduce},
    {HloOpcode::kReduceWindow, WriteReduceWindow},
    {HloOpcode::kReshape, WriteReshape},
    {HloOpcode::kReverse, WriteReverse},
    {HloOpcode::kScatter, WriteScatter},
    {HloOpcode::kSelectAndScatter, WriteSelectAndScatter},
    {HloOpcode::kSlice, WriteAtBounds},
    {HloOpcode::kSort, WriteSort},
    {HloOpcode::kTopK, WriteTopK},
    {HloOpcode::kTranspose, WriteAtBounds},
    {HloOpcode::kTriangularSolve, WriteTriangularSolve},
};

}  // namespace

absl::StatusOr<SizedValue> WriteStatic(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  const HloOpcode opcode = instruction.opcode();
  if (const StaticForm write = kSizeOps[opcode]; write != nullptr) return write(instruction, operands, writer);
  if (absl::c_none_of(operands, [](const SizedValue* operand) { return operand->is_dynamic(); }))
    return SizedValue{.data = writer->Copy(instruction, DataOf(operands))};
  if (const StaticForm write = kStaticForms[opcode]; write != nullptr) return write(instruction, operands, writer);
  if (IsElementwise(opcode) && instruction.shape().IsArray()) return WriteAtBounds(instruction, operands, writer);
  return NotWritten(instruction, "does not take arrays with dynamic dimensions");
}

}  // namespace hilo
