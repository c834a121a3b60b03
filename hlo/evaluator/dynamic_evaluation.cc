// A program with dynamic dimensions means what the program of the actual sizes means. So an op that combines elements
// (a reduction, a product, a sort ...) is evaluated on its operands cut down to their sizes, and its result is put back
// under the bounds. An op that only moves or maps elements is evaluated at the bounds, padding and all, and passes the
// sizes on: so the padding keeps what set-dimension-size can bring back.
#include "hlo/evaluator/dynamic_evaluation.h"

#include <algorithm>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dynamic_dimensions.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/batch_norm_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/reduction/window.h"
#include "hlo/ops/semantics.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// An operand list that owns what was made for it.
struct OwnedOperands {
  std::vector<Literal> literals;
  std::vector<const Literal*> pointers;
  std::vector<Shape> shapes;
  std::vector<const Shape*> shape_pointers;

  void Finish() {
    for (const Literal& literal : literals) pointers.push_back(&literal);
    for (const Literal& literal : literals) shapes.push_back(literal.shape());
    for (const Shape& shape : shapes) shape_pointers.push_back(&shape);
  }
};

absl::StatusOr<OwnedOperands> CutDown(Operands operands) {
  OwnedOperands cut;
  for (const Literal* operand : operands) {
    HILO_ASSIGN_OR_RETURN(Literal literal, operand->ToStatic());
    cut.literals.push_back(std::move(literal));
  }
  cut.Finish();
  return cut;
}

// Gives dimension `b` of one operand the size of dimension `a` of another, or the other way round, where one of them is
// dynamic.
void ShareSize(Literal* x, int64_t a, Literal* y, int64_t b) {
  const int64_t bound = x->shape().dimensions(a), size = std::min(x->GetDynamicSize(a), y->GetDynamicSize(b));
  if (x->GetDynamicSize(a) != size && x->GetDynamicSize(a) == bound) x->SetDynamicSize(a, size);
  if (y->GetDynamicSize(b) != size && y->GetDynamicSize(b) == bound) y->SetDynamicSize(b, size);
}

// Gives the dimensions of the first `arrays` operands one size each, but for dimension `except`.
void ShareAll(size_t arrays, int64_t except, std::vector<Literal>* operands) {
  for (size_t i = 1; i < arrays; ++i) {
    for (size_t j = 0; j < i; ++j) {
      for (int64_t d = 0; d < (*operands)[i].shape().rank(); ++d) {
        if (d != except) ShareSize(&(*operands)[j], d, &(*operands)[i], d);
      }
    }
  }
}

// Gives one size to dimensions that the op iterates together.
using Sharing = void (*)(const HloInstruction& instruction, std::vector<Literal>* operands);

void ShareOfReduction(const HloInstruction&, std::vector<Literal>* operands) {
  ShareAll(operands->size() / 2, /*except=*/-1, operands);
}
void ShareOfBatchNorm(const HloInstruction& instruction, std::vector<Literal>* operands) {
  Literal& x = (*operands)[0];
  if (instruction.opcode() == HloOpcode::kBatchNormGrad) {
    for (int64_t d = 0; d < x.shape().rank(); ++d) ShareSize(&x, d, &(*operands)[4], d);
  }
  for (Literal& vector : *operands) {
    if (vector.shape().rank() == 1) ShareSize(&x, instruction.attrs<BatchNormAttrs>().feature_index, &vector, 0);
  }
}
void ShareOfCholesky(const HloInstruction&, std::vector<Literal>* operands) {
  Literal& a = (*operands)[0];
  const int64_t rank = a.shape().rank();
  ShareSize(&a, rank - 2, &a, rank - 1);
}
void ShareOfTriangularSolve(const HloInstruction& instruction, std::vector<Literal>* operands) {
  Literal& a = (*operands)[0];
  const int64_t rank = a.shape().rank();
  const int64_t unknowns = instruction.attrs<TriangularSolveAttrs>().left_side ? rank - 2 : rank - 1;
  ShareSize(&a, rank - 2, &a, rank - 1);
  ShareSize(&a, rank - 2, &(*operands)[1], unknowns);
  ShareSize(&a, rank - 2, &a, rank - 1);
}
void ShareOfSort(const HloInstruction&, std::vector<Literal>* operands) {
  ShareAll(operands->size(), /*except=*/-1, operands);
}
void ShareOfConcatenate(const HloInstruction& instruction, std::vector<Literal>* operands) {
  ShareAll(operands->size(), instruction.attrs<ConcatenateAttrs>().dimensions[0], operands);
}
void ShareOfConvolution(const HloInstruction& instruction, std::vector<Literal>* operands) {
  const ConvolutionAttrs& attrs = instruction.attrs<ConvolutionAttrs>();
  if (attrs.feature_group_count != 1) return;
  ShareSize(&(*operands)[0], attrs.dim_labels.input_feature_dimension(), &(*operands)[1],
            attrs.dim_labels.kernel_input_feature_dimension());
}
void ShareOfDot(const HloInstruction& instruction, std::vector<Literal>* operands) {
  const DotAttrs& attrs = instruction.attrs<DotAttrs>();
  Literal &lhs = (*operands)[0], &rhs = (*operands)[1];
  for (size_t i = 0; i < attrs.lhs_contracting_dims.size(); ++i)
    ShareSize(&lhs, attrs.lhs_contracting_dims[i], &rhs, attrs.rhs_contracting_dims[i]);
  for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i)
    ShareSize(&lhs, attrs.lhs_batch_dims[i], &rhs, attrs.rhs_batch_dims[i]);
}

