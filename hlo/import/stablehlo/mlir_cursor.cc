#include "hlo/import/stablehlo/mlir_cursor.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hilo::stablehlo {
namespace {

bool IsWordCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.'; }

}  // namespace

void MlirCursor::Advance(size_t count) {
  for (; count > 0; --count) {
    if (source_.text[at_++] == '\n') ++line_;
  }
}

void MlirCursor::SkipSpace() {
  while (at_ < source_.text.size()) {
    if (absl::ascii_isspace(source_.text[at_])) {
      Advance(1);
    } else if (absl::StartsWith(source_.text.substr(at_), "//")) {
      const size_t end = source_.text.find('\n', at_);
      at_ = end == absl::string_view::npos ? source_.text.size() : end;
    } else {
      return;
    }
  }
}

bool MlirCursor::AtEnd() {
  SkipSpace();
  return at_ == source_.text.size();
}

char MlirCursor::Peek() {
  SkipSpace();
  return at_ < source_.text.size() ? source_.text[at_] : '\0';
}

bool MlirCursor::At(absl::string_view token) {
  SkipSpace();
  return absl::StartsWith(source_.text.substr(at_), token);
}

bool MlirCursor::Take(absl::string_view token) {
  if (!At(token)) return false;
  Advance(token.size());
  return true;
}

bool MlirCursor::TakeWord(absl::string_view word) {
  if (!At(word)) return false;
  const size_t end = at_ + word.size();
  if (end < source_.text.size() && IsWordCharacter(source_.text[end])) return false;
  Advance(word.size());
  return true;
}

absl::Status MlirCursor::Expect(absl::string_view token) {
  if (Take(token)) return absl::OkStatus();
  return Expected(absl::StrCat("'", token, "'"));
}

absl::string_view MlirCursor::Word() {
  SkipSpace();
  const size_t begin = at_;
  while (at_ < source_.text.size() && IsWordCharacter(source_.text[at_])) ++at_;
  return source_.text.substr(begin, at_ - begin);
}

absl::StatusOr<std::string> MlirCursor::Sigil(char sign) {
  if (Peek() != sign) return Expected(absl::StrCat("a name with ", std::string(1, sign)));
  Advance(1);
  if (at_ < source_.text.size() && source_.text[at_] == '"') return String();
  const size_t begin = at_;
  while (at_ < source_.text.size() && (IsWordCharacter(source_.text[at_]) || source_.text[at_] == '-' ||
                                       (sign == '%' && source_.text[at_] == '#'))) {
    if (source_.text[at_] == '-' && absl::StartsWith(source_.text.substr(at_), "->")) break;
    ++at_;
  }
  if (at_ == begin) return Expected(absl::StrCat("a name behind ", std::string(1, sign)));
  return std::string(source_.text.substr(begin, at_ - begin));
}

absl::StatusOr<std::string> MlirCursor::String() {
  if (Peek() != '"') return Expected("a string in quotes");
  Advance(1);
  std::string value;
  while (at_ < source_.text.size() && source_.text[at_] != '"') {
    char c = source_.text[at_];
    Advance(1);
    if (c != '\\') {
      value += c;
      continue;
    }
    const absl::string_view rest = source_.text.substr(at_);
    if (rest.size() >= 2 && absl::ascii_isxdigit(rest[0]) && absl::ascii_isxdigit(rest[1])) {
      value += absl::HexStringToBytes(rest.substr(0, 2));
      Advance(2);
    } else if (!rest.empty()) {
      value += rest[0] == 'n' ? '\n' : rest[0] == 't' ? '\t' : rest[0];
      Advance(1);
    }
  }
  if (at_ == source_.text.size()) return Expected("the end of a string");
  Advance(1);
  return value;
}

absl::StatusOr<int64_t> MlirCursor::Integer() {
  const absl::string_view number = Number();
  int64_t value;
  if (!absl::SimpleAtoi(number, &value)) return Error(absl::StrCat("expected an integer, got '", number, "'"));
  return value;
}

absl::string_view MlirCursor::Number() {
  SkipSpace();
  const size_t begin = at_;
  if (at_ < source_.text.size() && (source_.text[at_] == '-' || source_.text[at_] == '+')) ++at_;
  const bool is_hex = absl::StartsWith(source_.text.substr(at_), "0x");
  while (at_ < source_.text.size()) {
    const char c = source_.text[at_];
    const bool is_sign = !is_hex && (c == '-' || c == '+') && at_ > begin &&
                         (source_.text[at_ - 1] == 'e' || source_.text[at_ - 1] == 'E');
    if (!absl::ascii_isalnum(c) && c != '.' && !is_sign) break;
    ++at_;
  }
  return source_.text.substr(begin, at_ - begin);
}

bool MlirCursor::TakeDimension(int64_t* size) {
  SkipSpace();
  const absl::string_view rest = source_.text.substr(at_);
  size_t digits = 0;
  while (digits < rest.size() && absl::ascii_isdigit(rest[digits])) ++digits;
  const bool is_open = digits == 0 && absl::StartsWith(rest, "?x");
  if (!is_open && (digits == 0 || digits >= rest.size() || rest[digits] != 'x')) return false;
  if (is_open) {
    *size = -1;
    digits = 1;
  } else if (!absl::SimpleAtoi(rest.substr(0, digits), size)) {
    return false;
  }
  Advance(digits + 1);
  return true;
}

absl::Status MlirCursor::SkipBrackets() {
  std::string open;
  do {
    const char c = Peek();
    if (c == '\0') return Expected("a closing bracket");
    if (c == '"') {
      absl::StatusOr<std::string> skipped = String();
      if (!skipped.ok()) return skipped.status();
      continue;
    }
    if (Take("->")) continue;
    Advance(1);
    if (absl::StrContains("([{<", c)) open += c;
    if (!absl::StrContains(")]}>", c)) continue;
    const char closes = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
    if (open.empty() || open.back() != closes)
      return Error(absl::StrCat("a bracket '", std::string(1, c), "' closes none"));
    open.pop_back();
  } while (!open.empty());
  return absl::OkStatus();
}

absl::Status MlirCursor::Expected(absl::string_view what) {
  SkipSpace();
  const absl::string_view rest = source_.text.substr(at_);
  const std::string found =
      rest.empty() ? "the end"
                   : absl::StrCat("'", absl::CEscape(rest.substr(0, std::min<size_t>(rest.find('\n'), 24))), "'");
  return Error(absl::StrCat("expected ", what, ", got ", found));
}

absl::Status MlirCursor::Error(absl::string_view message) const { return source_.Error(at_, message); }

}  // namespace hilo::stablehlo
