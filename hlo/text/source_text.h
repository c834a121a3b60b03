// A text, its name, and error messages that point into it.
#ifndef HILO_HLO_TEXT_SOURCE_TEXT_H_
#define HILO_HLO_TEXT_SOURCE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hilo {

struct SourceText {
  absl::string_view text;
  absl::string_view name;  // of the file, for messages

  // "name:12:9: message", then the line and a caret under the byte at `offset`. Lines and columns
  // count from 1, columns in bytes. Long lines are truncated to the part around the caret; non-printable
  // bytes are shown as '?'.
  absl::Status Error(size_t offset, absl::string_view message,
                     absl::StatusCode code = absl::StatusCode::kInvalidArgument) const;

  // "expected `expected`; got '...'": an Error at `offset` with the word found there.
  absl::Status Expected(size_t offset, absl::string_view expected) const;

  // Converts the error of a parser that was given the text from `offset` on: the caret of "at offset N"
  // is placed there.
  absl::Status InnerError(size_t offset, const absl::Status& error) const;

  // The offset of `part`, a piece of `text`.
  size_t OffsetOf(absl::string_view part) const { return part.data() - text.data(); }
};

}  // namespace hilo

#endif  // HILO_HLO_TEXT_SOURCE_TEXT_H_