constexpr OpcodeMap<Sharing> kSharing = {
    {HloOpcode::kBatchNormGrad, ShareOfBatchNorm},
    {HloOpcode::kBatchNormInference, ShareOfBatchNorm},
    {HloOpcode::kBatchNormTraining, ShareOfBatchNorm},
    {HloOpcode::kCholesky, ShareOfCholesky},
    {HloOpcode::kConcatenate, ShareOfConcatenate},
    {HloOpcode::kConvolution, ShareOfConvolution},
    {HloOpcode::kDot, ShareOfDot},
    {HloOpcode::kReduce, ShareOfReduction},
    {HloOpcode::kReduceWindow, ShareOfReduction},
    {HloOpcode::kSort, ShareOfSort},
    {HloOpcode::kTriangularSolve, ShareOfTriangularSolve},
};

// The operands, with one size for dimensions that the op iterates together: a static one next to a dynamic one is cut
// to its size.
std::vector<Literal> WithSharedSizes(const HloInstruction& instruction, Operands operands) {
  std::vector<Literal> shared;
  for (const Literal* operand : operands) shared.push_back(operand->Clone());
  if (const Sharing share = kSharing[instruction.opcode()]; share != nullptr) share(instruction, &shared);
  return shared;
}

// `literal` under the bounds of `shape`, with the sizes that it has.
absl::StatusOr<Literal> PutBack(Literal literal, const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements = std::move(literal).DecomposeTuple();
    for (size_t i = 0; i < elements.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(elements[i], PutBack(std::move(elements[i]), shape.tuple_shapes(static_cast<int64_t>(i))));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  if (!shape.IsArray() || ShapeUtil::SameDimensions(literal.shape(), shape)) return literal;
  Shape bounded = shape;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (literal.shape().dimensions(d) != shape.dimensions(d)) bounded.set_dynamic_dimension(d, true);
  }
  return literal.ToBoundedDynamic(bounded);
}

void PassSizesOn(const HloInstruction& instruction, Operands operands, Literal* result) {
  for (const DimensionFlow& flow : DimensionFlows(instruction)) {
    const Literal& operand = *operands[flow.operand];
    Literal& leaf = result->shape().IsTuple() ? result->element(flow.leaf) : *result;
    const int64_t size = operand.GetDynamicSize(flow.operand_dimension),
                  bound = leaf.shape().dimensions(flow.dimension);
    if (size != operand.shape().dimensions(flow.operand_dimension) && leaf.GetDynamicSize(flow.dimension) == bound) {
      leaf.SetDynamicSize(flow.dimension, size);
    }
  }
}

absl::StatusOr<Literal> EvaluateAtBounds(const HloInstruction& instruction, const OpView& op, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, EvaluateOp(op, instruction.shape(), operands));
  PassSizesOn(instruction, operands, &result);
  return result;
}

