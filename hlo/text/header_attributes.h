// The attributes of an HloModule line: those that Hilo reads, and their text.
#ifndef HILO_HLO_TEXT_HEADER_ATTRIBUTES_H_
#define HILO_HLO_TEXT_HEADER_ATTRIBUTES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/text/text_cursor.h"

namespace hilo {

// Tables of source locations that newer XLA writes between the header and the computations.
bool IsHeaderTable(absl::string_view name);

// Reads the value at `cursor` of the header attribute `name` into the module; values that Hilo does
// not read are kept as text.
absl::Status ParseHeaderAttribute(absl::string_view name, TextCursor& cursor, HloModule* module);

// Reads the numbered rows of a table into the module's extra attributes.
absl::Status ParseHeaderTable(absl::string_view name, TextCursor& cursor, HloModule* module);

// "HloModule name, attribute=value, ...", and the tables, a blank line before each.
std::string PrintHeader(const HloModule& module, absl::string_view name, bool with_tables);

}  // namespace hilo

#endif  // HILO_HLO_TEXT_HEADER_ATTRIBUTES_H_
