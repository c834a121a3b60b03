#include "shape/shape_parser.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

bool StartsInteger(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-'; }

// "1,2,3" up to but without `close`; may be empty.
absl::StatusOr<std::vector<int64_t>> ConsumeIntegers(TextScanner* scanner, char close) {
  std::vector<int64_t> values;
  if (scanner->Peek() == close) return values;
  do {
    int64_t value;
    HILO_RETURN_IF_ERROR(scanner->ConsumeInt64(&value));
    values.push_back(value);
  } while (scanner->TryConsume(","));
  return values;
}

// "(8,128)(2,1)"
absl::Status ConsumeTiles(TextScanner* scanner, Layout* layout) {
  do {
    HILO_RETURN_IF_ERROR(scanner->Expect("("));
    Tile tile;
    do {
      int64_t size = Tile::kCombineDimension;
      if (!scanner->TryConsume("*")) HILO_RETURN_IF_ERROR(scanner->ConsumeInt64(&size));
      tile.dimensions.push_back(size);
    } while (scanner->TryConsume(","));
    HILO_RETURN_IF_ERROR(scanner->Expect(")"));
    layout->tiles.push_back(std::move(tile));
  } while (scanner->Peek() == '(');
  return absl::OkStatus();
}

// "(3,5)" or "(3,5:1.5)"
absl::Status ConsumePadding(TextScanner* scanner, Layout* layout) {
  HILO_RETURN_IF_ERROR(scanner->Expect("("));
  do {
    int64_t size;
    HILO_RETURN_IF_ERROR(scanner->ConsumeInt64(&size));
    layout->padded_dimensions.push_back(size);
  } while (scanner->TryConsume(","));
  if (scanner->TryConsume(":") && !absl::SimpleAtod(scanner->ConsumeNumber(), &layout->padding_value)) {
    return scanner->Expected("a padding value");
  }
  return scanner->Expect(")");
}

absl::Status ConsumeParenthesizedInteger(TextScanner* scanner, int64_t* value) {
  HILO_RETURN_IF_ERROR(scanner->Expect("("));
  HILO_RETURN_IF_ERROR(scanner->ConsumeInt64(value));
  return scanner->Expect(")");
}

// What follows the colon of a layout: "T(8,128)S(1)". Notes that do not change what we do with an
// array are ignored.
absl::Status ConsumeNotes(TextScanner* scanner, Layout* layout) {
  while (scanner->Peek() != '}') {
    int64_t ignored;
    if (scanner->TryConsume("T")) {
      HILO_RETURN_IF_ERROR(ConsumeTiles(scanner, layout));
    } else if (scanner->TryConsume("E")) {
      HILO_RETURN_IF_ERROR(ConsumeParenthesizedInteger(scanner, &layout->element_size_in_bits));
    } else if (scanner->TryConsume("SC")) {
      // Where XLA splits the array between devices' memories: "SC(0:4)".
      HILO_RETURN_IF_ERROR(scanner->Expect("("));
      while (!scanner->TryConsume(")")) {
        HILO_RETURN_IF_ERROR(scanner->ConsumeInt64(&ignored));
        if (!scanner->TryConsume(":")) scanner->TryConsume(",");
      }
    } else if (scanner->TryConsume("S")) {
      HILO_RETURN_IF_ERROR(ConsumeParenthesizedInteger(scanner, &layout->memory_space));
    } else if (scanner->TryConsume("pad")) {
      HILO_RETURN_IF_ERROR(ConsumePadding(scanner, layout));
    } else if (scanner->TryConsume("L") || scanner->TryConsume("M")) {
      HILO_RETURN_IF_ERROR(ConsumeParenthesizedInteger(scanner, &ignored));
    } else if (scanner->TryConsume("D(")) {
      // Dimension level types; "D" is dense, all others are sparse.
      while (scanner->TryConsume("D")) scanner->TryConsume(",");
      HILO_RETURN_IF_ERROR(scanner->Expect(")"));
    } else {
      return scanner->Expected("a layout note such as T(8,128), E(4), S(1) or '}'");
    }
  }
  return absl::OkStatus();
}

// After the opening brace.
absl::StatusOr<Layout> ConsumeLayout(TextScanner* scanner) {
  Layout layout;
  if (scanner->Peek() != ':') {
    HILO_ASSIGN_OR_RETURN(layout.minor_to_major, ConsumeIntegers(scanner, '}'));
  }
  if (scanner->TryConsume(":")) HILO_RETURN_IF_ERROR(ConsumeNotes(scanner, &layout));
  HILO_RETURN_IF_ERROR(scanner->Expect("}"));
  return layout;
}

bool ConsumeLayoutBrace(TextScanner* scanner, bool spaced_layouts) {
  const bool adjacent = scanner->PeekRaw() == '{';
  if (scanner->Peek() != '{') return false;
  TextScanner ahead = *scanner;
  ahead.TryConsume("{");
  const char next = ahead.Peek();
  const bool like_layout = absl::ascii_isdigit(static_cast<unsigned char>(next)) || next == ':';
  if (!adjacent && !(like_layout && spaced_layouts)) return false;
  *scanner = ahead;
  return true;
}

absl::StatusOr<Shape> ConsumeArray(TextScanner* scanner, bool spaced_layouts) {
  TextScanner start = *scanner;
  HILO_ASSIGN_OR_RETURN(const PrimitiveType type, [&]() -> absl::StatusOr<PrimitiveType> {
    absl::StatusOr<PrimitiveType> found = PrimitiveTypeFromName(scanner->ConsumeWord());
    if (!found.ok() || *found == TUPLE || *found == BUFFER) return start.Expected("a shape");
    return found;
  }());
  HILO_RETURN_IF_ERROR(scanner->Expect("["));
  std::vector<int64_t> dimensions;
  std::vector<bool> dynamic;
  if (scanner->Peek() != ']') {
    do {
      if (scanner->Peek() == '?') {
        return scanner->Expected("a size or a bound such as <=8 (unbounded dimensions have none)");
      }
      dynamic.push_back(scanner->TryConsume("<="));
      int64_t size;
      if (!StartsInteger(scanner->Peek())) return scanner->Expected("a dimension size");
      HILO_RETURN_IF_ERROR(scanner->ConsumeInt64(&size));
      dimensions.push_back(size);
    } while (scanner->TryConsume(","));
  }
  HILO_RETURN_IF_ERROR(scanner->Expect("]"));
  Shape shape(type, dimensions, std::move(dynamic));
  const TextScanner after = *scanner;
  if (ConsumeLayoutBrace(scanner, spaced_layouts)) {
    HILO_ASSIGN_OR_RETURN(Layout layout, ConsumeLayout(scanner));
    if (shape.IsArray()) shape.set_layout(std::move(layout));
  } else {
    *scanner = after;  // blanks are the caller's
  }
  return shape;
}

absl::StatusOr<Shape> ConsumeAny(TextScanner* scanner, bool spaced_layouts, int depth) {
  if (!scanner->TryConsume("(")) return ConsumeArray(scanner, spaced_layouts);
  if (depth >= ShapeUtil::kMaxTupleDepth) {
    return scanner->ErrorAt(scanner->offset(),
                            absl::StrCat("tuples are nested deeper than ", ShapeUtil::kMaxTupleDepth, " levels"));
  }
  std::vector<Shape> elements;
  if (scanner->Peek() != ')') {
    do {
      HILO_ASSIGN_OR_RETURN(Shape element, ConsumeAny(scanner, /*spaced_layouts=*/true, depth + 1));
      elements.push_back(std::move(element));
    } while (scanner->TryConsume(","));
  }
  HILO_RETURN_IF_ERROR(scanner->Expect(")"));
  return Shape(std::move(elements));
}

}  // namespace

absl::StatusOr<Shape> ConsumeShape(TextScanner* scanner, bool spaced_layouts) {
  scanner->SkipBlanks();
  const size_t begin = scanner->offset();
  HILO_ASSIGN_OR_RETURN(Shape shape, ConsumeAny(scanner, spaced_layouts, 0));
  if (absl::Status status = ShapeUtil::Validate(shape); !status.ok()) {
    return scanner->ErrorAt(begin, status.message());
  }
  return shape;
}

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  TextScanner scanner(text);
  HILO_ASSIGN_OR_RETURN(Shape shape, ConsumeShape(&scanner, /*spaced_layouts=*/true));
  if (!scanner.AtEnd()) return scanner.Expected("nothing after the shape");
  return shape;
}

absl::StatusOr<Shape> ConsumeShape(absl::string_view* text) {
  TextScanner scanner(*text);
  HILO_ASSIGN_OR_RETURN(Shape shape, ConsumeShape(&scanner, /*spaced_layouts=*/true));
  *text = scanner.rest();
  return shape;
}

}  // namespace hilo
