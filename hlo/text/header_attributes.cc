#include "hlo/text/header_attributes.h"

#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

std::string IndexText(const ShapeIndex& index) { return absl::StrCat("{", absl::StrJoin(index, ","), "}"); }

absl::StatusOr<int64_t> ParseCount(TextCursor& cursor, absl::string_view what) {
  cursor.SkipSpace();
  const size_t begin = cursor.offset();
  HILO_ASSIGN_OR_RETURN(const int64_t count, cursor.Integer(what));
  if (count < 1 || count > std::numeric_limits<int32_t>::max()) {
    return cursor.source().Error(begin, absl::StrCat("expected ", what, " from 1 to 2147483647; got ", count));
  }
  return count;
}

// "{(f32[2]{0}, s32[])->f32[2]{0}}"
absl::StatusOr<ProgramShape> ParseEntryLayout(TextCursor& cursor) {
  ProgramShape layout;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the entry computation's layout"));
  HILO_RETURN_IF_ERROR(cursor.Expect("(", "before the entry computation's parameters"));
  if (!cursor.Consume(")")) {
    do {
      HILO_ASSIGN_OR_RETURN(layout.parameters.emplace_back(), cursor.ReadShape());
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect(")", "after the entry computation's parameters"));
  }
  HILO_RETURN_IF_ERROR(cursor.Expect("->", "before the entry computation's result"));
  HILO_ASSIGN_OR_RETURN(layout.result, cursor.ReadShape());
  HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the entry computation's layout"));
  return layout;
}

// "{ {0}: (0, {}, may-alias), {1}: (2, {0}, must-alias) }"
absl::StatusOr<std::vector<InputOutputAlias>> ParseAliases(TextCursor& cursor) {
  std::vector<InputOutputAlias> aliases;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the aliases"));
  if (cursor.Consume("}")) return aliases;
  do {
    InputOutputAlias& alias = aliases.emplace_back();
    HILO_ASSIGN_OR_RETURN(alias.output_index, cursor.ReadShapeIndex());
    HILO_RETURN_IF_ERROR(cursor.Expect(":", "after an output index"));
    HILO_RETURN_IF_ERROR(cursor.Expect("(", "before the aliased parameter"));
    HILO_ASSIGN_OR_RETURN(alias.parameter_number, cursor.Integer("a parameter number"));
    if (cursor.Consume(",")) {
      HILO_ASSIGN_OR_RETURN(alias.parameter_index, cursor.ReadShapeIndex());
      if (cursor.Consume(",")) {
        alias.must_alias = cursor.ConsumeWord("must-alias");
        if (!alias.must_alias && !cursor.ConsumeWord("may-alias")) {
          return cursor.Expected("may-alias or must-alias");
        }
      }
    }
    HILO_RETURN_IF_ERROR(cursor.Expect(")", "after the aliased parameter"));
  } while (cursor.Consume(","));
  HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the aliases"));
  return aliases;
}

// "{ (0, {}), (1, {0}) }"
absl::StatusOr<std::vector<BufferDonor>> ParseDonors(TextCursor& cursor) {
  std::vector<BufferDonor> donors;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the buffer donors"));
  if (cursor.Consume("}")) return donors;
  do {
    BufferDonor& donor = donors.emplace_back();
    HILO_RETURN_IF_ERROR(cursor.Expect("(", "before a donated parameter"));
    HILO_ASSIGN_OR_RETURN(donor.parameter_number, cursor.Integer("a parameter number"));
    HILO_RETURN_IF_ERROR(cursor.Expect(",", "after a parameter number"));
    HILO_ASSIGN_OR_RETURN(donor.parameter_index, cursor.ReadShapeIndex());
    HILO_RETURN_IF_ERROR(cursor.Expect(")", "after a donated parameter"));
  } while (cursor.Consume(","));
  HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the buffer donors"));
  return donors;
}

std::string AliasText(const InputOutputAlias& alias) {
  return absl::StrCat(IndexText(alias.output_index), ": (", alias.parameter_number, ", ",
                      IndexText(alias.parameter_index), alias.must_alias ? ", must-alias)" : ", may-alias)");
}

