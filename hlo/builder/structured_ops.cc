// The functions of XlaBuilder that are not element-wise. Most put attributes together and leave the
// checking to inference; those that compute with the operand's shape first go through WithShape.
#include <algorithm>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

using Called = std::vector<const XlaComputation*>;

std::vector<int64_t> List(absl::Span<const int64_t> span) { return {span.begin(), span.end()}; }
std::string ListText(absl::Span<const int64_t> list) { return absl::StrCat("{", absl::StrJoin(list, ","), "}"); }

std::vector<XlaOp> Joined(absl::Span<const XlaOp> a, absl::Span<const XlaOp> b) {
  std::vector<XlaOp> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// Adds an op to the builder of its first operand that has one.
XlaOp Emit(HloOpcode opcode, absl::Span<const XlaOp> operands, std::unique_ptr<OpAttributes> attributes = nullptr,
           const Called& called = {}, const Shape* stated = nullptr) {
  for (XlaOp operand : operands) {
    if (operand.builder() != nullptr) {
      return AddOp(operand.builder(), opcode, operands, std::move(attributes), called, stated);
    }
  }
  return XlaOp();
}

// f(shape of operand) -> StatusOr<XlaOp>, with errors reported to the operand's builder.
template <typename F>
XlaOp WithShape(XlaOp operand, F&& f) {
  if (operand.builder() == nullptr) return XlaOp();
  const absl::StatusOr<Shape> shape = operand.builder()->GetShape(operand);
  if (!shape.ok()) return operand.builder()->ReportError(shape.status());
  return operand.builder()->ReportErrorOrReturn(f(*shape));
}

absl::Status ExpectArray(absl::string_view op, const Shape& shape) {
  if (shape.IsArray()) return absl::OkStatus();
  return InvalidArgument(op, ": expected an array; got ", shape.ToString());
}

absl::Status ExpectDimension(absl::string_view op, const Shape& shape, int64_t dimension) {
  HILO_RETURN_IF_ERROR(ExpectArray(op, shape));
  if (dimension >= 0 && dimension < shape.rank()) return absl::OkStatus();
  return InvalidArgument(op, ": expected a dimension below the rank, ", shape.rank(), "; got ", dimension);
}

// Start indices in the form that HLO requires: scalars, from one vector.
absl::StatusOr<std::vector<XlaOp>> StartScalars(XlaOp starts, const Shape& shape) {
  if (shape.IsScalar()) return std::vector<XlaOp>{starts};
  if (!shape.IsArray() || shape.rank() != 1) {
    return InvalidArgument("expected start indices as scalars or one vector; got ", shape.ToString());
  }
  std::vector<XlaOp> scalars;
  for (int64_t i = 0; i < shape.dimensions(0); ++i) scalars.push_back(Reshape(SliceInDim(starts, i, i + 1, 1, 0), {}));
  return scalars;
}

// Braces around balanced text, so that it is valid in HLO text.
bool IsDictionary(absl::string_view text) {
  if (text.empty() || text[0] != '{') return false;
  std::string open;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[' || c == '(') {
      open.push_back(c == '{' ? '}' : c == '[' ? ']' : ')');
    } else if (c == '}' || c == ']' || c == ')') {
      if (open.back() != c) return false;
      open.pop_back();
      if (open.empty()) return i + 1 == text.size();
    }
  }
  return false;
}

}  // namespace

XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name) {
  return builder->Parameter(number, shape, name);
}

XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal) { return builder->ConstantLiteral(literal); }

XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension) {
  auto attributes = std::make_unique<IotaAttrs>();
  attributes->iota_dimension = iota_dimension;
  return AddOp(builder, HloOpcode::kIota, {}, std::move(attributes), {}, &shape);
}

XlaOp Iota(XlaBuilder* builder, PrimitiveType type, int64_t size) { return Iota(builder, Shape(type, {size}), 0); }

// --- other element-wise ops ---

