// Reductions on arrays at their bounds: they skip the padding, or read neutral elements there.
#include <algorithm>

#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/passes/dynamic/static_forms.h"
#include "hlo/passes/inline_computation.h"

namespace hilo {
namespace {

// Arrays that are walked together have the sizes of the first that has some.
std::vector<SizedValue> WithSharedSizes(SizedOperands operands, size_t arrays) {
  std::vector<SizedValue> shared;
  for (size_t i = 0; i < arrays; ++i) shared.push_back(*operands[i]);
  for (SizedValue& array : shared) {
    for (size_t i = 0; i < arrays; ++i) array.sizes.insert(operands[i]->sizes.begin(), operands[i]->sizes.end());
  }
  return shared;
}

// Returns the identity of a computation that is one op, or null.
HloInstruction* NeutralElement(const HloComputation& combine, GraphWriter* writer) {
  const std::optional<HloOpcode> op = ReductionOp(combine);
  std::optional<Literal> identity;
  if (op.has_value()) identity = IdentityOf(*op, combine.root_instruction()->shape().element_type());
  return identity.has_value() ? writer->computation()->AddConstant(*std::move(identity)) : nullptr;
}

// `combine` for `arrays` values and one more pred on each side, which states whether the others are valid. Invalid
// values are skipped.
absl::StatusOr<HloComputation*> PassingOver(const HloComputation& combine, int64_t arrays) {
  HloComputation* computation = combine.parent()->AddComputation(combine.name());
  GraphWriter writer(computation);
  std::vector<HloInstruction*> arguments, counts;
  for (int64_t side : {0, 1}) {
    const auto add = [&](const Shape& shape, const std::string& name) {
      return computation->AddInstruction(HloInstruction::CreateParameter(computation->num_parameters(), shape, name),
                                         name);
    };
    for (int64_t i = 0; i < arrays; ++i) {
      const HloInstruction* parameter = combine.parameter_instruction(side * arrays + i);
      arguments.push_back(add(parameter->shape(), parameter->name()));
    }
    counts.push_back(add(ShapeUtil::MakeScalarShape(PRED), side == 0 ? "left_counts" : "right_counts"));
  }
  HloInstruction* combined = InlineComputation(combine, arguments, computation);
  std::vector<HloInstruction*> results;
  for (int64_t i = 0; i < arrays; ++i) {
    HloInstruction* both = combined->shape().IsTuple() ? writer.Element(combined, i) : combined;
    HloInstruction* right = writer.Op(HloOpcode::kSelect, {counts[0], both, arguments[arrays + i]});
    results.push_back(writer.Op(HloOpcode::kSelect, {counts[1], right, arguments[i]}));
  }
  results.push_back(writer.Op(HloOpcode::kOr, counts));
  HloInstruction* root = writer.Op(HloOpcode::kTuple, results);
  HILO_RETURN_IF_ERROR(writer.status());
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(root, /*allow_shape_change=*/true));
  return computation;
}

// A reduce or reduce-window along `dimensions` that ignores the padding: there it reads neutral
// elements or, where the computation has none, an additional operand that marks them as invalid.
absl::StatusOr<HloInstruction*> WriteReduction(const HloInstruction& instruction, SizedOperands operands,
                                               absl::Span<const int64_t> dimensions, GraphWriter* writer) {
  std::vector<HloInstruction*> data = DataOf(operands);
  const int64_t arrays = static_cast<int64_t>(operands.size()) / 2;
  const std::vector<SizedValue> shared = WithSharedSizes(operands, operands.size() / 2);
  if (std::none_of(dimensions.begin(), dimensions.end(), [&](int64_t d) { return shared[0].size(d) != nullptr; })) {
    return writer->Copy(instruction, data);
  }
  const HloComputation& combine = *instruction.called_computation();
  HloInstruction* neutral = arrays == 1 ? NeutralElement(combine, writer) : nullptr;
  if (neutral != nullptr) {
    data[0] = writer->Mask(shared[0], dimensions, neutral);
    return writer->Copy(instruction, data);
  }
  HloInstruction* yes = writer->computation()->AddConstant(LiteralUtil::One(PRED));
  const SizedValue all{.data = writer->Broadcast(yes, data[0]->shape().dimensions()), .sizes = shared[0].sizes};
  data.insert(data.begin() + arrays, writer->Mask(all, dimensions, writer->Zero(PRED)));
  data.push_back(yes);
  HILO_ASSIGN_OR_RETURN(HloComputation* const passing_over, PassingOver(combine, arrays));
  HloComputation* const called[] = {passing_over};
  HloInstruction* reduction = writer->Op(instruction.opcode(), data, instruction.attributes()->Clone(), called);
  HILO_RETURN_IF_ERROR(writer->status());
  reduction->CopyOriginFrom(instruction);
  std::vector<HloInstruction*> results;
  for (int64_t i = 0; i < arrays; ++i) results.push_back(writer->Element(reduction, i));
  return arrays == 1 ? results[0] : writer->Op(HloOpcode::kTuple, results);
}

// A value that select never takes for one that counts; null where select is no comparison of its arguments.
HloInstruction* LeastWelcome(const HloComputation& select, PrimitiveType type, GraphWriter* writer) {
  const HloInstruction* root = select.root_instruction();
  if (root->opcode() != HloOpcode::kCompare || root->operand(0) != select.parameter_instruction(0) ||
      root->operand(1) != select.parameter_instruction(1)) {
    return nullptr;
  }
  switch (root->attrs<CompareAttrs>().direction) {
    case ComparisonDirection::kGe:
    case ComparisonDirection::kGt: return writer->computation()->AddConstant(LiteralUtil::MinValue(type));
    case ComparisonDirection::kLe:
    case ComparisonDirection::kLt: return writer->computation()->AddConstant(LiteralUtil::MaxValue(type));
    default: return nullptr;
  }
}

}  // namespace

