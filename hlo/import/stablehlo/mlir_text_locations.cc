// Locations of MLIR text: loc("file":12:3), loc("name"(...)), loc(callsite(... at ...)), loc(fused<...>[...]), and
// #names of locations, which are usually defined behind their uses.
#include <utility>

#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/mlir_text_values.h"

namespace hilo::stablehlo {

using Kind = Attribute::Kind;

absl::StatusOr<const Attribute*> MlirValueReader::ReadOptionalLocation() {
  if (!cursor_.TakeWord("loc")) return nullptr;
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  HILO_ASSIGN_OR_RETURN(const Attribute* location, ReadLocation(0));
  HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  return location;
}

void MlirValueReader::AddLocationAlias(const std::string& name, const Attribute& location) {
  *LocationNamed(name) = location;
}

// What is used before it is defined is filled in later; what is never defined stays unknown.
Attribute* MlirValueReader::LocationNamed(const std::string& name) {
  Attribute*& location = location_aliases_[name];
  if (location == nullptr) {
    location = module_.AddAttribute();
    location->kind = Kind::kLocation;
  }
  return location;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadLocation(int depth) {
  HILO_RETURN_IF_ERROR(CheckDepth(depth));
  if (cursor_.TakeWord("loc")) {  // locations within others may be written with the word again
    HILO_RETURN_IF_ERROR(cursor_.Expect("("));
    HILO_ASSIGN_OR_RETURN(const Attribute* inner, ReadLocation(depth + 1));
    HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
    return inner;
  }
  if (cursor_.Peek() == '#') {
    HILO_ASSIGN_OR_RETURN(const std::string name, cursor_.Sigil('#'));
    if (cursor_.Peek() == '<') HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());  // a dialect's own
    return LocationNamed(name);
  }
  Attribute* location = module_.AddAttribute();
  location->kind = Kind::kLocation;
  if (cursor_.Peek() == '"') {
    HILO_RETURN_IF_ERROR(ReadNamedLocation(depth, location));
  } else if (cursor_.TakeWord("callsite")) {
    HILO_RETURN_IF_ERROR(cursor_.Expect("("));
    HILO_ASSIGN_OR_RETURN(location->elements.emplace_back(), ReadLocation(depth + 1));
    if (!cursor_.TakeWord("at")) return cursor_.Expected("'at'");
    HILO_ASSIGN_OR_RETURN(location->elements.emplace_back(), ReadLocation(depth + 1));
    HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  } else if (cursor_.TakeWord("fused")) {
    if (cursor_.Peek() == '<') HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
    HILO_RETURN_IF_ERROR(cursor_.Expect("["));
    while (!cursor_.Take("]")) {
      HILO_ASSIGN_OR_RETURN(location->elements.emplace_back(), ReadLocation(depth + 1));
      if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
    }
  } else if (!cursor_.TakeWord("unknown")) {
    return cursor_.Expected("a location");
  }
  return location;
}

// "file":12:3, "file":12:3 to 14:5, "file":12:3 to :5; "name", "name"(location).
absl::Status MlirValueReader::ReadNamedLocation(int depth, Attribute* location) {
  HILO_ASSIGN_OR_RETURN(std::string text, cursor_.String());
  location->text = module_.AddString(std::move(text));
  if (cursor_.Take("(")) {
    HILO_ASSIGN_OR_RETURN(location->elements.emplace_back(), ReadLocation(depth + 1));
    return cursor_.Expect(")");
  }
  if (!cursor_.Take(":")) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(location->integer, cursor_.Integer());
  if (!cursor_.Take(":")) return absl::OkStatus();
  HILO_RETURN_IF_ERROR(cursor_.Integer().status());  // the column
  if (!cursor_.TakeWord("to")) return absl::OkStatus();
  if (!cursor_.At(":")) HILO_RETURN_IF_ERROR(cursor_.Integer().status());
  HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
  return cursor_.Integer().status();
}

}  // namespace hilo::stablehlo
