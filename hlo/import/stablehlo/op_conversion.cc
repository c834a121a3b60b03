#include "hlo/import/stablehlo/op_conversion.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/dense_literal.h"
#include "hlo/ops/semantics.h"

namespace hilo::stablehlo {

using Kind = Attribute::Kind;

absl::StatusOr<int64_t> OpConversion::Integer(absl::string_view name) const {
  const Attribute* attribute = op.Find(name);
  if (attribute == nullptr || (attribute->kind != Kind::kInteger && attribute->kind != Kind::kBool)) {
    return InvalidArgument("expected an integer as ", name);
  }
  return attribute->integer;
}

absl::StatusOr<int64_t> OpConversion::IntegerOr(absl::string_view name, int64_t otherwise) const {
  if (!Has(name)) return otherwise;
  return Integer(name);
}

absl::StatusOr<double> OpConversion::Number(absl::string_view name) const {
  const Attribute* attribute = op.Find(name);
  if (attribute == nullptr || attribute->kind != Kind::kFloat) return InvalidArgument("expected a float as ", name);
  return attribute->number;
}

absl::StatusOr<std::vector<int64_t>> OpConversion::Integers(absl::string_view name) const {
  const Attribute* attribute = op.Find(name);
  if (attribute == nullptr) return std::vector<int64_t>();
  absl::StatusOr<std::vector<int64_t>> integers = IntegersOf(*attribute);
  if (!integers.ok()) return AddContext(integers.status(), absl::StrCat(" as ", name));
  return integers;
}

absl::StatusOr<std::vector<int64_t>> OpConversion::Integers(absl::string_view name, int64_t count,
                                                            int64_t otherwise) const {
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> integers, Integers(name));
  if (integers.empty()) integers.assign(count, otherwise);
  if (static_cast<int64_t>(integers.size()) != count)
    return InvalidArgument("expected ", count, " integers as ", name, ", got ", integers.size());
  return integers;
}

absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> OpConversion::Pairs(absl::string_view name) const {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> integers, Integers(name));
  const Attribute* attribute = op.Find(name);
  if (attribute != nullptr && attribute->kind == Kind::kDense && !integers.empty()) {
    const Shape& shape = attribute->type->shape;
    if (shape.element_type() != S64 || shape.rank() != 2 || shape.dimensions(1) != 2)
      return InvalidArgument("expected pairs as ", name, ", got ", TypeText(*attribute->type));
  }
  if (integers.size() % 2 != 0)
    return InvalidArgument("expected pairs as ", name, ", got ", integers.size(), " integers");
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < integers.size(); i += 2) pairs.emplace_back(integers[i], integers[i + 1]);
  return pairs;
}

bool OpConversion::Flag(absl::string_view name) const {
  const Attribute* attribute = op.Find(name);
  return attribute != nullptr && (attribute->kind == Kind::kUnit || attribute->integer != 0);
}

absl::string_view OpConversion::Text(absl::string_view name) const {
  const Attribute* attribute = op.Find(name);
  if (attribute == nullptr) return "";
  const bool is_text =
      attribute->kind == Kind::kString || attribute->kind == Kind::kSymbol || attribute->kind == Kind::kEnum;
  return is_text ? attribute->text : "";
}

absl::StatusOr<absl::string_view> OpConversion::OneOf(absl::string_view name,
                                                      absl::Span<const absl::string_view> words) const {
  const absl::string_view text = Text(name);
  if (absl::c_linear_search(words, text)) return text;
  return InvalidArgument("expected ", absl::StrJoin(words, ", "), " as ", name, ", got \"", text, "\"");
}

absl::Status OpConversion::ExpectOperands(size_t count) const {
  if (operands.size() == count) return absl::OkStatus();
  return InvalidArgument("expected ", count, " operands, got ", operands.size());
}

absl::Status OpConversion::ExpectAtLeast(size_t count) const {
  if (operands.size() >= count) return absl::OkStatus();
  return InvalidArgument("expected at least ", count, " operands, got ", operands.size());
}

absl::Status OpConversion::ExpectResults(size_t count) const {
  if (op.results.size() == count) return absl::OkStatus();
  return InvalidArgument("expected ", count, " results, got ", op.results.size());
}

