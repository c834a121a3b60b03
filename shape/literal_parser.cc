// The text of constants. The shape is known, so it leads: depth of braces and parentheses is the
// shape's, never the text's, and a literal is made only when the text is long enough to fill it.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "shape/number_text.h"
#include "shape/shape_parser.h"
#include "shape/text_scanner.h"

namespace hilo {
namespace {

absl::Status ParseReal(TextScanner* scanner, PrimitiveType type, uint8_t* out) {
  scanner->SkipBlanks();
  const size_t begin = scanner->offset();
  TextScanner start = *scanner;
  const absl::string_view text = scanner->ConsumeNumber();
  if (text.empty()) {
    return start.Expected(absl::StrCat("a value of ", PrimitiveTypeName(type)));
  }
  absl::Status status = ParseNumber(text, type, out);
  return status.ok() ? status : scanner->ErrorAt(begin, status.message());
}

// "1.5" or, for complex types, "(1.5, -2)".
absl::Status ParseElement(TextScanner* scanner, PrimitiveType type, uint8_t* out) {
  if (!IsComplexType(type)) return ParseReal(scanner, type, out);
  const PrimitiveType part = ComplexComponentType(type);
  if (!scanner->TryConsume("(")) return ParseReal(scanner, part, out);  // the imaginary part stays 0
  HILO_RETURN_IF_ERROR(ParseReal(scanner, part, out));
  HILO_RETURN_IF_ERROR(scanner->Expect(","));
  HILO_RETURN_IF_ERROR(ParseReal(scanner, part, out + PrimitiveTypeByteSize(part)));
  return scanner->Expect(")");
}

absl::Status Elided(const TextScanner& scanner, const Shape& shape) {
  return scanner.ErrorAt(scanner.offset(), absl::StrCat("the constant's elements were left out of the text ({...}); "
                                                        "the values of ",
                                                        shape.ToString(), " are needed"));
}

// Nested braces around all elements of `literal`, of rank 1 or more.
absl::Status ParseBraces(TextScanner* scanner, Literal* literal) {
  const Shape& shape = literal->shape();
  const int64_t rank = shape.rank();
  const int width = PrimitiveTypeByteSize(shape.element_type());
  const bool no_elements = literal->element_count() == 0;
  uint8_t* element = literal->untyped_data().data();
  std::vector<int64_t> seen(rank, 0);  // items so far in each open brace
  int64_t depth = 0;                   // open braces
  while (true) {
    if (depth > 0 && seen[depth - 1] == shape.dimensions(depth - 1)) {
      return scanner->Expected(
          absl::StrCat("'}' after ", seen[depth - 1], " items of dimension ", depth - 1, " of ", shape.ToString()));
    }
    bool closing = false;
    if (depth < rank) {
      HILO_RETURN_IF_ERROR(scanner->Expect("{"));
      if (scanner->TryConsume("...")) return Elided(*scanner, shape);
      seen[depth++] = 0;
      if (scanner->Peek() != '}') {
        if (depth < rank || shape.dimensions(depth - 1) == 0) continue;
      } else {
        closing = true;
      }
    }
    if (!closing) {
      HILO_RETURN_IF_ERROR(ParseElement(scanner, shape.element_type(), element));
      element += width;
    }
    // Close what ends here. An array without elements may drop its inner braces.
    while (true) {
      if (!closing) {
        ++seen[depth - 1];
        if (scanner->TryConsume(",")) break;
      }
      closing = false;
      const bool complete = seen[depth - 1] == shape.dimensions(depth - 1) || (no_elements && seen[depth - 1] == 0);
      if (!complete) {
        return scanner->Expected(absl::StrCat("item ", seen[depth - 1], " of ", shape.dimensions(depth - 1),
                                              " in dimension ", depth - 1, " of ", shape.ToString()));
      }
      HILO_RETURN_IF_ERROR(scanner->Expect("}"));
      if (--depth == 0) return absl::OkStatus();
    }
  }
}

absl::StatusOr<Literal> ParseArray(TextScanner* scanner, const Shape& shape);

// "(3,2)": how many elements there are along each dimension of `shape`; then the elements.
absl::StatusOr<Literal> ParseSized(TextScanner* scanner, const Shape& shape) {
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d > 0) HILO_RETURN_IF_ERROR(scanner->Expect(","));
    int64_t size = 0;
    HILO_RETURN_IF_ERROR(ParseReal(scanner, S64, reinterpret_cast<uint8_t*>(&size)));
    if (size < 0 || size > shape.dimensions(d) || (size < shape.dimensions(d) && !shape.is_dynamic_dimension(d))) {
      return scanner->Expected(
          absl::StrCat("a size that dimension ", d, " of ", shape.ToString(), " can have, not ", size));
    }
    sizes.push_back(size);
  }
  HILO_RETURN_IF_ERROR(scanner->Expect(")"));
  HILO_ASSIGN_OR_RETURN(const Literal elements, ParseArray(scanner, Shape(shape.element_type(), sizes)));
  return elements.ToBoundedDynamic(shape);
}

