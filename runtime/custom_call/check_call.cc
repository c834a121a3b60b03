#include "runtime/custom_call/check_call.h"

#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "runtime/ffi/attribute_dictionary.h"

namespace hilo::ffi {
namespace {

// Admits 0 and -0, and no other pair of unequal normal numbers.
constexpr double kEqual = std::numeric_limits<double>::denorm_min();

struct CheckTarget {
  absl::string_view name;
  bool floats_only;
  ErrorSpec allowed;  // without attributes
  // Attribute that sets the limit of floats; empty: none.
  absl::string_view tolerance, ulps;
};
constexpr CheckTarget kTargets[] = {
    {.name = "check.eq", .floats_only = false, .allowed = {.absolute = 1e-4}, .tolerance = "", .ulps = ""},
    {.name = "check.expect_almost_eq",
     .floats_only = true,
     .allowed = {.absolute = 1e-3},
     .tolerance = "tolerance",
     .ulps = ""},
    {.name = "check.expect_close",
     .floats_only = true,
     .allowed = {.absolute = kEqual, .ulps = 3},
     .tolerance = "",
     .ulps = "max_ulp_difference"},
    {.name = "check.expect_eq", .floats_only = false, .allowed = {.absolute = kEqual}, .tolerance = "", .ulps = ""},
};

absl::Status SetLimit(const CheckTarget& target, const NamedAttribute& attribute, ErrorSpec* allowed) {
  const Attribute& value = attribute.value;
  const auto read = [&](auto* number) { std::memcpy(number, value.bytes.data(), sizeof(*number)); };
  if (value.kind == Attribute::Kind::kScalar && !target.tolerance.empty() && attribute.name == target.tolerance &&
      value.type == F64) {
    read(&allowed->absolute);
    if (allowed->absolute >= 0) return absl::OkStatus();
  }
  if (value.kind == Attribute::Kind::kScalar && !target.ulps.empty() && attribute.name == target.ulps &&
      (value.type == U64 || value.type == S64)) {
    read(&allowed->ulps);
    if (allowed->ulps >= 0) return absl::OkStatus();
  }
  if (target.tolerance.empty() && target.ulps.empty())
    return InvalidArgument("expected no attributes, got ", attribute.name);
  return InvalidArgument(
      "expected ",
      target.ulps.empty() ? "tolerance, f64 and not negative" : "max_ulp_difference, a 64-bit integer and not negative",
      "; got ", attribute.name, " of another type or value");
}

absl::Status CheckSignature(const CheckTarget& target, const CallSignature& signature) {
  const std::vector<Shape>& operands = signature.operands;
  if (operands.size() != 2 || !operands[0].IsArray() || !ShapeUtil::Compatible(operands[0], operands[1])) {
    std::string got;
    for (const Shape& operand : operands) absl::StrAppend(&got, got.empty() ? "" : ", ", operand.ToString());
    return InvalidArgument("expected two arrays of the same shape, got (", got, ")");
  }
  const PrimitiveType type = operands[0].element_type();
  if (target.floats_only && !IsFloatingPointType(type) && !IsComplexType(type))
    return InvalidArgument("expected floating-point or complex numbers, got ", operands[0].ToString());
  const Shape& result = signature.result;
  const bool is_empty = result.IsTuple() && result.tuple_shapes_size() == 0;
  const bool is_verdict = target.name == "check.eq" && result.IsScalar() && result.element_type() == PRED;
  if (is_empty || is_verdict) return absl::OkStatus();
  return InvalidArgument("expected no result", target.name == "check.eq" ? ", or pred[]" : "", "; got ",
                         result.ToString());
}

constexpr absl::string_view kPrint = "interpreter.print";

absl::Status CheckPrint(const CallSignature& signature) {
  const Shape& result = signature.result;
  if (signature.operands.size() == 1 && signature.operands[0].IsArray() && result.IsTuple() &&
      result.tuple_shapes_size() == 0)
    return absl::OkStatus();
  return InvalidArgument("expected one array and no result; in ", kPrint);
}

}  // namespace

absl::StatusOr<std::optional<CheckCall>> CheckCall::Of(const CustomCallAttrs& attributes,
                                                       const CallSignature& signature) {
  if (attributes.custom_call_target == kPrint) {
    HILO_RETURN_IF_ERROR(CheckPrint(signature));
    CheckCall print;
    print.prints_ = true;
    return print;
  }
  for (const CheckTarget& target : kTargets) {
    if (attributes.custom_call_target != target.name) continue;
    HILO_RETURN_IF_ERROR(AddContext(CheckSignature(target, signature), absl::StrCat("; in ", target.name)));
    CheckCall check;
    check.allowed_ = target.allowed;
    HILO_ASSIGN_OR_RETURN(const std::vector<NamedAttribute> config,
                          ParseAttributeDictionary(attributes.backend_config.text));
    for (const NamedAttribute& attribute : config) {
      HILO_RETURN_IF_ERROR(
          AddContext(SetLimit(target, attribute, &check.allowed_), absl::StrCat("; in ", target.name)));
    }
    return check;
  }
  return std::nullopt;
}

absl::Status CheckCall::Run(absl::Span<const Shape> shapes, absl::Span<const uint8_t* const> operands,
                            absl::Span<uint8_t* const> results) const {
  const auto read = [&](size_t i) {
    return operands[i] == nullptr ? Literal::Create(shapes[i]) : LiteralFromBytes(operands[i], shapes[i]);
  };
  HILO_ASSIGN_OR_RETURN(const Literal actual, read(0));
  if (prints_) {
    const std::string line = absl::StrCat(actual.ToString(), "\n");
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
    return absl::OkStatus();
  }
  HILO_ASSIGN_OR_RETURN(const Literal expected, read(1));
  HILO_RETURN_IF_ERROR(CompareLiterals(expected, actual, allowed_));
  if (!results.empty() && results[0] != nullptr) results[0][0] = 1;
  return absl::OkStatus();
}

}  // namespace hilo::ffi
