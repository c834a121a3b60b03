// Converts values of attributes between HLO text and fields of XLA's messages.
//
// Text is the one form that all attributes have, whatever structs hold them; so the proto's fields are
// mapped to and from it.
#ifndef HILO_HLO_IMPORT_HLO_PROTO_TEXT_H_
#define HILO_HLO_IMPORT_HLO_PROTO_TEXT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/text/text_cursor.h"

namespace hilo {

// A cursor over one value.
struct ValueCursor : TextCursor {
  explicit ValueCursor(absl::string_view text) : TextCursor(source_text), source_text{text, "value"} {}
  // Errors: InvalidArgument if input remains.
  absl::Status End() { return AtEnd() ? absl::OkStatus() : Expected("the end of the value"); }
  SourceText source_text;
};

// "{1,2}" without its brackets: integers up to `close`, which is consumed; the opening bracket is already consumed.
absl::StatusOr<std::vector<int64_t>> ReadIntegersUntil(absl::string_view close, TextCursor& cursor);

// `name`, if text can hold it as it is. Errors: InvalidArgument unless it is a word of letters, digits, '_', '.', '-'.
absl::StatusOr<std::string> WordFromProto(absl::string_view name);

// Encoder and decoder of one kind of value. `encode` adds the value to a message as field `field`; `decode` returns
// nullopt if the field is missing, so that the attribute keeps its default. Errors: InvalidArgument for text or bytes
// that are not such a value.
struct AttributeCodec {
  absl::Status (*encode)(absl::string_view text, int field, WireWriter* out);
  absl::StatusOr<std::optional<std::string>> (*decode)(const WireMessage& message, int field);
};

// Plain values. Zero, false and empty count as missing.
extern const AttributeCodec kIntCodec;
extern const AttributeCodec kPresentIntCodec;  // zero counts
extern const AttributeCodec kBoolCodec;
extern const AttributeCodec kFloatCodec;
extern const AttributeCodec kIntsCodec;         // {1,2}
extern const AttributeCodec kNestedIntsCodec;   // {{1,2},{3}}, all in one list on the wire; read as one list in a list
extern const AttributeCodec kSingleIntCodec;    // a list of one, written as a number
extern const AttributeCodec kOptionalIntCodec;  // as kSingleIntCodec, or none
extern const AttributeCodec kBoolsCodec;        // {true,false}
extern const AttributeCodec kWordCodec;         // EQ
extern const AttributeCodec kStringCodec;       // "a\"b"
extern const AttributeCodec kConfigCodec;       // a backend's: a dictionary in braces, or a string

// Structures (hlo_proto_structures.cc).
extern const AttributeCodec kWindowCodec;
extern const AttributeCodec kPaddingCodec;
extern const AttributeCodec kSliceCodec;
extern const AttributeCodec kPrecisionCodec;
extern const AttributeCodec kDimLabelsCodec;
extern const AttributeCodec kOutputAliasingCodec;
extern const AttributeCodec kShapeCodec;
extern const AttributeCodec kShapesCodec;
extern const AttributeCodec kLiteralCodec;
extern const AttributeCodec kFrontendAttributesCodec;
extern const AttributeCodec kStatisticsCodec;
extern const AttributeCodec kResultAccuracyCodec;

// Devices (hlo_proto_sharding.cc). The three forms of replica groups have separate fields, around `field`.
extern const AttributeCodec kShardingCodec;
extern const AttributeCodec kReplicaGroupsCodec;
extern const AttributeCodec kSourceTargetPairsCodec;

// Names of an enumeration, in order of their values.
absl::Status EncodeEnum(absl::string_view text, absl::Span<const absl::string_view> names, int field, WireWriter* out);
absl::StatusOr<std::optional<std::string>> DecodeEnum(const WireMessage& message,
                                                      absl::Span<const absl::string_view> names, int field);
template <const auto& kNames>
inline constexpr AttributeCodec kEnumCodec = {
    [](absl::string_view text, int field, WireWriter* out) { return EncodeEnum(text, kNames, field, out); },
    [](const WireMessage& message, int field) { return DecodeEnum(message, kNames, field); }};
// Errors: InvalidArgument if there is no such value.
absl::StatusOr<std::string> EnumText(int64_t value, absl::Span<const absl::string_view> names);
absl::StatusOr<int64_t> EnumValue(absl::string_view text, absl::Span<const absl::string_view> names);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_TEXT_H_
