#include "shape/text_scanner.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hilo {

void TextScanner::SkipBlanks() {
  while (at_ < text_.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
      continue;
    }
    if (text_[at_] != '/') return;
    if (absl::StartsWith(rest(), "/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == absl::string_view::npos) return;
      at_ = end + 2;
    } else if (absl::StartsWith(rest(), "//")) {
      const size_t end = text_.find('\n', at_);
      at_ = end == absl::string_view::npos ? text_.size() : end + 1;
    } else {
      return;
    }
  }
}

bool TextScanner::AtEnd() {
  SkipBlanks();
  return at_ == text_.size();
}

char TextScanner::Peek() {
  SkipBlanks();
  return PeekRaw();
}

bool TextScanner::TryConsume(absl::string_view token) {
  SkipBlanks();
  if (!absl::StartsWith(rest(), token)) return false;
  at_ += token.size();
  return true;
}

absl::Status TextScanner::Expect(absl::string_view token) {
  return TryConsume(token) ? absl::OkStatus() : Expected(absl::StrCat("'", token, "'"));
}

absl::string_view TextScanner::ConsumeWord() {
  SkipBlanks();
  const size_t begin = at_;
  while (at_ < text_.size() && (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

absl::string_view TextScanner::ConsumeNumber() {
  SkipBlanks();
  const size_t begin = at_;
  const auto in_number = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+' || c == '-';
  };
  while (at_ < text_.size() && in_number(text_[at_])) ++at_;
  if (PeekRaw() == '(' && absl::EndsWith(text_.substr(begin, at_ - begin), "nan")) {
    const size_t end = text_.find(')', at_);
    if (end != absl::string_view::npos) at_ = end + 1;
  }
  return text_.substr(begin, at_ - begin);
}

absl::Status TextScanner::ConsumeInt64(int64_t* value) {
  SkipBlanks();
  const size_t begin = at_;
  if (PeekRaw() == '-') ++at_;
  while (absl::ascii_isdigit(static_cast<unsigned char>(PeekRaw()))) ++at_;
  if (absl::SimpleAtoi(text_.substr(begin, at_ - begin), value)) return absl::OkStatus();
  at_ = begin;
  return Expected("an integer of 64 bits");
}

absl::Status TextScanner::Expected(absl::string_view what) {
  SkipBlanks();
  if (at_ == text_.size()) return ErrorAt(at_, absl::StrCat("expected ", what, ", got the end"));
  return ErrorAt(at_, absl::StrCat("expected ", what, ", got '", absl::CEscape(rest().substr(0, 20)), "'"));
}

absl::Status TextScanner::ErrorAt(size_t offset, absl::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat(message, " at offset ", offset));
}

}  // namespace hilo