std::string EntryLayoutText(const ProgramShape& layout) {
  std::string text = "{(";
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", layout.parameters[i].ToString(/*print_layout=*/true));
  }
  absl::StrAppend(&text, ")->", layout.result.ToString(/*print_layout=*/true), "}");
  return text;
}

}  // namespace

bool IsHeaderTable(absl::string_view name) {
  return name == "FileNames" || name == "FunctionNames" || name == "FileLocations" || name == "StackFrames";
}

absl::Status ParseHeaderAttribute(absl::string_view name, TextCursor& cursor, HloModule* module) {
  if (name == "is_scheduled") {
    HILO_ASSIGN_OR_RETURN(const bool scheduled, cursor.Bool("for is_scheduled"));
    module->set_is_scheduled(scheduled);
  } else if (name == "entry_computation_layout") {
    HILO_ASSIGN_OR_RETURN(ProgramShape layout, ParseEntryLayout(cursor));
    module->set_entry_computation_layout(std::move(layout));
  } else if (name == "input_output_alias") {
    HILO_ASSIGN_OR_RETURN(module->input_output_aliases(), ParseAliases(cursor));
  } else if (name == "buffer_donor") {
    HILO_ASSIGN_OR_RETURN(module->buffer_donors(), ParseDonors(cursor));
  } else if (name == "replica_count") {
    HILO_ASSIGN_OR_RETURN(const int64_t count, ParseCount(cursor, "a replica count"));
    module->set_replica_count(count);
  } else if (name == "num_partitions") {
    HILO_ASSIGN_OR_RETURN(const int64_t count, ParseCount(cursor, "a number of partitions"));
    module->set_num_partitions(count);
  } else {
    HILO_ASSIGN_OR_RETURN(const absl::string_view value, cursor.RawValue());
    module->extra_attributes().emplace_back(name, value);
  }
  return absl::OkStatus();
}

absl::Status ParseHeaderTable(absl::string_view name, TextCursor& cursor, HloModule* module) {
  std::string rows;
  while (absl::ascii_isdigit(cursor.Peek())) {
    HILO_ASSIGN_OR_RETURN(const int64_t number, cursor.Integer("a row number"));
    HILO_ASSIGN_OR_RETURN(const absl::string_view row, cursor.RawValue());
    absl::StrAppend(&rows, rows.empty() ? "" : "\n", number, " ", row);
  }
  module->extra_attributes().emplace_back(name, std::move(rows));
  return absl::OkStatus();
}

std::string PrintHeader(const HloModule& module, absl::string_view name, bool with_tables) {
  std::string text = absl::StrCat("HloModule ", name);
  if (module.is_scheduled()) absl::StrAppend(&text, ", is_scheduled=true");
  if (!module.input_output_aliases().empty()) {
    absl::StrAppend(
        &text, ", input_output_alias={ ",
        absl::StrJoin(module.input_output_aliases(), ", ",
                      [](std::string* out, const InputOutputAlias& alias) { absl::StrAppend(out, AliasText(alias)); }),
        " }");
  }
  if (!module.buffer_donors().empty()) {
    absl::StrAppend(&text, ", buffer_donor={ ",
                    absl::StrJoin(module.buffer_donors(), ", ",
                                  [](std::string* out, const BufferDonor& donor) {
                                    absl::StrAppend(out, "(", donor.parameter_number, ", ",
                                                    IndexText(donor.parameter_index), ")");
                                  }),
                    " }");
  }
  if (module.entry_computation_layout().has_value()) {
    absl::StrAppend(&text, ", entry_computation_layout=", EntryLayoutText(*module.entry_computation_layout()));
  }
  if (module.replica_count() != 1) absl::StrAppend(&text, ", replica_count=", module.replica_count());
  if (module.num_partitions() != 1) absl::StrAppend(&text, ", num_partitions=", module.num_partitions());
  for (const auto& [name, value] : module.extra_attributes()) {
    if (!IsHeaderTable(name)) absl::StrAppend(&text, ", ", name, "=", value);
  }
  text += "\n";
  for (const auto& [name, rows] : module.extra_attributes()) {
    if (with_tables && IsHeaderTable(name)) absl::StrAppend(&text, "\n", name, "\n", rows, rows.empty() ? "" : "\n");
  }
  return text;
}

}  // namespace hilo
