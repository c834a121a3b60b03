// Literals as users type them.
#ifndef HILO_TOOLS_LITERAL_INPUT_H_
#define HILO_TOOLS_LITERAL_INPUT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/literal.h"

namespace hilo::tools {

// Takes "f32[2]{1, 2}", "s32[] 5" or "(s32[]5, pred[2]{1, 0})" from the start of *text. Braces
// after a shape are always elements, never a layout.
absl::StatusOr<Literal> ConsumeLiteral(absl::string_view* text);

// All of `text`, the shape written or not; it must have the elements of `shape`, if that has no dynamic dimensions.
absl::StatusOr<Literal> ParseLiteralOf(absl::string_view text, const Shape& shape);

// Numbers that depend on `seed` only: floats in [-1, 1), integers 0 to 9 as far as the type goes,
// PRED 0 and 1.
absl::StatusOr<Literal> RandomLiteral(const Shape& shape, uint64_t seed);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_LITERAL_INPUT_H_