absl::StatusOr<Literal> EvaluateCutDown(const HloInstruction& instruction, const OpView& op, Operands operands) {
  const std::vector<Literal> shared = WithSharedSizes(instruction, operands);
  std::vector<const Literal*> pointers;
  for (const Literal& literal : shared) pointers.push_back(&literal);
  HILO_ASSIGN_OR_RETURN(const OwnedOperands cut, CutDown(pointers));
  std::vector<ProgramShape> programs;
  for (const HloComputation* computation : instruction.called_computations())
    programs.push_back(computation->ComputeProgramShape());
  std::vector<const ProgramShape*> called;
  for (const ProgramShape& program : programs) called.push_back(&program);
  OpView small = op;
  small.operands = cut.shape_pointers;
  small.called = called;
  HILO_ASSIGN_OR_RETURN(const Shape shape, InferShape(small));
  HILO_ASSIGN_OR_RETURN(Literal result, EvaluateOp(small, shape, cut.pointers));
  return PutBack(std::move(result), ShapeUtil::MakeStaticShape(instruction.shape()));
}

// The elements that count, in order, under the sizes that follow from the operand's.
absl::StatusOr<Literal> EvaluateReshape(const HloInstruction& reshape, const OpView&, Operands operands) {
  const Literal& operand = *operands[0];
  const std::vector<int64_t> sizes = operand.ActualDimensions();
  std::vector<bool> is_dynamic;
  for (int64_t d = 0; d < operand.shape().rank(); ++d) is_dynamic.push_back(sizes[d] != operand.shape().dimensions(d));
  HILO_ASSIGN_OR_RETURN(const std::vector<ReshapedDimension> dimensions, ReshapedDimensions(reshape, is_dynamic));
  Shape shape(operand.shape().element_type(), reshape.shape().dimensions());
  for (const ReshapedDimension& dimension : dimensions) {
    int64_t product = 1;
    for (int64_t d = dimension.operand_begin; d < dimension.operand_end; ++d) product *= sizes[d];
    shape.set_dimensions(dimension.dimension, product / dimension.divisor);
  }
  HILO_ASSIGN_OR_RETURN(const Literal elements, operand.ToStatic());
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  const auto from = elements.untyped_data();
  std::copy_n(from.begin(), std::min(from.size(), result.untyped_data().size()), result.untyped_data().begin());
  return PutBack(std::move(result), ShapeUtil::MakeStaticShape(reshape.shape()));
}

// The array with the scalar `filler` in its padding.
Literal Filled(const Literal& array, const Literal& filler) {
  Literal filled = array.Clone();
  const Shape& shape = filled.shape();
  const std::vector<int64_t> sizes = filled.ActualDimensions();
  const auto value = filler.untyped_data();
  std::vector<int64_t> index(shape.rank(), 0);
  bool more = filled.element_count() > 0;
  while (more) {
    bool counts = true;
    for (size_t d = 0; d < index.size(); ++d) counts = counts && index[d] < sizes[d];
    if (!counts) {
      std::copy(value.begin(), value.end(),
                filled.untyped_data().begin() + filled.LinearIndex(index) * static_cast<int64_t>(value.size()));
    }
    more = IndexUtil::BumpIndices(shape.dimensions(), absl::MakeSpan(index));
  }
  return filled;
}

// At the bounds, the operand's padding being the value that pads: negative padding may take away more than there is.
absl::StatusOr<Literal> EvaluatePad(const HloInstruction& pad, const OpView& op, Operands operands) {
  const Literal filled = Filled(*operands[0], *operands[1]);
  const Shape& shape = filled.shape();
  const std::vector<int64_t> sizes = filled.ActualDimensions();
  HILO_ASSIGN_OR_RETURN(Literal result, EvaluateAtBounds(pad, op, {&filled, operands[1]}));
  const auto& padding = pad.attrs<PadAttrs>().padding.dimensions;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (padding[d] == PaddingConfig::Dimension() || sizes[d] == shape.dimensions(static_cast<int64_t>(d))) continue;
    const int64_t spread = sizes[d] == 0 ? 0 : (sizes[d] - 1) * (padding[d].interior_padding + 1) + 1;
    result.SetDynamicSize(static_cast<int64_t>(d),
                          std::max<int64_t>(0, spread + padding[d].edge_padding_low + padding[d].edge_padding_high));
  }
  return result;
}

// At the bounds: a row may have fewer elements than requested.
absl::StatusOr<Literal> EvaluateTopK(const HloInstruction& top_k, const OpView& op, Operands operands) {
  const PrimitiveType type = operands[0]->shape().element_type();
  const Literal filled = Filled(
      *operands[0], top_k.attrs<TopKAttrs>().largest ? LiteralUtil::MinValue(type) : LiteralUtil::MaxValue(type));
  return EvaluateAtBounds(top_k, op, {&filled});
}

