// Parses shapes within longer texts.
#ifndef HILO_SHAPE_SHAPE_PARSER_H_
#define HILO_SHAPE_SHAPE_PARSER_H_

#include "absl/status/statusor.h"
#include "hilo/shape.h"
#include "shape/text_scanner.h"

namespace hilo {

// Reads one shape. A brace after an array's dimensions is a layout if it follows immediately, or if a number or colon
// follows the brace and `spaced_layouts` is set; otherwise it is not consumed, as it starts a body or a constant.
absl::StatusOr<Shape> ConsumeShape(TextScanner* scanner, bool spaced_layouts);

}  // namespace hilo

#endif  // HILO_SHAPE_SHAPE_PARSER_H_