absl::StatusOr<Shape> OpConversion::ResultShape(size_t i) const {
  if (i >= op.results.size()) return InvalidArgument("expected a result ", i);
  const Type& type = ResultType(i);
  if (type.kind == Type::Kind::kForeign) return Unimplemented("a result of ", type.name);
  if (!type.IsValue()) return InvalidArgument("a result of type ", TypeText(type));
  if (!type.IsStatic()) return Unimplemented("a result of type ", TypeText(type), ", whose sizes nothing gives");
  return type.shape;
}

absl::StatusOr<Shape> OpConversion::ResultShapes() const {
  if (op.results.size() == 1) return ResultShape();
  std::vector<Shape> shapes;
  for (size_t i = 0; i < op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(shapes.emplace_back(), ResultShape(i));
  }
  return Shape(std::move(shapes));
}

absl::StatusOr<Shape> OpConversion::ResultShapeLike(const HloInstruction& operand, size_t i) const {
  if (i < op.results.size() && ResultType(i).kind == Type::Kind::kTensor && !ResultType(i).IsStatic() &&
      operand.shape().IsArray()) {
    return ShapeUtil::ChangeElementType(operand.shape(), ResultType(i).element);
  }
  return ResultShape(i);
}

const OpMetadata& OpConversion::Metadata() {
  const auto [entry, is_new] = state.metadata.try_emplace(op.location);
  if (is_new) entry->second = MetadataOf(op.location);
  return entry->second;
}

absl::StatusOr<HloInstruction*> OpConversion::Add(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                                                  std::unique_ptr<OpAttributes> attributes,
                                                  absl::Span<HloComputation* const> called, const Shape* stated) {
  HILO_ASSIGN_OR_RETURN(HloInstruction * added,
                        computation->AddOp(opcode, operands, std::move(attributes), called, stated));
  if (op.location != nullptr) added->set_metadata(Metadata());
  if (op.line != 0) added->set_source_text_line(op.line);
  return added;
}

HloInstruction* OpConversion::AddConstant(std::shared_ptr<const Literal> literal) {
  auto constant = HloInstruction::CreateConstant(std::move(literal));
  ShapeUtil::AddMissingLayouts(constant->mutable_shape());
  return computation->AddInstruction(std::move(constant));
}

absl::StatusOr<HloInstruction*> OpConversion::AddDense(const Attribute& value) {
  const auto [entry, is_new] = state.literals.try_emplace(&value);
  if (is_new) {
    HILO_ASSIGN_OR_RETURN(Literal literal, DenseElements(value));
    entry->second = std::make_shared<const Literal>(std::move(literal));
  }
  HloInstruction* constant = AddConstant(entry->second);
  const Shape& shape = value.type->shape;
  if (ShapeUtil::Compatible(constant->shape(), shape)) return constant;
  return Add(HloOpcode::kBroadcast, {constant}, std::make_unique<BroadcastAttrs>(), {}, &shape);
}

absl::StatusOr<HloInstruction*> OpConversion::Reshape(HloInstruction* operand, std::vector<int64_t> dimensions) {
  const Shape shape(operand->shape().element_type(), dimensions);
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  return Add(HloOpcode::kReshape, {operand}, nullptr, {}, &shape);
}

