// The attributes after an instruction as written in the text, before they are interpreted, and the called
// computations among them. Private to hlo/text.
#ifndef HILO_HLO_TEXT_RAW_ATTRIBUTES_H_
#define HILO_HLO_TEXT_RAW_ATTRIBUTES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ops/table/hlo_opcode.h"
#include "hlo/text/called_roles.h"
#include "hlo/text/text_cursor.h"

namespace hilo {

// name=value, both in the text.
struct RawAttribute {
  absl::string_view name, value;
};

// ", name=value, ..." at the cursor. Errors of all of these: InvalidArgument with the position.
absl::Status ParseRawAttributes(const SourceText& source, TextCursor& cursor, std::vector<RawAttribute>* attributes);

// "{a, b}"; `what` is used in messages.
absl::StatusOr<std::vector<absl::string_view>> ParseNameList(const SourceText& source, absl::string_view value,
                                                             absl::string_view what);

// Whether the attribute names called computations; their names go to `callees`, by index of called_computations(). The
// name of a computation that is written in line is its text, braces included.
absl::StatusOr<bool> ParseCalledRole(const SourceText& source, const CalledRoles& roles, const RawAttribute& attribute,
                                     std::vector<absl::string_view>* callees);

// Checks that every called computation that the op must have is named.
absl::Status CheckRoles(const SourceText& source, HloOpcode opcode, const CalledRoles& roles,
                        absl::Span<const absl::string_view> callees, size_t opcode_offset);

}  // namespace hilo

#endif  // HILO_HLO_TEXT_RAW_ATTRIBUTES_H_
