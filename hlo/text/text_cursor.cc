#include "hlo/text/text_cursor.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

bool IsWordChar(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

// The end of the word that starts at `offset`.
size_t WordEnd(absl::string_view text, size_t offset) {
  while (offset < text.size() && IsWordChar(text[offset]) &&
         !(text[offset] == '-' && offset + 1 < text.size() && text[offset + 1] == '>')) {
    ++offset;
  }
  return offset;
}

char ClosingOf(char open) { return open == '{' ? '}' : open == '[' ? ']' : ')'; }

}  // namespace

int64_t TextCursor::Line() {
  const absl::string_view text = source_.text;
  const auto lines = [&](size_t begin, size_t end) {
    return std::count(text.begin() + begin, text.begin() + end, '\n');
  };
  counted_line_ += offset_ >= counted_offset_ ? lines(counted_offset_, offset_) : -lines(offset_, counted_offset_);
  counted_offset_ = offset_;
  return counted_line_;
}

void TextCursor::SkipSpace() {
  const absl::string_view text = source_.text;
  while (offset_ < text.size()) {
    if (absl::ascii_isspace(text[offset_])) {
      ++offset_;
    } else if (text[offset_] == '/' && offset_ + 1 < text.size() && text[offset_ + 1] == '/') {
      offset_ = std::min(text.find('\n', offset_), text.size());
    } else if (text[offset_] == '/' && offset_ + 1 < text.size() && text[offset_ + 1] == '*') {
      const size_t end = text.find("*/", offset_ + 2);
      offset_ = end == absl::string_view::npos ? text.size() : end + 2;
    } else {
      return;
    }
  }
}

bool TextCursor::AtEnd() {
  SkipSpace();
  return offset_ == source_.text.size();
}

char TextCursor::Peek() {
  SkipSpace();
  return offset_ < source_.text.size() ? source_.text[offset_] : '\0';
}

bool TextCursor::Consume(absl::string_view token) {
  SkipSpace();
  if (!absl::StartsWith(source_.text.substr(offset_), token)) return false;
  offset_ += token.size();
  return true;
}

bool TextCursor::ConsumeWord(absl::string_view word) {
  SkipSpace();
  const size_t end = WordEnd(source_.text, offset_);
  if (source_.text.substr(offset_, end - offset_) != word) return false;
  offset_ = end;
  return true;
}

absl::Status TextCursor::Expected(absl::string_view what) {
  SkipSpace();
  return source_.Expected(offset_, what);
}

absl::Status TextCursor::Expect(absl::string_view token, absl::string_view where) {
  if (Consume(token)) return absl::OkStatus();
  return Expected(absl::StrCat("'", token, "' ", where));
}

absl::string_view TextCursor::Word() {
  SkipSpace();
  const size_t begin = offset_;
  offset_ = WordEnd(source_.text, offset_);
  return source_.text.substr(begin, offset_ - begin);
}

absl::StatusOr<absl::string_view> TextCursor::Name(absl::string_view what) {
  SkipSpace();
  const size_t begin = offset_;
  if (offset_ < source_.text.size() && source_.text[offset_] == '%') ++offset_;
  const size_t end = WordEnd(source_.text, offset_);
  if (end == offset_) {
    offset_ = begin;
    return Expected(what);
  }
  const absl::string_view name = source_.text.substr(offset_, end - offset_);
  offset_ = end;
  return name;
}

absl::StatusOr<int64_t> TextCursor::Integer(absl::string_view what) {
  SkipSpace();
  const size_t begin = offset_;
  int64_t value = 0;
  if (!absl::SimpleAtoi(Word(), &value)) {
    offset_ = begin;
    return Expected(what);
  }
  return value;
}

absl::StatusOr<bool> TextCursor::Bool(absl::string_view what) {
  if (ConsumeWord("true")) return true;
  if (ConsumeWord("false")) return false;
  return Expected(absl::StrCat("true or false ", what));
}

absl::Status TextCursor::SkipString() {
  const absl::string_view text = source_.text;
  const size_t begin = offset_++;
  while (offset_ < text.size() && text[offset_] != '"') offset_ += text[offset_] == '\\' ? 2 : 1;
  if (offset_ >= text.size()) {
    offset_ = text.size();
    return source_.Error(begin, "expected a closing '\"' for this string; got end of text");
  }
  ++offset_;
  return absl::OkStatus();
}

