// A position in a text, and the reading of words, strings, shapes and raw values from there.
//
// HLO text is simple enough to be read directly from its characters: the meaning of an opening bracket, a
// word or a quote is clear from its position, so there is no token stream in between.
// White space and comments (/* */ and // to the end of the line) may appear between any two tokens.
// Nothing here recurses.
#ifndef HILO_HLO_TEXT_TEXT_CURSOR_H_
#define HILO_HLO_TEXT_TEXT_CURSOR_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/shape.h"
#include "hlo/text/source_text.h"

namespace hilo {

class TextCursor {
 public:
  explicit TextCursor(const SourceText& source, size_t offset = 0) : source_(source), offset_(offset) {}

  const SourceText& source() const { return source_; }
  size_t offset() const { return offset_; }
  void set_offset(size_t offset) { offset_ = offset; }
  // Line of the current offset, from 1. Continues counting, forwards or backwards, from the last call, so that calling
  // it for every instruction stays linear.
  int64_t Line();

  // Skips white space and comments.
  void SkipSpace();
  bool AtEnd();
  // The next character after white space; '\0' at the end.
  char Peek();
  // Skips `token` if it is next (after white space).
  bool Consume(absl::string_view token);
  // Skips the word `word` if it is next as a whole word.
  bool ConsumeWord(absl::string_view word);
  // As Consume. Errors: InvalidArgument, "expected '<token>' <where>".
  absl::Status Expect(absl::string_view token, absl::string_view where);
  // The longest prefix of letters, digits, '_', '.' and '-'; empty if there is none. "->" ends it.
  absl::string_view Word();
  // A word after an optional '%'. Errors: InvalidArgument, "expected <what>".
  absl::StatusOr<absl::string_view> Name(absl::string_view what);
  absl::StatusOr<int64_t> Integer(absl::string_view what);
  absl::StatusOr<bool> Bool(absl::string_view what);
  // "..." with C escapes, unescaped.
  absl::StatusOr<std::string> String(absl::string_view what);
  // The text up to the next `end`, which is skipped. Errors: InvalidArgument if there is none.
  absl::StatusOr<absl::string_view> UpTo(char end);
  // True if a shape is next: '(' or a word followed by '['.
  bool AtShape();
  // Errors: InvalidArgument, also for shapes that no array can have.
  absl::StatusOr<Shape> ReadShape();
  // "{1,0}".
  absl::StatusOr<ShapeIndex> ReadShapeIndex();

  // At an opening bracket: skips to its match, respecting brackets, strings and comments inside,
  // and returns the text between the two. Errors: InvalidArgument at the bracket that
  // has no match.
  absl::StatusOr<absl::string_view> Enclosed();
  // The text of an attribute's value: up to a ',', white space or a closing bracket outside of
  // brackets and strings.
  absl::StatusOr<absl::string_view> RawValue();

  absl::Status Expected(absl::string_view what);
  absl::Status Error(absl::string_view message) { return source_.Error(offset_, message); }

 private:
  absl::Status SkipString();

  const SourceText& source_;
  size_t offset_;
  size_t counted_offset_ = 0;
  int64_t counted_line_ = 1;
};

}  // namespace hilo

#endif  // HILO_HLO_TEXT_TEXT_CURSOR_H_