// The source has an element for each window over what counts of the operand.
absl::StatusOr<Literal> EvaluateSelectAndScatter(const HloInstruction& instruction, const OpView& op,
                                                 Operands operands) {
  HILO_ASSIGN_OR_RETURN(const Literal array, operands[0]->ToStatic());
  const OpView small{.opcode = op.opcode, .operands = {}, .attributes = op.attributes};
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> windows,
                        WindowedSizes(small, array.shape(), instruction.attrs<SelectAndScatterAttrs>().window));
  Literal source = operands[1]->Clone();
  for (size_t d = 0; d < windows.size(); ++d) {
    if (windows[d] < source.shape().dimensions(static_cast<int64_t>(d)))
      source.SetDynamicSize(static_cast<int64_t>(d), windows[d]);
  }
  return EvaluateCutDown(instruction, op, {operands[0], &source, operands[2]});
}

// The part of the update that counts, laid over what the operand has there: where the block starts is decided at the
// bounds.
absl::StatusOr<Literal> EvaluateUpdate(const HloInstruction& update, const OpView& op, Operands operands) {
  DynamicSliceAttrs sizes;
  const auto dimensions = operands[1]->shape().dimensions();
  sizes.dynamic_slice_sizes.assign(dimensions.begin(), dimensions.end());
  std::vector<const Literal*> sliced(operands.begin(), operands.end());
  sliced.erase(sliced.begin() + 1);
  const Shape shape(operands[1]->shape().element_type(), dimensions);
  const OpView slice{.opcode = HloOpcode::kDynamicSlice, .operands = {}, .attributes = &sizes};
  HILO_ASSIGN_OR_RETURN(Literal block, EvaluateOp(slice, shape, sliced));
  const std::vector<int64_t> actual = operands[1]->ActualDimensions();
  const int width = PrimitiveTypeByteSize(shape.element_type());
  std::vector<int64_t> index(actual.size(), 0);
  if (std::find(actual.begin(), actual.end(), 0) == actual.end()) {
    do {
      const int64_t at = block.LinearIndex(index) * width;
      std::copy_n(operands[1]->untyped_data().begin() + at, width, block.untyped_data().begin() + at);
    } while (IndexUtil::BumpIndices(actual, absl::MakeSpan(index)));
  }
  std::vector<const Literal*> replaced(operands.begin(), operands.end());
  replaced[1] = &block;
  return EvaluateAtBounds(update, op, replaced);
}

// The start indices of slices of `array`, as s64, lowered so far that all of a slice counts, or to 0 if it is larger.
// Start index i is one of dimension dimensions[i / stride % dimensions.size()].
Literal ClampedStarts(const Literal& starts, const Literal& array, absl::Span<const int64_t> slice_sizes,
                      absl::Span<const int64_t> dimensions, int64_t stride) {
  Literal clamped = *Literal::Create(ShapeUtil::MakeShape(S64, starts.shape().dimensions()));
  const bool is_unsigned = starts.shape().element_type() == U64;
  const int64_t components = static_cast<int64_t>(dimensions.size());
  const std::vector<int64_t> sizes = array.ActualDimensions();
  for (int64_t i = 0; i < starts.element_count(); ++i) {
    const int64_t d = dimensions[i / stride % components], value = starts.GetAsInt64(i);
    const int64_t highest = std::max<int64_t>(sizes[d] - slice_sizes[d], 0);
    clamped.data<int64_t>()[i] = is_unsigned && value < 0 ? highest : std::min(value, highest);
  }
  return clamped;
}

absl::StatusOr<Literal> EvaluateDynamicSlice(const HloInstruction& slice, const OpView& op, Operands operands) {
  std::vector<Literal> starts;
  std::vector<const Literal*> clamped = {operands[0]};
  const int64_t rank = operands[0]->shape().rank();
  for (int64_t d = 0; d < rank; ++d) {
    starts.push_back(
        ClampedStarts(*operands[1 + d], *operands[0], slice.attrs<DynamicSliceAttrs>().dynamic_slice_sizes, {d}, 1));
  }
  for (const Literal& start : starts) clamped.push_back(&start);
  HILO_ASSIGN_OR_RETURN(Literal result, EvaluateOp(op, slice.shape(), clamped));
  PassSizesOn(slice, operands, &result);
  return result;
}