absl::StatusOr<std::string> TextCursor::String(absl::string_view what) {
  if (Peek() != '"') return Expected(what);
  const size_t begin = offset_;
  HILO_RETURN_IF_ERROR(SkipString());
  std::string value, error;
  if (!absl::CUnescape(source_.text.substr(begin + 1, offset_ - begin - 2), &value, &error)) {
    return source_.Error(begin, absl::StrCat("expected a string with C escapes; ", error));
  }
  return value;
}

absl::StatusOr<absl::string_view> TextCursor::UpTo(char end) {
  const size_t at = source_.text.find(end, offset_);
  if (at == absl::string_view::npos) return Expected(absl::StrCat("text up to ", absl::string_view(&end, 1)));
  const absl::string_view text = source_.text.substr(offset_, at - offset_);
  offset_ = at + 1;
  return text;
}

bool TextCursor::AtShape() {
  if (Peek() == '(') return true;
  const size_t end = WordEnd(source_.text, offset_);
  return end > offset_ && absl::StartsWith(absl::StripLeadingAsciiWhitespace(source_.text.substr(end)), "[");
}

absl::StatusOr<Shape> TextCursor::ReadShape() {
  SkipSpace();
  const size_t begin = offset_;
  absl::string_view rest = source_.text.substr(offset_);
  absl::StatusOr<Shape> shape = ConsumeShape(&rest);
  if (!shape.ok()) return source_.InnerError(begin, shape.status());
  offset_ = source_.text.size() - rest.size();
  return shape;
}

absl::StatusOr<ShapeIndex> TextCursor::ReadShapeIndex() {
  ShapeIndex index;
  HILO_RETURN_IF_ERROR(Expect("{", "before a tuple index"));
  if (Consume("}")) return index;
  do {
    HILO_ASSIGN_OR_RETURN(index.emplace_back(), Integer("a tuple index"));
  } while (Consume(","));
  HILO_RETURN_IF_ERROR(Expect("}", "after a tuple index"));
  return index;
}

absl::StatusOr<absl::string_view> TextCursor::Enclosed() {
  const absl::string_view text = source_.text;
  struct Open {
    char closing;
    size_t offset;
  };
  std::vector<Open> open = {{ClosingOf(Peek()), offset_}};
  const size_t begin = ++offset_;
  while (true) {
    const char before = text[offset_ - 1];
    if (offset_ >= text.size()) {
      return source_.Error(open.back().offset, absl::StrCat("expected '", absl::string_view(&open.back().closing, 1),
                                                            "' to match this bracket; got end of text"));
    }
    const char c = text[offset_];
    if (c == '{' || c == '[' || c == '(') {
      open.push_back({ClosingOf(c), offset_++});
    } else if (c == '}' || c == ']' || c == ')') {
      if (c != open.back().closing) {
        return Expected(absl::StrCat("'", absl::string_view(&open.back().closing, 1), "'"));
      }
      ++offset_;
      open.pop_back();
      if (open.empty()) return text.substr(begin, offset_ - 1 - begin);
    } else if (c == '"') {
      HILO_RETURN_IF_ERROR(SkipString());
    } else if (c == '/' && (absl::StartsWith(text.substr(offset_), "/*") ||
                            (absl::StartsWith(text.substr(offset_), "//") && before != ':'))) {
      SkipSpace();  // a comment; "//" after a ':' is an address in unquoted text
    } else {
      ++offset_;
    }
  }
}

absl::StatusOr<absl::string_view> TextCursor::RawValue() {
  SkipSpace();
  const absl::string_view text = source_.text;
  const size_t begin = offset_;
  while (offset_ < text.size()) {
    const char c = text[offset_];
    if (c == '{' || c == '[' || c == '(') {
      HILO_RETURN_IF_ERROR(Enclosed().status());
    } else if (c == '"') {
      HILO_RETURN_IF_ERROR(SkipString());
    } else if (c == ',' || c == '}' || c == ']' || c == ')' || absl::ascii_isspace(c) ||
               absl::StartsWith(text.substr(offset_), "/*")) {
      break;
    } else {
      ++offset_;
    }
  }
  if (offset_ == begin) return Expected("a value");
  return text.substr(begin, offset_ - begin);
}

}  // namespace hilo
