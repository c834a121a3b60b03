#include "hlo/text/source_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hilo {
namespace {

constexpr size_t kShownBefore = 80;  // columns of a long line shown before and after the caret
constexpr size_t kShownAfter = 80;
constexpr size_t kShownToken = 40;

// The word, or the one other character, at `offset`.
std::string TokenAt(absl::string_view text, size_t offset) {
  if (offset >= text.size()) return "end of text";
  if (text[offset] == '\n') return "end of line";
  size_t end = offset;
  while (end < text.size() && end < offset + kShownToken &&
         (absl::ascii_isalnum(text[end]) || text[end] == '_' || text[end] == '.' || text[end] == '-')) {
    ++end;
  }
  if (end == offset) ++end;
  return absl::StrCat("'", absl::CEscape(text.substr(offset, end - offset)), "'");
}

}  // namespace

absl::Status SourceText::Error(size_t offset, absl::string_view message, absl::StatusCode code) const {
  offset = std::min(offset, text.size());
  const size_t line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
  const size_t before = offset == 0 ? absl::string_view::npos : text.rfind('\n', offset - 1);
  const size_t begin = before == absl::string_view::npos ? 0 : before + 1;
  const size_t column = offset - begin;

  const size_t from = column > kShownBefore ? offset - kShownBefore : begin;
  const size_t to = std::min(text.find('\n', offset), std::min(text.size(), offset + kShownAfter));
  std::string shown(text.substr(from, to - from));
  std::string caret(offset - from, ' ');
  for (size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == '\t') {
      if (i < caret.size()) caret[i] = '\t';
    } else if (!absl::ascii_isprint(shown[i])) {
      shown[i] = shown[i] == '\r' ? ' ' : '?';
    }
  }
  return absl::Status(code,
                      absl::StrCat(name, ":", line, ":", column + 1, ": ", message, "\n", shown, "\n", caret, "^"));
}

absl::Status SourceText::Expected(size_t offset, absl::string_view expected) const {
  return Error(offset, absl::StrCat("expected ", expected, "; got ", TokenAt(text, offset)));
}

absl::Status SourceText::InnerError(size_t offset, const absl::Status& error) const {
  absl::string_view message = error.message();
  constexpr absl::string_view kAt = " at offset ";
  size_t inner = 0;
  const size_t at = message.rfind(kAt);
  if (at != absl::string_view::npos && absl::SimpleAtoi(message.substr(at + kAt.size()), &inner)) {
    message = message.substr(0, at);
  }
  return Error(offset + inner, message, error.code());
}

}  // namespace hilo
