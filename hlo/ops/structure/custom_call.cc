// A call of an external function: the result is what the instruction states, and only the text's statements
// about operands and result can be checked. Some targets are ops that XLA defines and have semantics here; calling the
// others is the work of an evaluator's environment and of backends (runtime/ffi).
#include "hlo/ops/structure/custom_call.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "hlo/ops/movement/physical_shape.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

absl::Status CheckSignature(const OpView& op, const CallSignature& signature) {
  if (signature.operands.size() != op.operands.size()) {
    return InvalidOp(op, "signature has ", signature.operands.size(), " operands; the call has ", op.operands.size());
  }
  for (size_t i = 0; i < signature.operands.size(); ++i) {
    HILO_RETURN_IF_ERROR(ShapeUtil::Validate(signature.operands[i]));
    if (!ShapeUtil::Compatible(PhysicalShape(signature.operands[i]), op.operand(i))) {
      return InvalidOp(op, "signature says ", signature.operands[i].ToString(true), " of operand ", i, ", which is ",
                       op.operand(i).ToString());
    }
  }
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(signature.result));
  if (ShapeUtil::Compatible(PhysicalShape(signature.result), *op.stated)) return absl::OkStatus();
  return InvalidOp(op, "signature says ", signature.result.ToString(true), " of the result, which is ",
                   op.stated->ToString());
}

absl::Status CheckConstraints(const OpView& op, const std::vector<Shape>& shapes) {
  if (shapes.size() != op.operands.size()) {
    return InvalidOp(op, "expected ", op.operands.size(), " operand_layout_constraints, one an operand; got ",
                     shapes.size());
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shapes[i]));
    if (ShapeUtil::Compatible(shapes[i], op.operand(i))) continue;
    return InvalidOp(op, "operand_layout_constraints[", i, "] = ", shapes[i].ToString(true), " does not fit operand ",
                     i, ", ", op.operand(i).ToString());
  }
  return absl::OkStatus();
}

