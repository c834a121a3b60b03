// Custom calls, and composites that are an HLO opcode.
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/attribute_text.h"
#include "hlo/import/stablehlo/dense_literal.h"
#include "hlo/import/stablehlo/library_calls.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo::stablehlo {
namespace {

// Gives each array of `shapes` its layout: lists of dimensions, minor first. Errors: InvalidArgument unless they fit.
absl::Status SetLayouts(const Attribute& layouts, absl::string_view name, std::vector<Shape>* shapes) {
  if (layouts.elements.size() != shapes->size()) {
    return InvalidArgument("expected ", shapes->size(), " layouts as ", name, ", got ", layouts.elements.size());
  }
  for (size_t i = 0; i < shapes->size(); ++i) {
    Shape& shape = (*shapes)[i];
    if (!shape.IsArray()) continue;
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> order, IntegersOf(*layouts.elements[i]));
    shape.clear_layout();
    shape.mutable_layout()->minor_to_major.assign(order.begin(), order.end());
    HILO_RETURN_IF_ERROR(AddContext(ShapeUtil::ValidateWithLayout(shape), absl::StrCat("; in ", name)));
  }
  return absl::OkStatus();
}

absl::Status SetAliases(const OpConversion& c, CustomCallAttrs* attributes) {
  const Attribute* aliases = c.op.Find("output_operand_aliases");
  if (aliases == nullptr) return absl::OkStatus();
  for (const Attribute* alias : aliases->elements) {
    if (alias->kind != Attribute::Kind::kAlias) return InvalidArgument("expected aliases as output_operand_aliases");
    attributes->output_to_operand_aliasing.push_back(
        {.output_index = alias->integers, .operand = alias->integer, .operand_index = alias->more_integers});
  }
  return absl::OkStatus();
}

absl::Status SetConfig(const OpConversion& c, CustomCallAttrs* attributes) {
  const Attribute* dictionary = c.op.Find("mhlo.backend_config");
  const Attribute* config = c.op.Find("backend_config");
  if (dictionary == nullptr && config != nullptr && config->kind == Attribute::Kind::kDictionary) dictionary = config;
  const Attribute* version = c.op.Find("api_version");
  if (version != nullptr && version->kind == Attribute::Kind::kInteger) {
    if (version->integer < 0 || version->integer > API_VERSION_TYPED_FFI)
      return InvalidArgument("there is no api_version ", version->integer);
    attributes->api_version = static_cast<CustomCallApiVersion>(version->integer);
  } else if (version != nullptr) {
    HILO_RETURN_IF_ERROR(FieldFromText(version->text, &attributes->api_version));
  }
  // A dictionary makes the call a typed one, regardless of the stated version.
  if (dictionary != nullptr) {
    attributes->api_version = API_VERSION_TYPED_FFI;
    HILO_ASSIGN_OR_RETURN(attributes->backend_config.text, DictionaryText(*dictionary, &c.state.call_text_left));
  } else {
    attributes->backend_config.text = std::string(c.Text("backend_config"));
  }
  return absl::OkStatus();
}

// An assertion about sizes holds, or it does not: there is nothing to do when the program runs.
absl::StatusOr<Results> ShapeAssertion(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(1));
  HILO_ASSIGN_OR_RETURN(const Literal holds, c.ConstantValue(c.operands[0], "conditions on sizes"));
  if (holds.shape().element_type() != PRED || !holds.shape().IsScalar())
    return InvalidArgument("a shape_assertion of ", holds.shape().ToString());
  if (!holds.GetFirstElement<bool>())
    return InvalidArgument("the program's condition on its sizes does not hold: ", c.Text("error_message"));
  return Results();
}

// Layouts that a function requires do not propagate beyond its call.
absl::StatusOr<HloInstruction*> InDefaultLayout(OpConversion& c, HloInstruction* value) {
  if (!value->shape().IsArray() || LayoutUtil::IsDefault(value->shape().layout())) return value;
  return c.Add(HloOpcode::kCopy, {value});
}

// Older programs have some operations of chlo as custom calls.
Converter MhloConverter(absl::string_view target) {
  if (!absl::ConsumePrefix(&target, "mhlo.")) return nullptr;
  return FindConverter(absl::StrCat("chlo.", target == "topk" ? "top_k" : target));
}

// What has been an argument of unknown sizes, with those it is to have as a second operand.
absl::StatusOr<Results> ShapeRefinement(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.ConstantIntegers(c.operands[1], "sizes"));
  const Shape& shape = c.operands[0]->shape();
  if (!absl::c_equal(sizes, shape.dimensions()))
    return InvalidArgument("the sizes are not those of ", shape.ToString());
  return Results{c.operands[0]};
}