HloInstruction* WindowedSize(HloInstruction* size, const Window::Dimension& window, GraphWriter* writer) {
  const auto s32 = [&](int64_t value) { return writer->S32(value); };
  HloInstruction* dilated = writer->Maximum(
      s32(0), writer->Add(writer->Multiply(writer->Subtract(size, s32(1)), s32(window.base_dilation)), s32(1)));
  HloInstruction* padded = writer->Add(dilated, s32(window.padding_low + window.padding_high));
  HloInstruction* rest = writer->Subtract(padded, s32((window.size - 1) * window.window_dilation + 1));
  // Rounds down, also below zero.
  HloInstruction* steps = writer->Divide(writer->Add(rest, s32(window.stride)), s32(window.stride));
  return writer->Maximum(s32(0), steps);
}

absl::StatusOr<SizedValue> WriteReduce(const HloInstruction& instruction, SizedOperands operands, GraphWriter* writer) {
  HILO_ASSIGN_OR_RETURN(HloInstruction* const data,
                        WriteReduction(instruction, operands, instruction.attrs<ReduceAttrs>().dimensions, writer));
  return WithFlows(instruction, operands, data);
}

absl::StatusOr<SizedValue> WriteReduceWindow(const HloInstruction& instruction, SizedOperands operands,
                                             GraphWriter* writer) {
  const auto& window = instruction.attrs<ReduceWindowAttrs>().window.dimensions;
  std::vector<int64_t> windowed;
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d] != Window::Dimension()) windowed.push_back(static_cast<int64_t>(d));
  }
  const size_t arrays = operands.size() / 2;
  HILO_ASSIGN_OR_RETURN(HloInstruction* const data, WriteReduction(instruction, operands, windowed, writer));
  SizedValue result = WithFlows(instruction, operands, data);
  for (int64_t d : windowed) {
    for (size_t i = 0; i < arrays; ++i) {
      if (operands[i]->size(d) == nullptr) continue;
      HloInstruction* size = WindowedSize(writer->SizeWithinBound(*operands[i], d), window[d], writer);
      for (size_t leaf = 0; leaf < arrays; ++leaf) result.sizes.try_emplace({static_cast<int64_t>(leaf), d}, size);
    }
  }
  return result;
}

// Windows that lie in the padding add what changes nothing; those that reach into it choose an element that counts.
absl::StatusOr<SizedValue> WriteSelectAndScatter(const HloInstruction& instruction, SizedOperands operands,
                                                 GraphWriter* writer) {
  Window window = instruction.attrs<SelectAndScatterAttrs>().window;
  window.dimensions.resize(instruction.shape().rank());  // without a window, each element is one
  std::vector<int64_t> windowed;
  SizedValue source = *operands[1];
  for (int64_t d = 0; d < instruction.shape().rank(); ++d) {
    if (window.dimensions[d] != Window::Dimension()) windowed.push_back(d);
    if (operands[0]->size(d) == nullptr) continue;
    source.sizes[{0, d}] = WindowedSize(writer->SizeWithinBound(*operands[0], d), window.dimensions[d], writer);
  }
  std::vector<HloInstruction*> data = DataOf(operands);
  HloInstruction* filler = LeastWelcome(*instruction.called_computation(0), instruction.shape().element_type(), writer);
  const bool reaches =
      std::any_of(windowed.begin(), windowed.end(), [&](int64_t d) { return operands[0]->size(d) != nullptr; });
  if (reaches && filler == nullptr)
    return NotWritten(instruction, "of dynamic size is supported only where select is a comparison");
  if (reaches) data[0] = writer->Mask(*operands[0], windowed, filler);
  if (source.is_dynamic()) {
    HloInstruction* neutral = NeutralElement(*instruction.called_computation(1), writer);
    if (neutral == nullptr)
      return NotWritten(instruction, "of dynamic size is supported only where scatter is one op with an identity");
    data[1] = writer->Mask(source, AllDimensions(instruction.shape()), neutral);
  }
  return WithFlows(instruction, operands, writer->Copy(instruction, data));
}

}  // namespace hilo