// Arrays are chosen element by element. Between tuples, which the op does not take, a conditional chooses.
XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false) {
  return WithShape(on_true, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    if (!shape.IsTuple()) return Emit(HloOpcode::kSelect, {pred, on_true, on_false});
    XlaBuilder same("same");
    Parameter(&same, 0, shape, "x");
    HILO_ASSIGN_OR_RETURN(const XlaComputation identity, same.Build());
    return Conditional(pred, on_true, identity, on_false, identity);
  });
}
XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max) { return Emit(HloOpcode::kClamp, {min, operand, max}); }

XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_RETURN_IF_ERROR(ExpectArray("convert", shape));
    Shape result = shape;
    result.set_element_type(new_element_type);
    return Emit(HloOpcode::kConvert, {operand}, nullptr, {}, &result);
  });
}

XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_RETURN_IF_ERROR(ExpectArray("bitcast-convert", shape));
    if (!IsArrayType(new_element_type)) {
      return InvalidArgument("bitcast-convert: expected the element type of an array; got ",
                             PrimitiveTypeName(new_element_type));
    }
    std::vector<int64_t> sizes = List(shape.dimensions());
    const int from = PrimitiveTypeBitWidth(shape.element_type()), to = PrimitiveTypeBitWidth(new_element_type);
    if (from > to) sizes.push_back(from / to);
    if (from < to && !sizes.empty()) sizes.pop_back();  // inference checks that it is to / from
    const Shape result(new_element_type, sizes);
    return Emit(HloOpcode::kBitcastConvert, {operand}, nullptr, {}, &result);
  });
}

XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits) {
  auto attributes = std::make_unique<ReducePrecisionAttrs>();
  attributes->exponent_bits = exponent_bits;
  attributes->mantissa_bits = mantissa_bits;
  return Emit(HloOpcode::kReducePrecision, {operand}, std::move(attributes));
}

XlaOp Map(XlaBuilder* builder, absl::Span<const XlaOp> operands, const XlaComputation& computation,
          absl::Span<const int64_t> dimensions) {
  auto attributes = std::make_unique<MapAttrs>();
  attributes->dimensions = List(dimensions);
  return AddOp(builder, HloOpcode::kMap, operands, std::move(attributes), {&computation});
}

// --- shape and movement ---

XlaOp Broadcast(XlaOp operand, absl::Span<const int64_t> broadcast_sizes) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_RETURN_IF_ERROR(ExpectArray("broadcast", shape));
    std::vector<int64_t> sizes = List(broadcast_sizes);
    sizes.insert(sizes.end(), shape.dimensions().begin(), shape.dimensions().end());
    auto attributes = std::make_unique<BroadcastAttrs>();
    attributes->dimensions.resize(shape.rank());
    std::iota(attributes->dimensions.begin(), attributes->dimensions.end(), broadcast_sizes.size());
    const Shape result(shape.element_type(), sizes);
    return Emit(HloOpcode::kBroadcast, {operand}, std::move(attributes), {}, &result);
  });
}

XlaOp Reshape(XlaOp operand, absl::Span<const int64_t> new_sizes) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    const Shape result(shape.element_type(), new_sizes);
    return Emit(HloOpcode::kReshape, {operand}, nullptr, {}, &result);
  });
}

XlaOp Collapse(XlaOp operand, absl::Span<const int64_t> dimensions) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_RETURN_IF_ERROR(ExpectArray("collapse", shape));
    for (size_t i = 0; i < dimensions.size(); ++i) {
      HILO_RETURN_IF_ERROR(ExpectDimension("collapse", shape, dimensions[i]));
      if (i > 0 && dimensions[i] != dimensions[i - 1] + 1) {
        return InvalidArgument("collapse: expected consecutive dimensions in order; got ", ListText(dimensions));
      }
    }
    if (dimensions.size() <= 1) return operand;
    std::vector<int64_t> sizes;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d > dimensions.front() && d <= dimensions.back()) {
        sizes.back() *= shape.dimensions(d);  // the shape is valid: no part of it has more than 2^62 elements
      } else {
        sizes.push_back(shape.dimensions(d));
      }
    }
    return Reshape(operand, sizes);
  });
}

XlaOp Transpose(XlaOp operand, absl::Span<const int64_t> permutation) {
  auto attributes = std::make_unique<TransposeAttrs>();
  attributes->dimensions = List(permutation);
  return Emit(HloOpcode::kTranspose, {operand}, std::move(attributes));
}

