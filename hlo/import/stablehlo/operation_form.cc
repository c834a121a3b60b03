#include "hlo/import/stablehlo/operation_form.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {
namespace {

using Kind = Attribute::Kind;

// Attributes that have one kind in all operations. Sorted by name.
struct AttributeKind {
  absl::string_view name;
  Kind kind;
  absl::string_view description;
};
constexpr AttributeKind kAttributeKinds[] = {
    {"channel_id", Kind::kInteger, "an integer"},         {"has_side_effect", Kind::kBool, "true or false"},
    {"indices_are_sorted", Kind::kBool, "true or false"}, {"infeed_config", Kind::kString, "a string"},
    {"is_host_transfer", Kind::kBool, "true or false"},   {"is_stable", Kind::kBool, "true or false"},
    {"left_side", Kind::kBool, "true or false"},          {"lower", Kind::kBool, "true or false"},
    {"outfeed_config", Kind::kString, "a string"},        {"precision_config", Kind::kArray, "a list"},
    {"unique_indices", Kind::kBool, "true or false"},     {"unit_diagonal", Kind::kBool, "true or false"},
};

// Attributes without which an operation has no meaning, and whose absence the conversions would take for a default.
struct RequiredAttributes {
  absl::string_view op;
  absl::string_view names;
};
constexpr RequiredAttributes kRequiredAttributes[] = {
    {"stablehlo.all_gather", "replica_groups"},
    {"stablehlo.all_reduce", "replica_groups"},
    {"stablehlo.all_to_all", "replica_groups"},
    {"stablehlo.collective_broadcast", "replica_groups"},
    {"stablehlo.collective_permute", "source_target_pairs"},
    {"stablehlo.convolution", "batch_group_count feature_group_count"},
    {"stablehlo.dynamic_conv", "batch_group_count feature_group_count"},
    {"stablehlo.map", "dimensions"},
    {"stablehlo.reduce", "dimensions"},
    {"stablehlo.reduce_scatter", "replica_groups"},
    {"stablehlo.reverse", "dimensions"},
    {"stablehlo.triangular_solve", "left_side lower transpose_a unit_diagonal"},
};

// Operations with regions. Sorted.
constexpr absl::string_view kWithRegions[] = {
    "chlo.scan",
    "stablehlo.all_reduce",
    "stablehlo.async_start",
    "stablehlo.case",
    "stablehlo.collective_reduce",
    "stablehlo.composite",
    "stablehlo.if",
    "stablehlo.map",
    "stablehlo.reduce",
    "stablehlo.reduce_scatter",
    "stablehlo.reduce_window",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.sort",
    "stablehlo.while",
};

// What the operands from `first` to `last` must be.
enum class OperandRule {
  kPredicate,       // of i1
  kInt32,           // of i32
  kInteger,         // of integers
  kFloat,           // of floats
  kOneElementType,  // of the same elements, unless quantized
  kOneType,         // of the same type
};
struct OperandRules {
  absl::string_view op;
  size_t first, last;
  OperandRule rule;
};
constexpr OperandRules kOperandRules[] = {
    {"chlo.broadcast_polygamma", 0, 1, OperandRule::kFloat},
    {"chlo.broadcast_polygamma", 0, 1, OperandRule::kOneElementType},
    {"chlo.broadcast_zeta", 0, 1, OperandRule::kFloat},
    {"chlo.broadcast_zeta", 0, 1, OperandRule::kOneElementType},
    {"chlo.is_inf", 0, 0, OperandRule::kFloat},
    {"chlo.is_neg_inf", 0, 0, OperandRule::kFloat},
    {"chlo.is_pos_inf", 0, 0, OperandRule::kFloat},
    {"chlo.polygamma", 0, 1, OperandRule::kFloat},
    {"chlo.polygamma", 0, 1, OperandRule::kOneType},
    {"chlo.zeta", 0, 1, OperandRule::kFloat},
    {"chlo.zeta", 0, 1, OperandRule::kOneType},
    {"stablehlo.batch_norm_grad", 0, 4, OperandRule::kOneElementType},
    {"stablehlo.batch_norm_inference", 0, 4, OperandRule::kOneElementType},
    {"stablehlo.batch_norm_training", 0, 2, OperandRule::kOneElementType},
    {"stablehlo.case", 0, 0, OperandRule::kInt32},
    {"stablehlo.convolution", 0, 1, OperandRule::kOneElementType},
    {"stablehlo.dynamic_broadcast_in_dim", 1, 1, OperandRule::kInteger},
    {"stablehlo.dynamic_conv", 0, 1, OperandRule::kOneElementType},
    {"stablehlo.dynamic_conv", 2, 2, OperandRule::kInteger},
    {"stablehlo.dynamic_gather", 2, 2, OperandRule::kInteger},
    {"stablehlo.dynamic_iota", 0, 0, OperandRule::kInteger},
    {"stablehlo.dynamic_pad", 2, 4, OperandRule::kInteger},
    {"stablehlo.dynamic_pad", 2, 4, OperandRule::kOneType},
    {"stablehlo.dynamic_reshape", 1, 1, OperandRule::kInteger},
    {"stablehlo.if", 0, 0, OperandRule::kPredicate},
    {"stablehlo.real_dynamic_slice", 1, 3, OperandRule::kInteger},
    {"stablehlo.real_dynamic_slice", 1, 3, OperandRule::kOneType},
};

// Operations that move elements of operand 0, and of as many more as `operands` says, into result 0.
struct Movement {
  absl::string_view op;
  size_t operands;
};
constexpr Movement kMovements[] = {
    {"stablehlo.all_gather", 1},
    {"stablehlo.all_to_all", 1},
    {"stablehlo.broadcast", 1},
    {"stablehlo.broadcast_in_dim", 1},
    {"stablehlo.collective_broadcast", 1},
    {"stablehlo.collective_permute", 1},
    {"stablehlo.concatenate", std::string::npos},
    {"stablehlo.dynamic_broadcast_in_dim", 1},
    {"stablehlo.dynamic_gather", 1},
    {"stablehlo.dynamic_pad", 2},
    {"stablehlo.dynamic_reshape", 1},
    {"stablehlo.dynamic_slice", 1},
    {"stablehlo.dynamic_update_slice", 2},
    {"stablehlo.gather", 1},
    {"stablehlo.pad", 2},
    {"stablehlo.real_dynamic_slice", 1},
    {"stablehlo.reshape", 1},
    {"stablehlo.reverse", 1},
    {"stablehlo.slice", 1},
    {"stablehlo.transpose", 1},
};

absl::Status CheckAttributes(const Operation& op) {
  for (const NamedAttribute& attribute : op.attributes) {
    const bool has_parts = attribute.name == "algorithm" || attribute.name == "channel_handle" ||
                           absl::EndsWith(attribute.name, "dimension_numbers");
    if (has_parts && attribute.value->kind != Kind::kDictionary)
      return InvalidArgument("expected an attribute with named parts as ", attribute.name);
    const auto* known =
        std::lower_bound(std::begin(kAttributeKinds), std::end(kAttributeKinds), attribute.name,
                         [](const AttributeKind& kind, absl::string_view name) { return kind.name < name; });
    if (known != std::end(kAttributeKinds) && known->name == attribute.name && attribute.value->kind != known->kind)
      return InvalidArgument("expected ", known->description, " as ", attribute.name);
  }
  for (const RequiredAttributes& required : kRequiredAttributes) {
    if (required.op != op.name) continue;
    for (const absl::string_view name : absl::StrSplit(required.names, ' ')) {
      if (op.Find(name) == nullptr) return InvalidArgument("expected the attribute ", name);
    }
  }
  return absl::OkStatus();
}

// Null if the type has `rule`'s elements; else a description of what was expected.
const char* ExpectedElements(OperandRule rule, const Type& type) {
  const PrimitiveType element = type.quantization == nullptr ? type.element : type.quantization->expressed;
  switch (rule) {
    case OperandRule::kPredicate: return element == PRED ? nullptr : "i1";
    case OperandRule::kInt32: return element == S32 ? nullptr : "i32";
    case OperandRule::kInteger: return IsIntegralType(element) ? nullptr : "integers";
    case OperandRule::kFloat: return IsFloatingPointType(element) ? nullptr : "floats";
    case OperandRule::kOneElementType:
    case OperandRule::kOneType: return nullptr;
  }
  return nullptr;
}

absl::Status CheckOperands(const Operation& op) {
  for (const OperandRules& rules : kOperandRules) {
    if (rules.op != op.name) continue;
    for (size_t i = rules.first; i <= rules.last && i < op.operands.size(); ++i) {
      const Type &type = *op.operands[i]->type, &first = *op.operands[rules.first]->type;
      if (const char* expected = ExpectedElements(rules.rule, type); expected != nullptr)
        return InvalidArgument("expected an array of ", expected, " as operand ", i, ", got ", TypeText(type));
      const bool is_quantized = type.quantization != nullptr || first.quantization != nullptr;
      if ((rules.rule == OperandRule::kOneElementType && !is_quantized && type.element != first.element) ||
          (rules.rule == OperandRule::kOneType && !SameType(type, first)))
        return InvalidArgument("operand ", i, " is ", TypeText(type), ", but operand ", rules.first, " is ",
                               TypeText(first));
    }
  }
  return absl::OkStatus();
}

// Whether elements of the one type are elements of the other. Dimensions that are divided may be moved.
bool HaveSameScales(const Type& a, const Type& b) {
  if (a.quantization == nullptr || b.quantization == nullptr) return a.quantization == b.quantization;
  Quantization x = *a.quantization, y = *b.quantization;
  x.dimensions.clear();
  y.dimensions.clear();
  return x == y;
}

absl::Status CheckMovement(const Operation& op) {
  for (const Movement& movement : kMovements) {
    if (movement.op != op.name || op.results.empty()) continue;
    const Type& to = *op.results[0]->type;
    for (size_t i = 0; i < movement.operands && i < op.operands.size(); ++i) {
      const Type& from = *op.operands[i]->type;
      if (!HaveSameScales(from, to))
        return InvalidArgument("elements of operand ", i, ", which is ", TypeText(from), ", have other scales as ",
                               TypeText(to));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckForm(const Operation& op) {
  if (!absl::StartsWith(op.name, "stablehlo.") && !absl::StartsWith(op.name, "chlo.")) return absl::OkStatus();
  if (!op.regions.empty() && !absl::c_binary_search(kWithRegions, op.name))
    return InvalidArgument("expected no region, got ", op.regions.size());
  HILO_RETURN_IF_ERROR(CheckAttributes(op));
  HILO_RETURN_IF_ERROR(CheckOperands(op));
  return CheckMovement(op);
}

}  // namespace hilo::stablehlo
