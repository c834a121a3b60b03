#include "hlo/import/stablehlo/attribute_text.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/dense_literal.h"
#include "hlo/ops/table/attributes.h"
#include "shape/number_text.h"

namespace hilo::stablehlo {
namespace {

// Nested dictionaries; a damaged program may contain a cycle.
constexpr int kMaxDepth = 32;

std::string FloatText(double value) {
  std::string text;
  AppendNumber(F64, reinterpret_cast<const uint8_t*>(&value), &text);
  return text;
}

std::string KeyText(absl::string_view name) {
  bool bare = !name.empty() && (absl::ascii_isalpha(name[0]) || name[0] == '_');
  for (char c : name) bare &= absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.';
  return bare ? std::string(name) : Quoted(name);
}

absl::StatusOr<std::string> ElementsText(const Attribute& dense) {
  HILO_ASSIGN_OR_RETURN(const Literal elements, DenseElements(dense));
  const PrimitiveType type = elements.shape().element_type();
  std::string text;
  const bool is_number = type == PRED || IsIntegralType(type) || IsFloatingPointType(type);
  if (!is_number) return Unimplemented("an array of ", PrimitiveTypeName(type), " as attribute of a custom call");
  const bool is_splat = elements.shape().IsScalar();
  for (int64_t i = 0; i < elements.element_count(); ++i) {
    if (i > 0) text += ", ";
    if (type == PRED) {
      text += elements.data<bool>()[i] ? "true" : "false";
    } else if (type == U64) {
      absl::StrAppend(&text, elements.data<uint64_t>()[i]);
    } else if (IsIntegralType(type)) {
      absl::StrAppend(&text, elements.GetAsInt64(i));
    } else {
      absl::StrAppend(&text, FloatText(elements.GetAsDouble(i)));
    }
  }
  return is_splat ? text : absl::StrCat("[", text, "]");
}

absl::StatusOr<std::string> ValueText(const Attribute& value, int depth, int64_t* bytes_left);

absl::StatusOr<std::string> DictionaryText(const Attribute& dictionary, int depth, int64_t* bytes_left) {
  if (depth > kMaxDepth) return InvalidArgument("attributes are nested too deeply");
  std::string text = "{";
  const auto spend = [&](int64_t bytes) {
    *bytes_left -= bytes;
    return *bytes_left >= 0 ? absl::OkStatus()
                            : ResourceExhausted("the dictionaries of custom calls have more text than is supported");
  };
  HILO_RETURN_IF_ERROR(spend(2));  // its braces
  for (const NamedAttribute& entry : dictionary.entries) {
    const std::string key = KeyText(entry.name);
    HILO_RETURN_IF_ERROR(spend(static_cast<int64_t>(key.size() + std::strlen(",  = "))));
    absl::StatusOr<std::string> value = ValueText(*entry.value, depth + 1, bytes_left);
    if (absl::IsResourceExhausted(value.status())) return value;
    if (!value.ok()) return AddContext(value.status(), absl::StrCat("; attribute ", entry.name));
    if (entry.value->kind != Attribute::Kind::kDictionary)
      HILO_RETURN_IF_ERROR(spend(static_cast<int64_t>(value->size())));
    absl::StrAppend(&text, text.size() > 1 ? ", " : "", key, " = ", *value);
  }
  return absl::StrCat(text, "}");
}

absl::StatusOr<std::string> ValueText(const Attribute& value, int depth, int64_t* bytes_left) {
  switch (value.kind) {
    case Attribute::Kind::kUnit: return std::string("unit");
    case Attribute::Kind::kBool: return std::string(value.integer != 0 ? "true" : "false");
    case Attribute::Kind::kInteger:
      if (value.type->kind != Type::Kind::kElement) break;
      return absl::StrCat(
          value.type->element == U64 ? absl::StrCat(static_cast<uint64_t>(value.integer)) : absl::StrCat(value.integer),
          " : ", ElementText(*value.type));
    case Attribute::Kind::kFloat: return absl::StrCat(FloatText(value.number), " : ", ElementText(*value.type));
    case Attribute::Kind::kString:
    case Attribute::Kind::kEnum: return Quoted(value.text);
    case Attribute::Kind::kDictionary: return DictionaryText(value, depth, bytes_left);
    case Attribute::Kind::kDense: {
      HILO_ASSIGN_OR_RETURN(const std::string elements, ElementsText(value));
      std::string dimensions;
      for (int64_t size : value.type->shape.dimensions()) absl::StrAppend(&dimensions, size, "x");
      Type element = {.kind = Type::Kind::kElement, .element = value.type->element};
      // One after another: the reader of such text takes lists of any rank as flat.
      return absl::StrCat("dense<", elements, "> : tensor<", dimensions, ElementText(element), ">");
    }
    default: break;
  }
  return Unimplemented("an attribute of a custom call of a kind that is no number, string, array or dictionary");
}

}  // namespace

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (absl::ascii_isprint(c) && c != '"' && c != '\\') {
      quoted += c;
    } else {
      absl::StrAppend(&quoted, "\\", absl::Hex(static_cast<uint8_t>(c), absl::kZeroPad2));
    }
  }
  return quoted + "\"";
}

absl::StatusOr<std::string> DictionaryText(const Attribute& dictionary, int64_t* bytes_left) {
  return DictionaryText(dictionary, 0, bytes_left);
}

std::string FrontendAttributesText(const Attribute& dictionary) {
  std::string text = "{";
  for (const NamedAttribute& entry : dictionary.entries) {
    // Names are written in HLO's text without quotes.
    const bool is_word = std::all_of(entry.name.begin(), entry.name.end(),
                                     [](char c) { return absl::ascii_isalnum(c) || absl::StrContains("_.-:/", c); });
    if (entry.value->kind != Attribute::Kind::kString || !is_word) continue;
    absl::StrAppend(&text, text.size() > 1 ? "," : "", entry.name, "=", FieldToText(std::string(entry.value->text)));
  }
  return absl::StrCat(text, "}");
}

std::vector<absl::string_view> NamesIn(const Attribute* value) {
  if (value == nullptr) return {};
  if (value->kind == Attribute::Kind::kSymbol || value->kind == Attribute::Kind::kString) return {value->text};
  std::vector<absl::string_view> names;
  for (const Attribute* row : value->elements) {
    if (row->elements.empty()) names.push_back(row->text);
    for (const Attribute* name : row->elements) names.push_back(name->text);
  }
  return names;
}

}  // namespace hilo::stablehlo