XlaOp Rev(XlaOp operand, absl::Span<const int64_t> dimensions) {
  auto attributes = std::make_unique<ReverseAttrs>();
  attributes->dimensions = List(dimensions);
  return Emit(HloOpcode::kReverse, {operand}, std::move(attributes));
}

XlaOp Slice(XlaOp operand, absl::Span<const int64_t> start_indices, absl::Span<const int64_t> limit_indices,
            absl::Span<const int64_t> strides) {
  return WithShape(operand, [&](const Shape&) -> absl::StatusOr<XlaOp> {
    if (limit_indices.size() != start_indices.size() || (!strides.empty() && strides.size() != start_indices.size())) {
      return InvalidArgument("slice: expected as many start indices, limit indices and strides, or no strides; got ",
                             ListText(start_indices), ", ", ListText(limit_indices), " and ", ListText(strides));
    }
    auto attributes = std::make_unique<SliceAttrs>();
    for (size_t d = 0; d < start_indices.size(); ++d) {
      attributes->slice.push_back({start_indices[d], limit_indices[d], strides.empty() ? 1 : strides[d]});
    }
    return Emit(HloOpcode::kSlice, {operand}, std::move(attributes));
  });
}

XlaOp SliceInDim(XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride, int64_t dimension) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_RETURN_IF_ERROR(ExpectDimension("slice", shape, dimension));
    std::vector<int64_t> starts(shape.rank(), 0), limits = List(shape.dimensions()), strides(shape.rank(), 1);
    starts[dimension] = start_index;
    limits[dimension] = limit_index;
    strides[dimension] = stride;
    return Slice(operand, starts, limits, strides);
  });
}

XlaOp DynamicSlice(XlaOp operand, absl::Span<const XlaOp> start_indices, absl::Span<const int64_t> slice_sizes) {
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes = List(slice_sizes);
  return Emit(HloOpcode::kDynamicSlice, Joined({operand}, start_indices), std::move(attributes));
}

XlaOp DynamicSlice(XlaOp operand, XlaOp start_indices, absl::Span<const int64_t> slice_sizes) {
  return WithShape(start_indices, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_ASSIGN_OR_RETURN(const std::vector<XlaOp> starts, StartScalars(start_indices, shape));
    return DynamicSlice(operand, starts, slice_sizes);
  });
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, absl::Span<const XlaOp> start_indices) {
  return Emit(HloOpcode::kDynamicUpdateSlice, Joined({operand, update}, start_indices));
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices) {
  return WithShape(start_indices, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_ASSIGN_OR_RETURN(const std::vector<XlaOp> starts, StartScalars(start_indices, shape));
    return DynamicUpdateSlice(operand, update, starts);
  });
}

XlaOp ConcatInDim(XlaBuilder* builder, absl::Span<const XlaOp> operands, int64_t dimension) {
  auto attributes = std::make_unique<ConcatenateAttrs>();
  attributes->dimensions = {dimension};
  return AddOp(builder, HloOpcode::kConcatenate, operands, std::move(attributes));
}

XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config) {
  auto attributes = std::make_unique<PadAttrs>();
  attributes->padding = padding_config;
  return Emit(HloOpcode::kPad, {operand, padding_value}, std::move(attributes));
}

XlaOp PadInDim(XlaOp operand, XlaOp padding_value, int64_t dimension, int64_t low, int64_t high) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    HILO_RETURN_IF_ERROR(ExpectDimension("pad", shape, dimension));
    PaddingConfig padding;
    padding.dimensions.resize(shape.rank());
    padding.dimensions[dimension] = {.edge_padding_low = low, .edge_padding_high = high};
    return Pad(operand, padding_value, padding);
  });
}

XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers& dimension_numbers,
             absl::Span<const int64_t> slice_sizes, bool indices_are_sorted) {
  auto attributes = std::make_unique<GatherAttrs>();
  attributes->offset_dims = dimension_numbers.offset_dims();
  attributes->collapsed_slice_dims = dimension_numbers.collapsed_slice_dims();
  attributes->start_index_map = dimension_numbers.start_index_map();
  attributes->operand_batching_dims = dimension_numbers.operand_batching_dims();
  attributes->start_indices_batching_dims = dimension_numbers.start_indices_batching_dims();
  attributes->index_vector_dim = dimension_numbers.index_vector_dim();
  attributes->slice_sizes = List(slice_sizes);
  attributes->indices_are_sorted = indices_are_sorted;
  return Emit(HloOpcode::kGather, {operand, start_indices}, std::move(attributes));
}

XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates, const XlaComputation& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted, bool unique_indices) {
  return Scatter(absl::MakeConstSpan(&operand, 1), scatter_indices, absl::MakeConstSpan(&updates, 1),
                 update_computation, dimension_numbers, indices_are_sorted, unique_indices);
}

XlaOp Scatter(absl::Span<const XlaOp> operands, XlaOp scatter_indices, absl::Span<const XlaOp> updates,
              const XlaComputation& update_computation, const ScatterDimensionNumbers& dimension_numbers,
              bool indices_are_sorted, bool unique_indices) {
  auto attributes = std::make_unique<ScatterAttrs>();
  attributes->update_window_dims = dimension_numbers.update_window_dims();
  attributes->inserted_window_dims = dimension_numbers.inserted_window_dims();
  attributes->scatter_dims_to_operand_dims = dimension_numbers.scatter_dims_to_operand_dims();
  attributes->input_batching_dims = dimension_numbers.input_batching_dims();
  attributes->scatter_indices_batching_dims = dimension_numbers.scatter_indices_batching_dims();
  attributes->index_vector_dim = dimension_numbers.index_vector_dim();
  attributes->indices_are_sorted = indices_are_sorted;
  attributes->unique_indices = unique_indices;
  return Emit(HloOpcode::kScatter, Joined(Joined(operands, {scatter_indices}), updates), std::move(attributes),
              {&update_computation});
}

XlaOp Sort(absl::Span<const XlaOp> operands, const XlaComputation& comparator, int64_t dimension, bool is_stable) {
  if (operands.empty()) return XlaOp();
  return WithShape(operands[0], [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    auto attributes = std::make_unique<SortAttrs>();
    HILO_ASSIGN_OR_RETURN(const int64_t number, ShapeUtil::GetDimensionNumber(shape, dimension));
    attributes->dimensions = {number};
    attributes->is_stable = is_stable;
    return Emit(HloOpcode::kSort, operands, std::move(attributes), {&comparator});
  });
}

// --- reductions and products ---

XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
             absl::Span<const int64_t> dimensions_to_reduce) {
  auto attributes = std::make_unique<ReduceAttrs>();
  attributes->dimensions = List(dimensions_to_reduce);
  return Emit(HloOpcode::kReduce, {operand, init_value}, std::move(attributes), {&computation});
}

XlaOp Reduce(XlaBuilder* builder, absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
             const XlaComputation& computation, absl::Span<const int64_t> dimensions_to_reduce) {
  auto attributes = std::make_unique<ReduceAttrs>();
  attributes->dimensions = List(dimensions_to_reduce);
  return AddOp(builder, HloOpcode::kReduce, Joined(operands, init_values), std::move(attributes), {&computation});
}

XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputation& computation) {
  return WithShape(operand, [&](const Shape& shape) -> absl::StatusOr<XlaOp> {
    std::vector<int64_t> all(shape.rank());
    std::iota(all.begin(), all.end(), 0);
    return Reduce(operand, init_value, computation, all);
  });
}

