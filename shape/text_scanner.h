// Reads shapes and literals from text: skips blanks and comments, tracks its offset for messages.
#ifndef HILO_SHAPE_TEXT_SCANNER_H_
#define HILO_SHAPE_TEXT_SCANNER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hilo {

class TextScanner {
 public:
  explicit TextScanner(absl::string_view text) : text_(text) {}

  // Skips white space, /* comments */ and // comments to the end of the line. Stops before an unterminated comment.
  void SkipBlanks();
  // The remaining text, blanks included.
  absl::string_view rest() const { return text_.substr(at_); }
  size_t offset() const { return at_; }
  // The next character, without skipping blanks; '\0' at the end.
  char PeekRaw() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // These skip blanks first.
  bool AtEnd();
  char Peek();
  bool TryConsume(absl::string_view token);
  absl::Status Expect(absl::string_view token);
  // The longest run of letters, digits and '_'; may be empty.
  absl::string_view ConsumeWord();
  // The longest run of characters of numbers and words, "nan(0x1)" included; may be empty.
  absl::string_view ConsumeNumber();
  // A decimal integer, possibly negative, in the range of int64_t.
  absl::Status ConsumeInt64(int64_t* value);
  // InvalidArgument: expected ..., got '...' at offset ...
  absl::Status Expected(absl::string_view what);
  absl::Status ErrorAt(size_t offset, absl::string_view message) const;

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace hilo

#endif  // HILO_SHAPE_TEXT_SCANNER_H_
