#include "hlo/import/hlo_proto_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/attributes.h"
#include "shape/number_text.h"

namespace hilo {
namespace {

using OptionalText = std::optional<std::string>;

template <typename T>
absl::StatusOr<T> ReadField(absl::string_view text) {
  T value{};
  HILO_RETURN_IF_ERROR(FieldFromText(text, &value));
  return value;
}

absl::Status EncodeInt(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const int64_t value, ReadField<int64_t>(text));
  out->Int(field, value);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeInt(const WireMessage& message, int field) {
  return message.Int(field) == 0 ? OptionalText() : FieldToText(message.Int(field));
}

absl::Status EncodePresentInt(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const int64_t value, ReadField<int64_t>(text));
  out->PutInt(field, value);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodePresentInt(const WireMessage& message, int field) {
  return message.Has(field) ? FieldToText(message.Int(field)) : OptionalText();
}

absl::Status EncodeBool(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const bool value, ReadField<bool>(text));
  out->Bool(field, value);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeBool(const WireMessage& message, int field) {
  return message.Bool(field) ? "true" : OptionalText();
}

absl::Status EncodeFloat(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const double value, ReadField<double>(text));
  out->Float(field, static_cast<float>(value));
  return absl::OkStatus();
}
// The shortest text of the float, which the double that an attribute holds would not have.
absl::StatusOr<OptionalText> DecodeFloat(const WireMessage& message, int field) {
  const float value = message.Float(field);
  if (value == 0) return OptionalText();
  std::string text;
  AppendNumber(F32, reinterpret_cast<const uint8_t*>(&value), &text);
  return text;
}

absl::Status EncodeInts(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadField<std::vector<int64_t>>(text));
  out->Ints(field, values);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeInts(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, message.Ints(field));
  return values.empty() ? OptionalText() : FieldToText(values);
}

absl::Status EncodeNestedInts(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  std::vector<int64_t> all;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before lists of numbers"));
  if (!cursor.Consume("}")) {
    do {
      HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a list of numbers"));
      HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadIntegersUntil("}", cursor));
      all.insert(all.end(), values.begin(), values.end());
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after lists of numbers"));
  }
  out->Ints(field, all);
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodeNestedInts(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, message.Ints(field));
  return values.empty() ? OptionalText() : absl::StrCat("{", FieldToText(values), "}");
}

absl::Status EncodeSingleInt(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const int64_t value, ReadField<int64_t>(text));
  out->Ints(field, {value});
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeSingleInt(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, message.Ints(field));
  if (values.size() != 1) return InvalidArgument("expected one number in field ", field, "; got ", values.size());
  return FieldToText(values[0]);
}

absl::StatusOr<OptionalText> DecodeOptionalInt(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, message.Ints(field));
  if (values.empty()) return std::nullopt;
  return DecodeSingleInt(message, field);
}

absl::Status EncodeBools(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const std::vector<bool> values, ReadField<std::vector<bool>>(text));
  out->Ints(field, std::vector<int64_t>(values.begin(), values.end()));
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeBools(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, message.Ints(field));
  return values.empty() ? OptionalText() : FieldToText(std::vector<bool>(values.begin(), values.end()));
}

absl::Status EncodeWord(absl::string_view text, int field, WireWriter* out) {
  out->Bytes(field, text);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeWord(const WireMessage& message, int field) {
  const absl::string_view word = message.Bytes(field);
  return word.empty() ? OptionalText() : std::string(word);
}

absl::Status EncodeString(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const std::string value, ReadField<std::string>(text));
  out->Bytes(field, value);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeString(const WireMessage& message, int field) {
  const absl::string_view value = message.Bytes(field);
  return value.empty() ? OptionalText() : FieldToText(std::string(value));
}

// True if `value` is valid in HLO text as it is: one pair of braces around all of it, and nothing in it that white
// space would change.
bool IsDictionary(absl::string_view value) {
  if (value.empty() || value[0] != '{' ||
      !std::all_of(value.begin(), value.end(), [](char c) { return absl::ascii_isprint(c); })) {
    return false;
  }
  ValueCursor cursor(value);
  return cursor.Enclosed().ok() && cursor.offset() == value.size();
}

absl::Status EncodeConfig(absl::string_view text, int field, WireWriter* out) {
  if (absl::string_view(text).substr(0, 1) == "\"") return EncodeString(text, field, out);
  return EncodeWord(text, field, out);
}
absl::StatusOr<OptionalText> DecodeConfig(const WireMessage& message, int field) {
  return IsDictionary(message.Bytes(field)) ? DecodeWord(message, field) : DecodeString(message, field);
}

}  // namespace

const AttributeCodec kIntCodec = {&EncodeInt, &DecodeInt};
const AttributeCodec kPresentIntCodec = {&EncodePresentInt, &DecodePresentInt};
const AttributeCodec kBoolCodec = {&EncodeBool, &DecodeBool};
const AttributeCodec kFloatCodec = {&EncodeFloat, &DecodeFloat};
const AttributeCodec kIntsCodec = {&EncodeInts, &DecodeInts};
const AttributeCodec kNestedIntsCodec = {&EncodeNestedInts, &DecodeNestedInts};
const AttributeCodec kSingleIntCodec = {&EncodeSingleInt, &DecodeSingleInt};
const AttributeCodec kOptionalIntCodec = {&EncodeSingleInt, &DecodeOptionalInt};
const AttributeCodec kBoolsCodec = {&EncodeBools, &DecodeBools};
const AttributeCodec kWordCodec = {&EncodeWord, &DecodeWord};
const AttributeCodec kStringCodec = {&EncodeString, &DecodeString};
const AttributeCodec kConfigCodec = {&EncodeConfig, &DecodeConfig};

absl::StatusOr<std::vector<int64_t>> ReadIntegersUntil(absl::string_view close, TextCursor& cursor) {
  std::vector<int64_t> values;
  if (cursor.Consume(close)) return values;
  do {
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), cursor.Integer("a number"));
  } while (cursor.Consume(","));
  HILO_RETURN_IF_ERROR(cursor.Expect(close, "after a list of numbers"));
  return values;
}

absl::StatusOr<std::string> WordFromProto(absl::string_view name) {
  ValueCursor cursor(name);
  if (name.empty() || cursor.Word().size() != name.size())
    return InvalidArgument("expected a name of letters, digits, '_', '.' and '-'");
  return std::string(name);
}

absl::StatusOr<int64_t> EnumValue(absl::string_view text, absl::Span<const absl::string_view> names) {
  const auto name = std::find(names.begin(), names.end(), text);
  if (name == names.end()) return InvalidArgument("expected one of ", absl::StrJoin(names, ", "), "; got ", text);
  return name - names.begin();
}

absl::StatusOr<std::string> EnumText(int64_t value, absl::Span<const absl::string_view> names) {
  if (value < 0 || value >= static_cast<int64_t>(names.size())) {
    return InvalidArgument("expected the number of one of ", absl::StrJoin(names, ", "), "; got ", value);
  }
  return std::string(names[value]);
}

absl::Status EncodeEnum(absl::string_view text, absl::Span<const absl::string_view> names, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const int64_t value, EnumValue(text, names));
  out->Int(field, value);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> DecodeEnum(const WireMessage& message,
                                                      absl::Span<const absl::string_view> names, int field) {
  if (message.Int(field) == 0) return OptionalText();
  HILO_ASSIGN_OR_RETURN(std::string text, EnumText(message.Int(field), names));
  return OptionalText(std::move(text));
}

}  // namespace hilo