XlaOp Dot(XlaOp lhs, XlaOp rhs, std::optional<PrimitiveType> preferred_element_type) {
  return WithShape(lhs, [&](const Shape& lhs_shape) -> absl::StatusOr<XlaOp> {
    HILO_ASSIGN_OR_RETURN(const Shape rhs_shape, lhs.builder()->GetShape(rhs));
    const bool fits = lhs_shape.IsArray() && rhs_shape.IsArray() && lhs_shape.rank() >= 1 && lhs_shape.rank() <= 2 &&
                      rhs_shape.rank() >= 1 && rhs_shape.rank() <= 2;
    if (!fits) {
      return InvalidArgument("dot: expected vectors or matrices; got ", lhs_shape.ToString(), " and ",
                             rhs_shape.ToString());
    }
    DotDimensionNumbers dimension_numbers;
    dimension_numbers.add_lhs_contracting_dimensions(lhs_shape.rank() - 1);
    dimension_numbers.add_rhs_contracting_dimensions(0);
    return DotGeneral(lhs, rhs, dimension_numbers, preferred_element_type);
  });
}

XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                 std::optional<PrimitiveType> preferred_element_type) {
  auto attributes = std::make_unique<DotAttrs>();
  attributes->lhs_contracting_dims = dimension_numbers.lhs_contracting_dimensions();
  attributes->rhs_contracting_dims = dimension_numbers.rhs_contracting_dimensions();
  attributes->lhs_batch_dims = dimension_numbers.lhs_batch_dimensions();
  attributes->rhs_batch_dims = dimension_numbers.rhs_batch_dimensions();
  // Inference uses only the element type of a stated shape.
  const Shape preferred(preferred_element_type.value_or(PRIMITIVE_TYPE_INVALID), {});
  return Emit(HloOpcode::kDot, {lhs, rhs}, std::move(attributes), {},
              preferred_element_type.has_value() ? &preferred : nullptr);
}

// --- tuples, tokens, control flow ---

XlaOp Tuple(XlaBuilder* builder, absl::Span<const XlaOp> elements) {
  return AddOp(builder, HloOpcode::kTuple, elements);
}

XlaOp GetTupleElement(XlaOp tuple, int64_t index) {
  auto attributes = std::make_unique<GetTupleElementAttrs>();
  attributes->index = index;
  return Emit(HloOpcode::kGetTupleElement, {tuple}, std::move(attributes));
}

XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init) {
  return Emit(HloOpcode::kWhile, {init}, nullptr, {&condition, &body});
}

XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation, XlaOp false_operand,
                  const XlaComputation& false_computation) {
  return Emit(HloOpcode::kConditional, {predicate, true_operand, false_operand}, nullptr,
              {&true_computation, &false_computation});
}

XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branch_computations,
                  absl::Span<const XlaOp> branch_operands) {
  return Emit(HloOpcode::kConditional, Joined({branch_index}, branch_operands), nullptr,
              Called(branch_computations.begin(), branch_computations.end()));
}

XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, absl::Span<const XlaOp> operands) {
  return AddOp(builder, HloOpcode::kCall, operands, nullptr, {&computation});
}

XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation, absl::Span<const XlaOp> operands,
                    const std::string& name, std::optional<std::string> attributes, std::optional<int64_t> version) {
  auto call = std::make_unique<CallAttrs>();
  call->is_composite = true;
  const XlaOp op = AddOp(builder, HloOpcode::kCall, operands, std::move(call), {&computation});
  if (!op.valid()) return op;
  if (attributes.has_value() && !IsDictionary(*attributes)) {
    return builder->ReportError(InvalidArgument("composite call: expected attributes as {...}; got ", *attributes));
  }
  std::string text = "{";
  if (attributes.has_value()) absl::StrAppend(&text, "composite.attributes=", *attributes, ",");
  absl::StrAppend(&text, "composite.name=\"", absl::Utf8SafeCEscape(name), "\",composite.version=\"",
                  version.value_or(0), "\"}");
  AddExtraAttribute(builder, op, "frontend_attributes", std::move(text));
  return op;
}

XlaOp OptimizationBarrier(XlaOp operand) { return Emit(HloOpcode::kOptimizationBarrier, {operand}); }
XlaOp CreateToken(XlaBuilder* builder) { return AddOp(builder, HloOpcode::kAfterAll, {}); }

XlaOp AfterAll(XlaBuilder* builder, absl::Span<const XlaOp> tokens) {
  if (tokens.empty()) return builder->ReportError(InvalidArgument("after-all: expected at least one token; got none"));
  return AddOp(builder, HloOpcode::kAfterAll, tokens);
}

}  // namespace hilo