// A buffer is a value that nothing else refers to, so that calls may update it in place: an array, of which HLO's own
// aliasing of results and operands says the same. One whose contents nothing has set yet is full of zeros.
absl::StatusOr<std::optional<Results>> BufferCall(OpConversion& c, absl::string_view target) {
  const bool makes_buffer = c.op.results.size() == 1 && c.ResultType().is_buffer;
  const bool takes_buffer = c.op.operands.size() == 1 && c.op.operands[0]->type->is_buffer;
  if ((target == "Pin" && makes_buffer && c.operands.size() == 1) || (target == "Unpin" && takes_buffer))
    return Results(c.operands);
  if (target != "CreateBuffer" || !makes_buffer || !c.operands.empty()) return std::nullopt;
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  HloInstruction* zero = c.AddConstant(std::make_shared<const Literal>(LiteralUtil::Zero(shape.element_type())));
  return c.Split(c.Add(HloOpcode::kBroadcast, {zero}, std::make_unique<BroadcastAttrs>(), {}, &shape));
}

absl::StatusOr<Results> CustomCall(OpConversion& c) {
  const absl::string_view target = c.Text("call_target_name");
  if (target.empty()) return InvalidArgument("expected call_target_name");
  if (target == "shape_assertion") return ShapeAssertion(c);
  if (target == "stablehlo.shape_refinement_operand_wrapper") return ShapeRefinement(c);
  HILO_ASSIGN_OR_RETURN(std::optional<Results> buffers, BufferCall(c, target));
  if (buffers.has_value()) return *std::move(buffers);
  if (target == "ragged_all_to_all") return RaggedAllToAll(c);
  if (const Converter convert = FindLibraryCall(target); convert != nullptr) return convert(c);
  if (const Converter convert = MhloConverter(target); convert != nullptr) return convert(c);
  if (const Attribute* tilings = c.op.Find("result_tilings"); tilings != nullptr && !tilings->elements.empty())
    return Unimplemented("result_tilings");
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = std::string(target);
  attributes->custom_call_has_side_effect = c.Flag("has_side_effect") || absl::StartsWith(target, "check.");
  HILO_RETURN_IF_ERROR(SetConfig(c, attributes.get()));
  HILO_RETURN_IF_ERROR(SetAliases(c, attributes.get()));
  std::vector<Shape> results;
  for (size_t i = 0; i < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), c.ResultShape(i));
  }
  const Attribute* operand_layouts = c.op.Find("operand_layouts");
  const Attribute* result_layouts = c.op.Find("result_layouts");
  const bool has_layouts = (operand_layouts != nullptr && !operand_layouts->elements.empty()) ||
                           (result_layouts != nullptr && !result_layouts->elements.empty());
  if (has_layouts) {
    std::vector<Shape>& operands = attributes->operand_layout_constraints.shapes.emplace();
    for (const HloInstruction* operand : c.operands) operands.push_back(operand->shape());
    if (operand_layouts != nullptr && !operand_layouts->elements.empty())
      HILO_RETURN_IF_ERROR(SetLayouts(*operand_layouts, "operand_layouts", &operands));
    if (result_layouts != nullptr && !result_layouts->elements.empty()) {
      // A single result that is a tuple has one layout per element.
      const bool is_tuple = results.size() == 1 && results[0].IsTuple();
      std::vector<Shape> elements = is_tuple ? results[0].tuple_shapes() : results;
      HILO_RETURN_IF_ERROR(SetLayouts(*result_layouts, "result_layouts", &elements));
      results = is_tuple ? std::vector<Shape>{Shape(std::move(elements))} : std::move(elements);
    }
  }
  Shape shape = results.size() == 1 ? results[0] : Shape(std::move(results));
  ShapeUtil::AddMissingLayouts(&shape);
  HILO_ASSIGN_OR_RETURN(HloInstruction * call,
                        c.Add(HloOpcode::kCustomCall, c.operands, std::move(attributes), c.regions, &shape));
  *call->mutable_shape() = shape;  // with its layouts
  if (const Attribute* sharding = c.op.Find("mhlo.sharding");
      sharding != nullptr && sharding->kind == Attribute::Kind::kString) {
    call->add_extra_attribute("sharding", std::string(sharding->text));
  }
  if (const Attribute* frontend = c.op.Find("mhlo.frontend_attributes");
      frontend != nullptr && !frontend->entries.empty()) {
    call->add_extra_attribute("frontend_attributes", FrontendAttributesText(*frontend));
  }
  if (c.op.results.size() == 1) {
    HILO_ASSIGN_OR_RETURN(call, InDefaultLayout(c, call));
    return Results{call};
  }
  Results elements;
  for (size_t i = 0; i < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, c.Element(call, static_cast<int64_t>(i)));
    *element->mutable_shape() = shape.tuple_shapes(static_cast<int64_t>(i));
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), InDefaultLayout(c, element));
  }
  return elements;
}

