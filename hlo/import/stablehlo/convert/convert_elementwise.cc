// Element-wise operations, constants and conversions of types.
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"

namespace hilo::stablehlo {
namespace {

// Operands as they are: the opcode determines everything.
template <HloOpcode kOpcode, size_t kOperands>
absl::StatusOr<Results> Plain(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(kOperands));
  return c.Split(c.Add(kOpcode, c.operands));
}
// The order of the element type is what DEFAULT means.
ComparisonType Comparison(absl::string_view name, PrimitiveType element) {
  if (name == "TOTALORDER") return ComparisonType::kTotalOrder;
  if (name == "FLOAT" && !IsFloatingPointType(element) && !IsComplexType(element)) return ComparisonType::kFloat;
  if (name == "SIGNED" && !IsSignedIntegralType(element)) return ComparisonType::kSigned;
  if (name == "UNSIGNED" && element != PRED && !IsUnsignedIntegralType(element)) return ComparisonType::kUnsigned;
  return ComparisonType::kDefault;
}

absl::StatusOr<Results> Compare(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  auto attributes = std::make_unique<CompareAttrs>();
  HILO_RETURN_IF_ERROR(FieldFromText(c.Text("comparison_direction"), &attributes->direction));
  absl::string_view type;
  if (c.Has("compare_type")) {
    HILO_ASSIGN_OR_RETURN(type, c.OneOf("compare_type", {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}));
  }
  attributes->type = Comparison(type, c.operands[0]->shape().element_type());
  return c.Split(c.Add(HloOpcode::kCompare, c.operands, std::move(attributes)));
}

template <HloOpcode kOpcode>
absl::StatusOr<Results> ConvertType(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapeLike(*c.operands[0]));
  return c.Split(c.Add(kOpcode, c.operands, nullptr, {}, &shape));
}

absl::StatusOr<Results> ReducePrecision(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  auto attributes = std::make_unique<ReducePrecisionAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->exponent_bits, c.Integer("exponent_bits"));
  HILO_ASSIGN_OR_RETURN(attributes->mantissa_bits, c.Integer("mantissa_bits"));
  return c.Split(c.Add(HloOpcode::kReducePrecision, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> Constant(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(0));
  const Attribute* value = c.op.Find("value");
  if (value == nullptr) return InvalidArgument("expected a value");
  return c.Split(c.AddDense(*value));
}

absl::StatusOr<Results> Identity(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(c.op.results.size()));
  return Results(c.operands);
}

constexpr ConversionRule kElementwiseRules[] = {
    {"stablehlo.bitcast_convert", ConvertType<HloOpcode::kBitcastConvert>},
    {"stablehlo.clamp", Plain<HloOpcode::kClamp, 3>},
    {"stablehlo.compare", Compare},
    {"stablehlo.constant", Constant},
    {"stablehlo.convert", ConvertType<HloOpcode::kConvert>},
    {"stablehlo.reduce_precision", ReducePrecision},
    {"stablehlo.select", Plain<HloOpcode::kSelect, 3>},
    // Values cross between dialects unchanged.
    {"builtin.unrealized_conversion_cast", Identity},
    // Operands and results are floats here (quantization.h).
    {"stablehlo.uniform_dequantize", Identity},
    {"stablehlo.uniform_quantize", Identity},
};

// By opcode; null for ops of other families.
constexpr Converter kFamilies[] = {
#define HLO_UNARY(opcode, ...) Plain<HloOpcode::opcode, 1>,
#define HLO_BINARY(opcode, ...) Plain<HloOpcode::opcode, 2>,
#define HLO_OP(...) nullptr,
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP
};

// Operations that have the name of an element-wise op after that of their dialect.
std::vector<ConversionRule> AllRules() {
  std::vector<ConversionRule> rules(std::begin(kElementwiseRules), std::end(kElementwiseRules));
  for (const absl::string_view name : {
#define VERSIONED_OP(in_bytecode, name, attributes) absl::string_view(name),
#include "hlo/import/stablehlo/versioned_ops.def"
#undef VERSIONED_OP
       }) {
    absl::string_view text = name;
    if (!absl::ConsumePrefix(&text, "stablehlo.") && !absl::ConsumePrefix(&text, "chlo.")) continue;
    const std::optional<HloOpcode> opcode = HloOpcodeFromString(absl::StrReplaceAll(text, {{"_", "-"}}));
    if (!opcode.has_value()) continue;
    if (const Converter convert = kFamilies[static_cast<int>(*opcode)]; convert != nullptr)
      rules.push_back({name, convert});
  }
  return rules;
}

}  // namespace

absl::Span<const ConversionRule> ElementwiseRules() {
  static const auto* const rules = new std::vector<ConversionRule>(AllRules());
  return *rules;
}

}  // namespace hilo::stablehlo