absl::StatusOr<Literal> ParseArray(TextScanner* scanner, const Shape& shape) {
  if (!shape.is_static() && scanner->TryConsume("(")) return ParseSized(scanner, shape);
  // Each element takes a character, and a comma except for the last.
  if (ShapeUtil::ElementsIn(shape) / 2 > static_cast<int64_t>(scanner->rest().size())) {
    TextScanner ahead = *scanner;
    while (ahead.TryConsume("{")) {
    }
    if (ahead.TryConsume("...")) return Elided(ahead, shape);
    return scanner->Expected(absl::StrCat(ShapeUtil::ElementsIn(shape), " elements of ", shape.ToString()));
  }
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  if (shape.rank() == 0) {
    if (scanner->Peek() == '{') {
      TextScanner ahead = *scanner;
      ahead.TryConsume("{");
      if (ahead.TryConsume("...")) return Elided(ahead, shape);
    }
    HILO_RETURN_IF_ERROR(ParseElement(scanner, shape.element_type(), literal.untyped_data().data()));
  } else {
    HILO_RETURN_IF_ERROR(ParseBraces(scanner, &literal));
  }
  return literal;
}

// Recursion is bounded by ShapeUtil::kMaxTupleDepth: `shape` is valid.
absl::StatusOr<Literal> ParseAny(TextScanner* scanner, const Shape& shape) {
  if (shape.IsArray()) return ParseArray(scanner, shape);
  if (!shape.IsTuple()) {
    HILO_RETURN_IF_ERROR(scanner->Expect(PrimitiveTypeName(shape.element_type())));
    return Literal::Create(shape);
  }
  HILO_RETURN_IF_ERROR(scanner->Expect("("));
  std::vector<Literal> elements;
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    if (i > 0) HILO_RETURN_IF_ERROR(scanner->Expect(","));
    HILO_ASSIGN_OR_RETURN(Literal element, ParseAny(scanner, shape.tuple_shapes(i)));
    elements.push_back(std::move(element));
  }
  HILO_RETURN_IF_ERROR(scanner->Expect(")"));
  return Literal::MakeTuple(std::move(elements));
}

absl::StatusOr<Literal> ParseWhole(TextScanner* scanner, const Shape& shape) {
  HILO_ASSIGN_OR_RETURN(Literal literal, ParseAny(scanner, shape));
  if (!scanner->AtEnd()) return scanner->Expected("nothing after the literal");
  return literal;
}

}  // namespace

absl::StatusOr<Literal> ParseLiteral(absl::string_view text, const Shape& shape) {
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  TextScanner scanner(text);
  return ParseWhole(&scanner, shape);
}

absl::StatusOr<Literal> ParseLiteral(absl::string_view text) {
  TextScanner scanner(text);
  HILO_ASSIGN_OR_RETURN(const Shape shape, ConsumeShape(&scanner, /*spaced_layouts=*/false));
  return ParseWhole(&scanner, shape);
}

}  // namespace hilo