// Operations of the dialect check are custom calls of the same name, with both arrays as operands.
absl::StatusOr<Results> Check(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectResults(0));
  std::vector<HloInstruction*> operands = c.operands;
  absl::string_view target = c.op.name;
  if (absl::ConsumeSuffix(&target, "_const")) {
    const Attribute* value = c.op.Find("value");
    if (value == nullptr || value->kind != Attribute::Kind::kDense) return InvalidArgument("expected dense<...>");
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), c.AddDense(*value));
  }
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = std::string(target);
  attributes->custom_call_has_side_effect = true;
  if (target == "check.expect_almost_eq") {
    const Attribute* stated = c.op.Find("tolerance");
    const double tolerance = stated == nullptr                           ? 1e-4
                             : stated->kind == Attribute::Kind::kInteger ? static_cast<double>(stated->integer)
                                                                         : stated->number;
    attributes->api_version = API_VERSION_TYPED_FFI;
    attributes->backend_config.text = absl::StrCat("{tolerance = ", tolerance, " : f64}");
  } else if (target == "check.expect_close") {
    HILO_ASSIGN_OR_RETURN(const int64_t least, c.IntegerOr("min_ulp_difference", 0));
    if (least != 0) return Unimplemented("min_ulp_difference = ", least);
    HILO_ASSIGN_OR_RETURN(const int64_t most, c.IntegerOr("max_ulp_difference", 1));
    attributes->api_version = API_VERSION_TYPED_FFI;
    attributes->backend_config.text = absl::StrCat("{max_ulp_difference = ", most, " : i64}");
  }
  const Shape none = ShapeUtil::MakeTupleShape({});
  HILO_RETURN_IF_ERROR(c.Add(HloOpcode::kCustomCall, operands, std::move(attributes), {}, &none).status());
  return Results();
}

// An attribute of the operation. Those of a composite, or a custom call, are in a dictionary. Null: not given.
const Attribute* CompositeAttribute(const OpConversion& c, absl::string_view name) {
  const Attribute* attributes = c.op.Find("composite_attributes");
  if (attributes == nullptr) attributes = c.op.Find("mhlo.attributes");
  if (attributes == nullptr) return c.op.Find(name);
  for (const NamedAttribute& entry : attributes->entries) {
    if (entry.name == name) return entry.value;
  }
  return nullptr;
}

absl::StatusOr<Results> TopK(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(c.ExpectResults(2));
  const Attribute* k = CompositeAttribute(c, "k");
  const Attribute* largest = CompositeAttribute(c, "largest");
  if (k == nullptr || k->kind != Attribute::Kind::kInteger) return InvalidArgument("expected an integer as k");
  if (largest != nullptr && largest->kind != Attribute::Kind::kBool) {
    return InvalidArgument("expected true or false as largest");
  }
  auto attributes = std::make_unique<TopKAttrs>();
  attributes->k = k->integer;
  attributes->largest = largest == nullptr || largest->integer != 0;
  return c.Split(c.Add(HloOpcode::kTopK, c.operands, std::move(attributes)));
}

// What has been started runs where it starts; the future is its results.
absl::StatusOr<Results> AsyncDone(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  return c.Split(c.operands[0]);
}

constexpr ConversionRule kCallRules[] = {
    {"check.expect_almost_eq", Check},   {"check.expect_almost_eq_const", Check}, {"check.expect_close", Check},
    {"check.expect_eq", Check},          {"check.expect_eq_const", Check},        {"chlo.top_k", TopK},
    {"stablehlo.async_done", AsyncDone}, {"stablehlo.custom_call", CustomCall},
};

}  // namespace

absl::Span<const ConversionRule> CallRules() { return kCallRules; }

// Only what is one instruction and finds its attributes in a composite; else the program's own decomposition is as
// good.
Converter FindCompositeConverter(absl::string_view name) {
  for (auto list : {SpecialFunctionRules(), ChloRules()}) {
    for (const ConversionRule& rule : list) {
      if (rule.name == name) return nullptr;
    }
  }
  return absl::StartsWith(name, "chlo.") ? FindConverter(name) : nullptr;
}

}  // namespace hilo::stablehlo
