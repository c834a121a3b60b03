#include "hlo/text/raw_attributes.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

absl::StatusOr<absl::string_view> ParseAttributeValue(const SourceText& source, TextCursor& cursor,
                                                      absl::string_view name) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view value, cursor.RawValue());
  if (name == "literal" && cursor.Peek() != ',') {
    // s32[2]{0} {1, 2}: a shape and elements.
    HILO_ASSIGN_OR_RETURN(const absl::string_view elements, cursor.RawValue());
    return source.text.substr(source.OffsetOf(value), elements.end() - value.begin());
  }
  if (name != "replica_groups" || value.substr(0, 5) != "mesh[") return value;
  // mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}: one value in spite of its comma and its
  // spaces.
  const size_t here = cursor.offset();
  size_t end = here;
  if (cursor.Consume(",") && cursor.Consume("device_ids=")) {
    HILO_RETURN_IF_ERROR(cursor.RawValue().status());
    end = cursor.offset();
  }
  cursor.set_offset(end);
  if (cursor.Peek() == '{') {
    HILO_RETURN_IF_ERROR(cursor.Enclosed().status());
    end = cursor.offset();
  }
  cursor.set_offset(end);
  return source.text.substr(source.OffsetOf(value), end - source.OffsetOf(value));
}

}  // namespace

absl::Status ParseRawAttributes(const SourceText& source, TextCursor& cursor, std::vector<RawAttribute>* attributes) {
  attributes->clear();
  absl::flat_hash_set<absl::string_view> seen;
  while (true) {
    if (!cursor.Consume(",")) {
      // "sharding={...} metadata={...}": the only position where a comma may be missing.
      const size_t here = cursor.offset();
      if (attributes->empty() || !cursor.Consume("metadata={")) return absl::OkStatus();
      cursor.set_offset(here);
    }
    HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("an attribute"));
    if (!seen.insert(name).second) {
      return source.Error(source.OffsetOf(name), absl::StrCat("attribute ", name, " is given twice"));
    }
    HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of an attribute"));
    HILO_ASSIGN_OR_RETURN(const absl::string_view value, ParseAttributeValue(source, cursor, name));
    attributes->push_back({name, value});
  }
}

namespace {

// `inline_bodies`: an item may be a text in braces.
absl::StatusOr<std::vector<absl::string_view>> ParseList(const SourceText& source, absl::string_view value,
                                                         absl::string_view what, bool inline_bodies) {
  std::vector<absl::string_view> names;
  TextCursor cursor(source, source.OffsetOf(value));
  HILO_RETURN_IF_ERROR(cursor.Expect("{", absl::StrCat("before a list of ", what, "s")));
  if (cursor.Consume("}")) return names;
  do {
    if (inline_bodies && cursor.Peek() == '{') {
      const size_t begin = cursor.offset();
      HILO_RETURN_IF_ERROR(cursor.Enclosed().status());
      names.push_back(source.text.substr(begin, cursor.offset() - begin));
      continue;
    }
    HILO_ASSIGN_OR_RETURN(names.emplace_back(), cursor.Name(absl::StrCat("the name of a ", what)));
  } while (cursor.Consume(","));
  HILO_RETURN_IF_ERROR(cursor.Expect("}", absl::StrCat("after a list of ", what, "s")));
  return names;
}

}  // namespace

absl::StatusOr<std::vector<absl::string_view>> ParseNameList(const SourceText& source, absl::string_view value,
                                                             absl::string_view what) {
  return ParseList(source, value, what, /*inline_bodies=*/false);
}

absl::StatusOr<bool> ParseCalledRole(const SourceText& source, const CalledRoles& roles, const RawAttribute& attribute,
                                     std::vector<absl::string_view>* callees) {
  if (roles.names.empty()) return false;
  auto read_name = [&]() -> absl::StatusOr<absl::string_view> {
    if (absl::StartsWith(attribute.value, "{")) return attribute.value;
    TextCursor cursor(source, source.OffsetOf(attribute.value));
    HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("the name of a computation"));
    if (name.end() != attribute.value.end()) return cursor.Expected("the end of a computation's name");
    return name;
  };
  if (roles.is_list) {
    if (attribute.name == roles.names[0]) {
      HILO_ASSIGN_OR_RETURN(*callees, ParseList(source, attribute.value, "computation", /*inline_bodies=*/true));
      return true;
    }
    // A list of two branches may be written as true_computation=a, false_computation=b, one of a
    // custom call as to_apply=a.
    const bool branches = roles.names[0] == "branch_computations";
    const size_t index = branches && attribute.name == "false_computation" ? 1 : 0;
    if (branches ? attribute.name != "true_computation" && attribute.name != "false_computation"
                 : attribute.name != "to_apply") {
      return false;
    }
    if (callees->size() <= index) callees->resize(branches ? 2 : 1);
    HILO_ASSIGN_OR_RETURN((*callees)[index], read_name());
    return true;
  }
  const auto role = std::find(roles.names.begin(), roles.names.end(), attribute.name);
  if (role == roles.names.end()) return false;
  HILO_ASSIGN_OR_RETURN((*callees)[role - roles.names.begin()], read_name());
  return true;
}

absl::Status CheckRoles(const SourceText& source, HloOpcode opcode, const CalledRoles& roles,
                        absl::Span<const absl::string_view> callees, size_t opcode_offset) {
  for (size_t i = 0; i < callees.size(); ++i) {
    if (!callees[i].empty()) continue;
    const absl::string_view missing = !roles.is_list ? roles.names[i]
                                      : i == 0       ? "true_computation"
                                                     : "false_computation";
    return source.Error(opcode_offset, absl::StrCat("expected the attribute ", missing, " of ", HloOpcodeString(opcode),
                                                    "; it is missing"));
  }
  return absl::OkStatus();
}

}  // namespace hilo
