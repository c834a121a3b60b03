// Characters and tokens of MLIR text.
#ifndef HILO_HLO_IMPORT_STABLEHLO_MLIR_CURSOR_H_
#define HILO_HLO_IMPORT_STABLEHLO_MLIR_CURSOR_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/text/source_text.h"

namespace hilo::stablehlo {

// Every function skips white space and comments (// to the end of the line) first.
class MlirCursor {
 public:
  explicit MlirCursor(absl::string_view text, absl::string_view file_name = "MLIR text") : source_{text, file_name} {}

  bool AtEnd();
  char Peek();  // '\0' at the end
  bool At(absl::string_view token);
  bool Take(absl::string_view token);
  // Like Take, for a token that must end at a word boundary: "dim" does not match "dims".
  bool TakeWord(absl::string_view word);
  absl::Status Expect(absl::string_view token);
  // Letters, digits, and _ $ . (also - if requested); empty if there are none.
  absl::string_view Word();
  // %name, %name#1, ^bb0, @name, @"name", #name: the text after the sign, which is consumed too. Errors:
  // InvalidArgument if it is missing.
  absl::StatusOr<std::string> Sigil(char sign);
  // "..." with its escapes.
  absl::StatusOr<std::string> String();
  // Decimal, with a sign.
  absl::StatusOr<int64_t> Integer();
  // A number as it is written: -1, 2.5e-3, 0x7FC00000, nan.
  absl::string_view Number();
  // One dimension of a shape, such as the "4x" or "?x" of tensor<4x?xf32>; false, consuming nothing, if there is none.
  bool TakeDimension(int64_t* size);
  // From an opening bracket to its closing one, including strings and nested brackets of all kinds; skips over ->.
  absl::Status SkipBrackets();

  const SourceText& source() const { return source_; }
  // Of the next byte that is not skipped.
  size_t offset() {
    SkipSpace();
    return at_;
  }
  int64_t line() {
    SkipSpace();
    return line_;
  }
  // InvalidArgument: "FILE:LINE:COLUMN: expected WHAT, got ...", then the line and a caret.
  absl::Status Expected(absl::string_view what);
  absl::Status Error(absl::string_view message) const;

 private:
  void SkipSpace();
  void Advance(size_t count);

  SourceText source_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_MLIR_CURSOR_H_
