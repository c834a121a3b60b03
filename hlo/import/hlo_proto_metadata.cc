#include "hlo/import/hlo_proto_metadata.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_text.h"

namespace hilo {
namespace {

// The parts of OpMetadata that are kept as text, in the order of HLO text.
struct Note {
  absl::string_view name;
  int field;
  bool is_string;
};
constexpr Note kNotes[] = {
    {"source_end_line", 17, false},
    {"source_column", 18, false},
    {"source_end_column", 19, false},
    {"size_of_generated_code_in_bytes", 8, false},
    {"size_of_memory_working_set_in_bytes", 9, false},
    {"deduplicated_name", 12, true},
    {"stack_frame_id", 15, false},
    {"scheduling_name", 16, true},
};

// A table of structs of numbers. `offset`: the difference of text numbers to wire numbers.
struct Column {
  absl::string_view name;
  int field;
  int offset = 0;
};
constexpr Column kLocationColumns[] = {{"file_name_id", 1}, {"function_name_id", 2}, {"line", 3},
                                       {"end_line", 5},     {"column", 4},           {"end_column", 6}};
constexpr Column kFrameColumns[] = {{"file_location_id", 1}, {"parent_frame_id", 2, 1}};

struct Table {
  absl::string_view name;
  int field;
  absl::Span<const Column> columns;  // none: a table of names
};
const Table kTables[] = {{"FileNames", 1, {}},
                         {"FunctionNames", 2, {}},
                         {"FileLocations", 3, kLocationColumns},
                         {"StackFrames", 4, kFrameColumns}};

std::string RowText(const WireMessage& row, absl::Span<const Column> columns) {
  return absl::StrCat("{",
                      absl::StrJoin(columns, " ",
                                    [&](std::string* out, const Column& column) {
                                      absl::StrAppend(out, column.name, "=", row.Int(column.field) + column.offset);
                                    }),
                      "}");
}

absl::StatusOr<WireWriter> ReadRow(absl::Span<const Column> columns, TextCursor& cursor) {
  WireWriter row;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a row"));
  while (!cursor.Consume("}")) {
    HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("a column"));
    HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of a column"));
    HILO_ASSIGN_OR_RETURN(const int64_t value, cursor.Integer("a number"));
    for (const Column& column : columns) {
      if (column.name == name) row.Int(column.field, static_cast<int32_t>(value) - column.offset);
    }
  }
  return row;
}

}  // namespace

OpMetadata OpMetadataFromProto(const WireMessage& proto) {
  OpMetadata metadata{.op_type = std::string(proto.Bytes(1)),
                      .op_name = std::string(proto.Bytes(2)),
                      .source_file = std::string(proto.Bytes(3)),
                      .source_line = proto.Int(4),
                      .other = {}};
  for (const Note& note : kNotes) {
    if (note.is_string && !proto.Bytes(note.field).empty()) {
      metadata.other.emplace_back(note.name, FieldToText(std::string(proto.Bytes(note.field))));
    } else if (proto.Int(note.field) != 0) {
      metadata.other.emplace_back(note.name, absl::StrCat(proto.Int(note.field)));
    }
  }
  return metadata;
}

WireWriter OpMetadataToProto(const OpMetadata& metadata) {
  WireWriter out;
  out.Bytes(1, metadata.op_type);
  out.Bytes(2, metadata.op_name);
  out.Bytes(3, metadata.source_file);
  out.Int(4, static_cast<int32_t>(metadata.source_line));
  for (const auto& [name, value] : metadata.other) {
    for (const Note& note : kNotes) {
      std::string text;
      int64_t number = 0;
      if (note.name != name) continue;
      if (note.is_string && FieldFromText(value, &text).ok()) out.Bytes(note.field, text);
      if (!note.is_string && absl::SimpleAtoi(value, &number)) out.Int(note.field, number);
    }
  }
  return out;
}

absl::StatusOr<AttributeText> FrameTablesFromProto(const WireMessage& proto) {
  AttributeText tables;
  for (const Table& table : kTables) {
    std::vector<std::string> rows;
    for (const absl::string_view row : proto.AllBytes(table.field)) {
      HILO_ASSIGN_OR_RETURN(const WireMessage columns, WireMessage::Parse(table.columns.empty() ? "" : row));
      rows.push_back(
          absl::StrCat(rows.size() + 1, " ",
                       table.columns.empty() ? FieldToText(std::string(row)) : RowText(columns, table.columns)));
    }
    tables.emplace_back(table.name, absl::StrJoin(rows, "\n"));
  }
  return tables;
}

absl::Status AddFrameTable(absl::string_view name, absl::string_view rows, WireWriter* index) {
  ValueCursor cursor(rows);
  for (const Table& table : kTables) {
    if (table.name != name) continue;
    while (!cursor.AtEnd()) {
      HILO_RETURN_IF_ERROR(cursor.Integer("a row number").status());
      if (table.columns.empty()) {
        HILO_ASSIGN_OR_RETURN(const std::string text, cursor.String("a name in quotes"));
        index->PutBytes(table.field, text);
      } else {
        HILO_ASSIGN_OR_RETURN(const WireWriter row, ReadRow(table.columns, cursor));
        index->Message(table.field, row);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace hilo