absl::StatusOr<Literal> EvaluateGather(const HloInstruction& gather, const OpView& op, Operands operands) {
  const GatherAttrs& attrs = gather.attrs<GatherAttrs>();
  const auto dimensions = operands[1]->shape().dimensions();
  int64_t stride = 1;
  for (size_t d = static_cast<size_t>(attrs.index_vector_dim) + 1; d < dimensions.size(); ++d) stride *= dimensions[d];
  const Literal starts =
      ClampedStarts(*operands[1], *operands[0], attrs.slice_sizes, attrs.start_index_map, std::max<int64_t>(stride, 1));
  HILO_ASSIGN_OR_RETURN(Literal result, EvaluateOp(op, gather.shape(), {operands[0], &starts}));
  PassSizesOn(gather, operands, &result);
  return result;
}

// Indices and updates are cut down; the operands, operand i being result i, keep their padding.
absl::StatusOr<Literal> EvaluateScatter(const HloInstruction& scatter, const OpView& op, Operands operands) {
  const size_t arrays = operands.size() / 2;
  HILO_ASSIGN_OR_RETURN(const OwnedOperands cut, CutDown(operands));
  std::vector<const Literal*> mixed = cut.pointers;
  for (size_t i = 0; i < arrays; ++i) mixed[i] = operands[i];
  std::vector<const Shape*> shapes;
  for (const Literal* operand : mixed) shapes.push_back(&operand->shape());
  OpView small = op;
  small.operands = shapes;
  HILO_ASSIGN_OR_RETURN(Literal result, EvaluateOp(small, scatter.shape(), mixed));
  PassSizesOn(scatter, operands, &result);
  return result;
}

// Ops that read or set sizes.
absl::StatusOr<Literal> EvaluateSizes(const HloInstruction& instruction, const OpView& op, Operands operands) {
  return EvaluateOp(op, instruction.shape(), operands);
}

using DynamicEvaluator = absl::StatusOr<Literal> (*)(const HloInstruction&, const OpView&, Operands);

// Besides the element-wise ops.
constexpr OpcodeMap<DynamicEvaluator> kEvaluators = {
    {HloOpcode::kBatchNormGrad, EvaluateCutDown},
    {HloOpcode::kBatchNormInference, EvaluateCutDown},
    {HloOpcode::kBatchNormTraining, EvaluateCutDown},
    {HloOpcode::kBitcastConvert, EvaluateAtBounds},
    {HloOpcode::kBroadcast, EvaluateAtBounds},
    {HloOpcode::kCholesky, EvaluateCutDown},
    {HloOpcode::kConcatenate, EvaluateCutDown},
    {HloOpcode::kConvolution, EvaluateCutDown},
    {HloOpcode::kDot, EvaluateCutDown},
    {HloOpcode::kDynamicReshape, EvaluateSizes},
    {HloOpcode::kDynamicSlice, EvaluateDynamicSlice},
    {HloOpcode::kDynamicUpdateSlice, EvaluateUpdate},
    {HloOpcode::kGather, EvaluateGather},
    {HloOpcode::kGetDimensionSize, EvaluateSizes},
    {HloOpcode::kPad, EvaluatePad},
    {HloOpcode::kReduce, EvaluateCutDown},
    {HloOpcode::kReduceWindow, EvaluateCutDown},
    {HloOpcode::kReshape, EvaluateReshape},
    {HloOpcode::kReverse, EvaluateCutDown},
    {HloOpcode::kScatter, EvaluateScatter},
    {HloOpcode::kSelectAndScatter, EvaluateSelectAndScatter},
    {HloOpcode::kSetDimensionSize, EvaluateSizes},
    {HloOpcode::kSlice, EvaluateAtBounds},
    {HloOpcode::kSort, EvaluateCutDown},
    {HloOpcode::kTopK, EvaluateTopK},
    {HloOpcode::kTranspose, EvaluateAtBounds},
    {HloOpcode::kTriangularSolve, EvaluateCutDown},
};

}  // namespace

bool AnyDynamic(Operands operands) {
  return std::any_of(operands.begin(), operands.end(), [](const Literal* operand) {
    return operand->shape().IsArray() && !operand->shape().is_static();
  });
}

absl::StatusOr<Literal> EvaluateDynamic(const HloInstruction& instruction, const OpView& op, Operands operands) {
  const HloOpcode opcode = instruction.opcode();
  const DynamicEvaluator evaluate = IsElementwise(opcode) ? EvaluateAtBounds : kEvaluators[opcode];
  if (evaluate == nullptr)
    return Unimplemented(HloOpcodeString(opcode), " does not take arrays with dynamic dimensions");
  return evaluate(instruction, op, operands);
}

}  // namespace hilo
