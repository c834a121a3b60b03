#include "tools/literal_input.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::tools {
namespace {

void SkipSpace(absl::string_view* text) { *text = absl::StripLeadingAsciiWhitespace(*text); }

// The text of one value: to the end of its braces, or to what cannot be part of a number.
absl::string_view ConsumeValue(absl::string_view* text) {
  SkipSpace(text);
  int64_t depth = 0;
  size_t end = 0;
  for (; end < text->size(); ++end) {
    const char c = (*text)[end];
    if (c == '{' || c == '(') {
      ++depth;
    } else if (c == '}' || c == ')') {
      if (depth == 0) break;
      if (--depth == 0) {
        ++end;
        break;
      }
    } else if (depth == 0 && (c == ',' || absl::ascii_isspace(static_cast<unsigned char>(c)))) {
      break;
    }
  }
  const absl::string_view value = text->substr(0, end);
  text->remove_prefix(end);
  return value;
}

absl::StatusOr<Literal> ConsumeNested(absl::string_view* text, int depth) {
  SkipSpace(text);
  if (depth > ShapeUtil::kMaxTupleDepth) return InvalidArgument("tuples are nested more than ", depth, " deep");
  if (!absl::ConsumePrefix(text, "(")) {
    const size_t bracket = text->find(']');
    if (bracket == absl::string_view::npos) {
      return InvalidArgument("expected a literal such as f32[2]{1, 2} or (s32[]5, pred[]1), got '", text->substr(0, 40),
                             "'");
    }
    HILO_ASSIGN_OR_RETURN(Shape shape, ParseShape(text->substr(0, bracket + 1)));
    ShapeUtil::SetToDefaultLayout(&shape);
    text->remove_prefix(bracket + 1);
    if (!shape.IsArray()) return Literal::Create(shape);
    const absl::string_view start = *text;
    const absl::string_view first = ConsumeValue(text);
    if (shape.is_static() || !absl::StartsWith(first, "(")) return ParseLiteral(first, shape);
    ConsumeValue(text);  // after the sizes
    return ParseLiteral(start.substr(0, start.size() - text->size()), shape);
  }
  std::vector<Literal> elements;
  for (SkipSpace(text); !absl::ConsumePrefix(text, ")"); SkipSpace(text)) {
    if (!elements.empty() && !absl::ConsumePrefix(text, ",")) {
      return InvalidArgument("expected ',' or ')' in a tuple, got '", text->substr(0, 40), "'");
    }
    HILO_ASSIGN_OR_RETURN(Literal element, ConsumeNested(text, depth + 1));
    elements.push_back(std::move(element));
  }
  return Literal::MakeTuple(std::move(elements));
}

}  // namespace

absl::StatusOr<Literal> ConsumeLiteral(absl::string_view* text) { return ConsumeNested(text, 0); }

absl::StatusOr<Literal> ParseLiteralOf(absl::string_view text, const Shape& shape) {
  text = absl::StripAsciiWhitespace(text);
  // A shape in front is a letter and later a bracket: "f32[2]{1, 2}". Elements alone may be "nan"
  // or "inf".
  const bool has_shape = shape.IsTuple() || absl::StrContains(text, "[");
  if (!has_shape) return ParseLiteral(text, shape);
  HILO_ASSIGN_OR_RETURN(Literal literal, ConsumeLiteral(&text));
  if (!absl::StripAsciiWhitespace(text).empty())
    return InvalidArgument("unexpected text after a literal: '", text, "'");
  if (shape.is_static() && !ShapeUtil::Compatible(literal.shape(), shape)) {
    return InvalidArgument("expected ", shape.ToString(), ", got ", literal.shape().ToString());
  }
  return literal;
}

absl::StatusOr<Literal> RandomLiteral(const Shape& shape, uint64_t seed) {
  std::mt19937_64 generator(seed);
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      HILO_ASSIGN_OR_RETURN(Literal literal, RandomLiteral(element, generator()));
      elements.push_back(std::move(literal));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::Create(shape);
  const bool integers = !IsFloatingPointType(shape.element_type()) && !IsComplexType(shape.element_type());
  HILO_ASSIGN_OR_RETURN(Literal numbers, Literal::Create(ShapeUtil::ChangeElementType(shape, F64)));
  const double values = shape.element_type() == PRED ? 2 : 10;
  for (double& value : numbers.data<double>()) {
    value = static_cast<double>(generator() >> 11) * 0x1p-53;  // [0, 1)
    value = integers ? static_cast<double>(static_cast<int>(value * values)) : 2 * value - 1;
  }
  return numbers.Convert(shape.element_type());
}

}  // namespace hilo::tools
