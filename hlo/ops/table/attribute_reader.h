// Reads attribute values from their text: for codecs.
#ifndef HILO_HLO_OPS_TABLE_ATTRIBUTE_READER_H_
#define HILO_HLO_OPS_TABLE_ATTRIBUTE_READER_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hilo {

inline bool IsWordCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-' || c == '+'; }

// Reads a value from the front of a text; white space and comments may appear between its tokens.
class AttributeReader {
 public:
  explicit AttributeReader(absl::string_view text) : text_(text), rest_(text) { SkipSpace(); }

  bool AtEnd() const { return rest_.empty(); }
  bool At(char token) const { return !rest_.empty() && rest_[0] == token; }
  absl::Status Expected(absl::string_view what) const {
    if (AtEnd()) return absl::InvalidArgumentError(absl::StrCat("expected ", what, " at the end of \"", text_, "\""));
    return absl::InvalidArgumentError(absl::StrCat("expected ", what, " before \"", rest_, "\" in \"", text_, "\""));
  }
  // Consumes `token` if it comes next.
  bool Take(char token) {
    if (!At(token)) return false;
    rest_.remove_prefix(1);
    SkipSpace();
    return true;
  }
  // Consumes the longest sequence of word characters, which include "x" and "_".
  absl::string_view TakeWord() {
    size_t length = 0;
    while (length < rest_.size() && IsWordCharacter(rest_[length])) ++length;
    absl::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    SkipSpace();
    return word;
  }
  // Consumes a quoted string. In it, a backslash precedes a character or two hexadecimal digits, a byte.
  // False, consuming nothing, if there is none.
  bool TakeQuoted(std::string* value, char quote = '"') {
    if (!At(quote)) return false;
    value->clear();
    for (size_t at = 1; at < rest_.size(); ++at) {
      if (rest_[at] == quote) {
        rest_.remove_prefix(at + 1);
        SkipSpace();
        return true;
      }
      if (rest_[at] != '\\') {
        value->push_back(rest_[at]);
        continue;
      }
      uint32_t byte;
      if (at + 2 < rest_.size() && absl::ascii_isxdigit(rest_[at + 1]) &&
          absl::SimpleHexAtoi(rest_.substr(at + 1, 2), &byte)) {
        value->push_back(static_cast<char>(byte));
        at += 2;
      } else if (++at < rest_.size()) {
        value->push_back(rest_[at]);
      }
    }
    return false;
  }

 private:
  void SkipSpace() {
    while (!rest_.empty()) {
      if (absl::ascii_isspace(rest_[0])) {
        rest_.remove_prefix(1);
      } else if (rest_.substr(0, 2) == "/*") {
        const size_t end = rest_.find("*/", 2);
        if (end == absl::string_view::npos) return;  // the opening is then an unexpected token
        rest_.remove_prefix(end + 2);
      } else if (rest_.substr(0, 2) == "//") {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else {
        return;
      }
    }
  }

  absl::string_view text_, rest_;
};

inline absl::Status ReadEnd(const AttributeReader& reader) {
  return reader.AtEnd() ? absl::OkStatus() : reader.Expected("the end of the value");
}

// The whole of `word`, checked against the range of 64 bits.
inline absl::Status NumberFromWord(absl::string_view word, int64_t* value) {
  if (absl::SimpleAtoi(word, value)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected a 64-bit integer, got \"", word, "\""));
}
inline absl::Status BoolFromWord(absl::string_view word, bool* value) {
  if (word != "true" && word != "false") {
    return absl::InvalidArgumentError(absl::StrCat("expected true or false, got \"", word, "\""));
  }
  *value = word == "true";
  return absl::OkStatus();
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_ATTRIBUTE_READER_H_
