#include "hlo/text/op_metadata_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo {

absl::StatusOr<OpMetadata> ParseOpMetadata(TextCursor& cursor) {
  OpMetadata metadata;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before metadata"));
  while (!cursor.Consume("}")) {
    HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("a part of the metadata"));
    HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of a part of the metadata"));
    if (name == "op_type") {
      HILO_ASSIGN_OR_RETURN(metadata.op_type, cursor.String("the op_type in quotes"));
    } else if (name == "op_name") {
      HILO_ASSIGN_OR_RETURN(metadata.op_name, cursor.String("the op_name in quotes"));
    } else if (name == "source_file") {
      HILO_ASSIGN_OR_RETURN(metadata.source_file, cursor.String("the source_file in quotes"));
    } else if (name == "source_line") {
      HILO_ASSIGN_OR_RETURN(metadata.source_line, cursor.Integer("the source_line, a number"));
    } else {
      HILO_ASSIGN_OR_RETURN(const absl::string_view value, cursor.RawValue());
      metadata.other.emplace_back(name, value);
    }
    cursor.Consume(",");
  }
  return metadata;
}

std::string PrintOpMetadata(const OpMetadata& metadata) {
  std::string text = "{";
  auto add = [&](absl::string_view name, absl::string_view value) {
    absl::StrAppend(&text, text.size() == 1 ? "" : " ", name, "=", value);
  };
  auto add_string = [&](absl::string_view name, const std::string& value) {
    if (!value.empty()) add(name, absl::StrCat("\"", absl::Utf8SafeCEscape(value), "\""));
  };
  add_string("op_type", metadata.op_type);
  add_string("op_name", metadata.op_name);
  add_string("source_file", metadata.source_file);
  if (metadata.source_line != 0) add("source_line", absl::StrCat(metadata.source_line));
  for (const auto& [name, value] : metadata.other) add(name, value);
  return text + "}";
}

}  // namespace hilo
