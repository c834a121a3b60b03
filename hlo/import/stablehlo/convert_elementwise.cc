// Element-wise operations, constants and conversions of types.
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/import/stablehlo/dense_literal.h"
#include "hlo/import/stablehlo/op_conversion.h"

namespace hilo::stablehlo {
namespace {

// Operands as they are: the opcode determines everything.
template <HloOpcode kOpcode, size_t kOperands>
absl::StatusOr<Results> Plain(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(kOperands));
  return c.Split(c.Add(kOpcode, c.operands));
}
template <HloOpcode kOpcode>
constexpr Converter kUnary = Plain<kOpcode, 1>;
template <HloOpcode kOpcode>
constexpr Converter kBinary = Plain<kOpcode, 2>;

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
  attributes->type = Comparison(c.Text("compare_type"), c.operands[0]->shape().element_type());
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

// Many elements of one value are a broadcast.
absl::StatusOr<Results> Constant(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(0));
  const Attribute* value = c.op.Find("value");
  if (value == nullptr) return InvalidArgument("expected a value");
  const auto [entry, is_new] = c.state.literals.try_emplace(value);
  if (is_new) {
    HILO_ASSIGN_OR_RETURN(Literal literal, DenseElements(*value));
    entry->second = std::make_shared<const Literal>(std::move(literal));
  }
  HloInstruction* constant = c.AddConstant(entry->second);
  const Shape& shape = value->type->shape;
  if (ShapeUtil::Compatible(constant->shape(), shape)) return Results{constant};
  return c.Split(c.Add(HloOpcode::kBroadcast, {constant}, std::make_unique<BroadcastAttrs>(), {}, &shape));
}

absl::StatusOr<Results> Identity(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(c.op.results.size()));
  return Results(c.operands);
}

constexpr ConversionRule kRules[] = {
    {"stablehlo.abs", kUnary<HloOpcode::kAbs>},
    {"stablehlo.add", kBinary<HloOpcode::kAdd>},
    {"stablehlo.and", kBinary<HloOpcode::kAnd>},
    {"stablehlo.atan2", kBinary<HloOpcode::kAtan2>},
    {"stablehlo.bitcast_convert", ConvertType<HloOpcode::kBitcastConvert>},
    {"stablehlo.cbrt", kUnary<HloOpcode::kCbrt>},
    {"stablehlo.ceil", kUnary<HloOpcode::kCeil>},
    {"stablehlo.clamp", Plain<HloOpcode::kClamp, 3>},
    {"stablehlo.compare", Compare},
    {"stablehlo.complex", kBinary<HloOpcode::kComplexNumber>},
    {"stablehlo.constant", Constant},
    {"stablehlo.convert", ConvertType<HloOpcode::kConvert>},
    {"stablehlo.cosine", kUnary<HloOpcode::kCos>},
    {"stablehlo.count_leading_zeros", kUnary<HloOpcode::kClz>},
    {"stablehlo.divide", kBinary<HloOpcode::kDivide>},
    {"stablehlo.exponential", kUnary<HloOpcode::kExp>},
    {"stablehlo.exponential_minus_one", kUnary<HloOpcode::kExpm1>},
    {"stablehlo.floor", kUnary<HloOpcode::kFloor>},
    {"stablehlo.imag", kUnary<HloOpcode::kImag>},
    {"stablehlo.is_finite", kUnary<HloOpcode::kIsFinite>},
    {"stablehlo.log", kUnary<HloOpcode::kLog>},
    {"stablehlo.log_plus_one", kUnary<HloOpcode::kLog1p>},
    {"stablehlo.logistic", kUnary<HloOpcode::kLogistic>},
    {"stablehlo.maximum", kBinary<HloOpcode::kMaximum>},
    {"stablehlo.minimum", kBinary<HloOpcode::kMinimum>},
    {"stablehlo.multiply", kBinary<HloOpcode::kMultiply>},
    {"stablehlo.negate", kUnary<HloOpcode::kNegate>},
    {"stablehlo.not", kUnary<HloOpcode::kNot>},
    {"stablehlo.or", kBinary<HloOpcode::kOr>},
    {"stablehlo.popcnt", kUnary<HloOpcode::kPopulationCount>},
    {"stablehlo.power", kBinary<HloOpcode::kPower>},
    {"stablehlo.real", kUnary<HloOpcode::kReal>},
    {"stablehlo.reduce_precision", ReducePrecision},
    {"stablehlo.remainder", kBinary<HloOpcode::kRemainder>},
    {"stablehlo.round_nearest_afz", kUnary<HloOpcode::kRoundNearestAfz>},
    {"stablehlo.round_nearest_even", kUnary<HloOpcode::kRoundNearestEven>},
    {"stablehlo.rsqrt", kUnary<HloOpcode::kRsqrt>},
    {"stablehlo.select", Plain<HloOpcode::kSelect, 3>},
    {"stablehlo.shift_left", kBinary<HloOpcode::kShiftLeft>},
    {"stablehlo.shift_right_arithmetic", kBinary<HloOpcode::kShiftRightArithmetic>},
    {"stablehlo.shift_right_logical", kBinary<HloOpcode::kShiftRightLogical>},
    {"stablehlo.sign", kUnary<HloOpcode::kSign>},
    {"stablehlo.sine", kUnary<HloOpcode::kSin>},
    {"stablehlo.sqrt", kUnary<HloOpcode::kSqrt>},
    {"stablehlo.subtract", kBinary<HloOpcode::kSubtract>},
    {"stablehlo.tan", kUnary<HloOpcode::kTan>},
    {"stablehlo.tanh", kUnary<HloOpcode::kTanh>},
    {"stablehlo.xor", kBinary<HloOpcode::kXor>},
    {"chlo.acos", kUnary<HloOpcode::kAcos>},
    {"chlo.acosh", kUnary<HloOpcode::kAcosh>},
    {"chlo.asin", kUnary<HloOpcode::kAsin>},
    {"chlo.asinh", kUnary<HloOpcode::kAsinh>},
    {"chlo.atanh", kUnary<HloOpcode::kAtanh>},
    {"chlo.cosh", kUnary<HloOpcode::kCosh>},
    {"chlo.erf", kUnary<HloOpcode::kErf>},
    {"chlo.mulhi", kBinary<HloOpcode::kMulhi>},
    {"chlo.sinh", kUnary<HloOpcode::kSinh>},
    {"chlo.tan", kUnary<HloOpcode::kTan>},
    // Values cross between dialects unchanged.
    {"builtin.unrealized_conversion_cast", Identity},
    {"sdy.propagation_barrier", Identity},
};

}  // namespace

absl::Span<const ConversionRule> ElementwiseRules() { return kRules; }

}  // namespace hilo::stablehlo
