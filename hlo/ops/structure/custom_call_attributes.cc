// The text of custom-call's own attribute types.
#include "hlo/ops/structure/custom_call_attributes.h"

#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/attribute_reader.h"

namespace hilo {
namespace {

std::string IndexText(const ShapeIndex& index) { return absl::StrCat("{", absl::StrJoin(index, ","), "}"); }

// Whether `text` is one bracketed whole, as a reader of attribute values sees it: brackets in pairs, strings closed, no
// comments.
bool IsBracketed(absl::string_view text) {
  if (text.empty() || text[0] != '{') return false;
  std::string open;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '{':
      case '(':
      case '[': open.push_back(text[i]); break;
      case '}':
      case ')':
      case ']': {
        const char opening = text[i] == '}' ? '{' : text[i] == ')' ? '(' : '[';
        if (open.empty() || open.back() != opening) return false;
        open.pop_back();
        if (open.empty()) return i + 1 == text.size();
        break;
      }
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
        if (i >= text.size()) return false;
        break;
      case '/':
        if (i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) return false;
        break;
      default: break;
    }
  }
  return false;
}

absl::Status ReadIndex(AttributeReader* reader, ShapeIndex* index) {
  if (!reader->Take('{')) return reader->Expected("a shape index such as {} or {0}");
  if (reader->Take('}')) return absl::OkStatus();
  do {
    HILO_RETURN_IF_ERROR(NumberFromWord(reader->TakeWord(), &index->emplace_back()));
  } while (reader->Take(','));
  return reader->Take('}') ? absl::OkStatus() : reader->Expected("} or a comma");
}

bool TakeFrom(absl::string_view* text, absl::string_view token) {
  while (!text->empty() && absl::ascii_isspace(text->front())) text->remove_prefix(1);
  if (text->substr(0, token.size()) != token) return false;
  text->remove_prefix(token.size());
  return true;
}

// A shape, its layout made explicit. Comments before it are passed.
absl::StatusOr<Shape> TakeShape(absl::string_view* text) {
  while (TakeFrom(text, "/*"))
    text->remove_prefix(std::min(text->size(), text->find("*/") == text->npos ? text->npos : text->find("*/") + 2));
  HILO_ASSIGN_OR_RETURN(Shape shape, ConsumeShape(text));
  ShapeUtil::AddMissingLayouts(&shape);
  return shape;
}

// Shapes between `open` and `close`.
absl::Status TakeShapes(absl::string_view* text, absl::string_view open, absl::string_view close,
                        std::vector<Shape>* shapes) {
  if (!TakeFrom(text, open))
    return absl::InvalidArgumentError(absl::StrCat("expected ", open, " before \"", *text, "\""));
  if (TakeFrom(text, close)) return absl::OkStatus();
  do {
    HILO_ASSIGN_OR_RETURN(shapes->emplace_back(), TakeShape(text));
  } while (TakeFrom(text, ","));
  if (TakeFrom(text, close)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected ", close, " or a comma before \"", *text, "\""));
}

absl::Status AtEnd(absl::string_view text) {
  if (TakeFrom(&text, "") && text.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected the end of the value before \"", text, "\""));
}

std::string ShapesText(const std::vector<Shape>& shapes) {
  return absl::StrJoin(shapes, ", ", [](std::string* out, const Shape& shape) { out->append(shape.ToString(true)); });
}

}  // namespace

std::string FieldToText(const OperandLayouts& value) {
  return value.shapes.has_value() ? absl::StrCat("{", ShapesText(*value.shapes), "}") : "{}";
}
absl::Status FieldFromText(absl::string_view text, OperandLayouts* value) {
  HILO_RETURN_IF_ERROR(TakeShapes(&text, "{", "}", &value->shapes.emplace()));
  return AtEnd(text);
}

std::string FieldToText(const std::vector<OutputOperandAlias>& value) {
  const auto print = [](std::string* out, const OutputOperandAlias& alias) {
    absl::StrAppend(out, IndexText(alias.output_index), ": (", alias.operand, ", ", IndexText(alias.operand_index),
                    ")");
  };
  return absl::StrCat("{", absl::StrJoin(value, ", ", print), "}");
}
absl::Status FieldFromText(absl::string_view text, std::vector<OutputOperandAlias>* value) {
  AttributeReader reader(text);
  if (!reader.Take('{')) return reader.Expected("{");
  if (!reader.Take('}')) {
    do {
      OutputOperandAlias& alias = value->emplace_back();
      HILO_RETURN_IF_ERROR(ReadIndex(&reader, &alias.output_index));
      if (!reader.Take(':')) return reader.Expected(":");
      if (!reader.Take('(')) return reader.Expected("(operand, index)");
      HILO_RETURN_IF_ERROR(NumberFromWord(reader.TakeWord(), &alias.operand));
      if (!reader.Take(',')) return reader.Expected("a comma and the index in the operand");
      HILO_RETURN_IF_ERROR(ReadIndex(&reader, &alias.operand_index));
      if (!reader.Take(')')) return reader.Expected(")");
    } while (reader.Take(','));
    if (!reader.Take('}')) return reader.Expected("} or a comma");
  }
  return ReadEnd(reader);
}

std::string FieldToText(const BackendConfig& value) {
  return IsBracketed(value.text) ? value.text : FieldToText(value.text);
}
absl::Status FieldFromText(absl::string_view text, BackendConfig* value) {
  if (!text.empty() && text[0] == '"') return FieldFromText(text, &value->text);
  value->text = std::string(text);
  return absl::OkStatus();
}

std::string FieldToText(const CallSignature& value) {
  return absl::StrCat("{(", ShapesText(value.operands), ")->", value.result.ToString(true), "}");
}
absl::Status FieldFromText(absl::string_view text, CallSignature* value) {
  value->present = true;
  if (!TakeFrom(&text, "{")) return absl::InvalidArgumentError("expected {(operands)->result}");
  HILO_RETURN_IF_ERROR(TakeShapes(&text, "(", ")", &value->operands));
  if (!TakeFrom(&text, "->")) return absl::InvalidArgumentError(absl::StrCat("expected -> before \"", text, "\""));
  HILO_ASSIGN_OR_RETURN(value->result, TakeShape(&text));
  if (!TakeFrom(&text, "}")) return absl::InvalidArgumentError(absl::StrCat("expected } before \"", text, "\""));
  return AtEnd(text);
}

}  // namespace hilo