bool IsPrefix(const ShapeIndex& a, const ShapeIndex& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

absl::Status CheckAliases(const OpView& op, const std::vector<OutputOperandAlias>& aliases,
                          const CallSignature& signature) {
  for (size_t i = 0; i < aliases.size(); ++i) {
    const OutputOperandAlias& alias = aliases[i];
    if (alias.operand < 0 || alias.operand >= static_cast<int64_t>(op.operands.size())) {
      return InvalidOp(op, "output_to_operand_aliasing names operand ", alias.operand, " of ", op.operands.size());
    }
    const Shape& operand = signature.operands[alias.operand];
    if (!ShapeUtil::IndexIsValid(signature.result, alias.output_index) ||
        !ShapeUtil::IndexIsValid(operand, alias.operand_index)) {
      return InvalidOp(op, "output_to_operand_aliasing names ", ListText(alias.output_index), " in the result and ",
                       ListText(alias.operand_index), " in operand ", alias.operand, "; there is no such index in ",
                       signature.result.ToString(), " or ", operand.ToString());
    }
    const Shape& to = ShapeUtil::GetSubshape(signature.result, alias.output_index);
    const Shape& from = ShapeUtil::GetSubshape(operand, alias.operand_index);
    if (!ShapeUtil::Equal(to, from)) {
      return InvalidOp(op, "output_to_operand_aliasing needs equal shapes and layouts; the result has ",
                       to.ToString(true), ", operand ", alias.operand, " has ", from.ToString(true));
    }
    for (size_t j = 0; j < i; ++j) {
      if (IsPrefix(aliases[j].output_index, alias.output_index) ||
          IsPrefix(alias.output_index, aliases[j].output_index)) {
        return InvalidOp(op, "output_to_operand_aliasing gives the result's ", ListText(alias.output_index),
                         " two operands");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> Forward(const Shape& shape, Operands operands) {
  if (operands.size() == 1 && ShapeUtil::Compatible(operands[0]->shape(), shape)) return CopyOf(*operands[0]);
  if (shape.tuple_shapes_size() == 0) return Literal::Create(shape);
  std::vector<Literal> elements;
  for (const Literal* operand : operands) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), CopyOf(*operand));
  }
  return Literal::MakeTuple(std::move(elements));
}

absl::Status CheckTopK(const OpView& op) {
  const Shape& stated = *op.stated;
  if (op.operands.size() == 1 && op.operand(0).IsArray() && op.operand(0).rank() > 0 && stated.IsTuple() &&
      stated.tuple_shapes_size() == 2 && stated.tuple_shapes(0).rank() == op.operand(0).rank()) {
    return absl::OkStatus();
  }
  return InvalidOp(op, "TopK takes one array and gives (values, indices)");
}

}  // namespace

CustomCallMeaning MeaningOfCustomCall(absl::string_view target) {
  static constexpr absl::string_view kForwards[] = {
      "Sharding",          "SPMDFullToShardShape",  "SPMDShardToFullShape",       "annotate_device_placement",
      "MoveToHost",        "MoveToDevice",          "xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape",
      "dce_sink",          "xla.sdy.ShardingGroup", "xla.sdy.LocalToGlobalShape", "xla.sdy.PropagationBarrier",
      "xla.sdy.ReshardOp", "LayoutConstraint",      "ShardBarrierFrom",           "ShardBarrierTo"};
  if (target == "TopK") return CustomCallMeaning::kTopK;
  if (target == "AllocateBuffer") return CustomCallMeaning::kAllocate;
  const bool forwards = std::find(std::begin(kForwards), std::end(kForwards), target) != std::end(kForwards);
  return forwards ? CustomCallMeaning::kForward : CustomCallMeaning::kFunction;
}

absl::string_view ForeignCustomCall(absl::string_view target) {
  struct Row {
    absl::string_view prefix, what;
  };
  static constexpr Row kRows[] = {
      {"xla_python_", "a callback into the Python that made the module; Hilo cannot reach it"},
      {"xla_ffi_python_", "a callback into the Python that made the module; Hilo cannot reach it"},
      {"xla_ffi_partitioned_python_", "a callback into the Python that made the module; Hilo cannot reach it"},
      {"PadToStatic", "part of XLA's lowering of dynamic shapes"},
      {"SliceToDynamic", "part of XLA's lowering of dynamic shapes"},
      {"__onednn$", "a library call of a module that XLA has optimized; give Hilo the module as it was before"},
      {"__cublas$", "a library call of a module that XLA has optimized; give Hilo the module as it was before"},
      {"__cudnn$", "a library call of a module that XLA has optimized; give Hilo the module as it was before"},
      {"__cub$", "a library call of a module that XLA has optimized; give Hilo the module as it was before"},
      {"__gpu$", "a library call of a module that XLA has optimized; give Hilo the module as it was before"},
      {"mhlo.", "an op of MLIR's that XLA turns into HLO before it compiles"},
      {"xla.sdy.", "an annotation of shardings that needs a partitioner"},
  };
  for (const Row& row : kRows) {
    if (absl::StartsWith(target, row.prefix)) return row.what;
  }
  return "";
}

absl::Status CheckForwards(absl::string_view target, absl::Span<const Shape* const> operands, const Shape& result) {
  std::vector<Shape> shapes;
  for (const Shape* operand : operands) shapes.push_back(*operand);
  if (shapes.size() == 1 && ShapeUtil::Compatible(shapes[0], result)) return absl::OkStatus();
  if (result.IsTuple() && result.tuple_shapes_size() == 0) return absl::OkStatus();
  if (ShapeUtil::Compatible(ShapeUtil::MakeTupleShape(shapes), result)) return absl::OkStatus();
  return Unimplemented("custom-call: ", target, " changes shapes");
}

TopKAttrs TopKAttributesOf(const Shape& result) {
  TopKAttrs attributes;
  const Shape& values = result.tuple_shapes(0);
  attributes.k = values.dimensions(values.rank() - 1);
  attributes.largest = true;
  return attributes;
}

CallSignature SignatureOf(const CustomCallAttrs& attributes, absl::Span<const Shape* const> operands,
                          const Shape& result) {
  if (attributes.signature.present) return attributes.signature;
  CallSignature signature{.present = true, .operands = {}, .result = result};
  const auto& constraints = attributes.operand_layout_constraints.shapes;
  if (constraints.has_value()) {
    signature.operands = *constraints;
    ShapeUtil::AddMissingLayouts(&signature.result);
    return signature;
  }
  for (const Shape* operand : operands) ShapeUtil::SetToDefaultLayout(&signature.operands.emplace_back(*operand));
  ShapeUtil::SetToDefaultLayout(&signature.result);
  return signature;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCustomCall>(const OpView& op) {
  const auto& attributes = op.attrs<CustomCallAttrs>();
  if (op.stated == nullptr) return InvalidOp(op, "the shape of the result must be stated");
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(*op.stated));
  if (attributes.api_version == API_VERSION_UNSPECIFIED)
    return InvalidOp(op, "api_version may not be API_VERSION_UNSPECIFIED");
  if (attributes.signature.present) {
    HILO_RETURN_IF_ERROR(CheckSignature(op, attributes.signature));
  } else if (attributes.operand_layout_constraints.shapes.has_value()) {
    HILO_RETURN_IF_ERROR(CheckConstraints(op, *attributes.operand_layout_constraints.shapes));
  }
  HILO_RETURN_IF_ERROR(
      CheckAliases(op, attributes.output_to_operand_aliasing, SignatureOf(attributes, op.operands, *op.stated)));
  if (MeaningOfCustomCall(attributes.custom_call_target) == CustomCallMeaning::kTopK)
    HILO_RETURN_IF_ERROR(CheckTopK(op));
  return *op.stated;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCustomCall>(const OpView& op, const Shape& shape, Operands operands) {
  const std::string& target = op.attrs<CustomCallAttrs>().custom_call_target;
  switch (MeaningOfCustomCall(target)) {
    case CustomCallMeaning::kForward:
      HILO_RETURN_IF_ERROR(CheckForwards(target, op.operands, shape));
      return Forward(shape, operands);
    case CustomCallMeaning::kAllocate: return Literal::Create(shape);
    case CustomCallMeaning::kTopK: {
      const TopKAttrs attributes = TopKAttributesOf(shape);
      return Evaluate<HloOpcode::kTopK>(
          {.opcode = HloOpcode::kTopK, .operands = op.operands, .attributes = &attributes, .stated = op.stated}, shape,
          operands);
    }
    case CustomCallMeaning::kFunction: break;
  }
  return Unimplemented("custom-call: this evaluator has no registered functions; got a call of ", target);
}

}  // namespace hilo