absl::StatusOr<HloInstruction*> OpConversion::Transpose(HloInstruction* operand, std::vector<int64_t> permutation) {
  auto attributes = std::make_unique<TransposeAttrs>();
  attributes->dimensions = std::move(permutation);
  return Add(HloOpcode::kTranspose, {operand}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> OpConversion::Element(HloInstruction* tuple, int64_t index) {
  auto attributes = std::make_unique<GetTupleElementAttrs>();
  attributes->index = index;
  return Add(HloOpcode::kGetTupleElement, {tuple}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> OpConversion::Joined(absl::Span<HloInstruction* const> values) {
  if (values.size() == 1) return values[0];
  return Add(HloOpcode::kTuple, values);
}

absl::StatusOr<Results> OpConversion::Split(HloInstruction* instruction) {
  const Shape& shape = instruction->shape();
  if (op.results.size() == 1) return Results{instruction};
  const size_t parts = shape.IsTuple() ? shape.tuple_shapes().size() : 1;
  if (op.results.size() != parts)
    return InvalidArgument("expected ", parts, " results, of ", shape.ToString(), ", got ", op.results.size());
  Results results;
  for (size_t i = 0; i < op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), Element(instruction, static_cast<int64_t>(i)));
  }
  return results;
}

absl::StatusOr<Results> OpConversion::Split(absl::StatusOr<HloInstruction*> instruction) {
  if (!instruction.ok()) return instruction.status();
  return Split(*instruction);
}

// Instructions that depend on nothing but constants, evaluated operands first. Sizes are small arrays; what is larger
// is not one.
absl::StatusOr<Literal> OpConversion::ConstantValue(HloInstruction* instruction, absl::string_view what) const {
  constexpr int64_t kMaxElements = 1 << 16;
  constexpr size_t kMaxInstructions = 10'000;
  absl::flat_hash_map<const HloInstruction*, Literal> values;
  std::vector<HloInstruction*> stack = {instruction};
  size_t visits = 0;
  while (!stack.empty()) {
    HloInstruction* top = stack.back();
    if (values.contains(top)) {
      stack.pop_back();
      continue;
    }
    const bool evaluable = !top->IsParameter() && top->called_computations().empty() && !top->HasSideEffect() &&
                           top->shape().IsArray() && !HasTrait(top->opcode(), kPerDevice) &&
                           ShapeUtil::ElementsIn(top->shape()) <= kMaxElements;
    if (!evaluable || ++visits > kMaxInstructions)
      return Unimplemented(what, " that are not known when the program is compiled");
    std::vector<const Literal*> operands;
    std::vector<const Shape*> shapes;
    for (HloInstruction* operand : top->operands()) {
      const auto value = values.find(operand);
      if (value == values.end()) {
        stack.push_back(operand);
      } else {
        operands.push_back(&value->second);
        shapes.push_back(&operand->shape());
      }
    }
    if (stack.back() != top) continue;
    HILO_ASSIGN_OR_RETURN(
        Literal value,
        EvaluateOp(
            {.opcode = top->opcode(), .operands = shapes, .attributes = top->attributes(), .stated = &top->shape()},
            top->shape(), operands));
    // Growth of the map moves its values; operands are looked up again each time.
    values.emplace(top, std::move(value));
    stack.pop_back();
  }
  return std::move(values.at(instruction));
}

absl::StatusOr<std::vector<int64_t>> OpConversion::ConstantIntegers(HloInstruction* instruction,
                                                                    absl::string_view what) const {
  HILO_ASSIGN_OR_RETURN(const Literal value, ConstantValue(instruction, what));
  if (!IsIntegralType(value.shape().element_type()))
    return InvalidArgument("expected integers as ", what, ", got ", value.shape().ToString());
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < value.element_count(); ++i) integers.push_back(value.GetAsInt64(i));
  return integers;
}

// A location is a named location, a call site, or a list of locations. The name given last is outermost.
OpMetadata MetadataOf(const Attribute* location) {
  constexpr int kMaxHops = 64;
  OpMetadata metadata;
  for (int hop = 0; hop < kMaxHops && location != nullptr && location->kind == Kind::kLocation; ++hop) {
    if (location->integer > 0) {
      metadata.source_file = std::string(location->text);
      metadata.source_line = location->integer;
      break;
    }
    if (metadata.op_name.empty()) metadata.op_name = std::string(location->text);
    location = location->elements.empty() ? nullptr : location->elements[0];
  }
  return metadata;
}

Converter FindConverter(absl::string_view name) {
  static const auto* const rules = [] {
    auto* all = new absl::flat_hash_map<absl::string_view, Converter>;
    for (auto list : {ElementwiseRules(), MovementRules(), ReductionRules(), ContractionRules(), CollectiveRules(),
                      TransferRules(), DynamicShapeRules(), CallRules(), ChloRules(), DeprecatedRules(),
                      SpecialFunctionRules(), ShardingRules(), InterpreterRules()}) {
      for (const ConversionRule& rule : list) all->emplace(rule.name, rule.convert);
    }
    return all;
  }();
  const auto rule = rules->find(name);
  return rule == rules->end() ? nullptr : rule->second;
}

}  // namespace hilo::stablehlo
