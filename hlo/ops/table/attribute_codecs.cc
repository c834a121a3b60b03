// Text of attribute values, both ways.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/attribute_reader.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// One element of a list.
absl::Status ReadItem(AttributeReader* reader, int64_t* value) { return NumberFromWord(reader->TakeWord(), value); }
absl::Status ReadItem(AttributeReader* reader, bool* value) { return BoolFromWord(reader->TakeWord(), value); }
absl::Status ReadItem(AttributeReader* reader, Precision* value) { return FieldFromText(reader->TakeWord(), value); }
absl::Status ReadItem(AttributeReader* reader, SliceRange* range) {
  *range = SliceRange();
  if (!reader->Take('[')) return reader->Expected("[start:limit] or [start:limit:stride]");
  HILO_RETURN_IF_ERROR(ReadItem(reader, &range->start));
  if (!reader->Take(':')) return reader->Expected(":");
  HILO_RETURN_IF_ERROR(ReadItem(reader, &range->limit));
  if (reader->Take(':')) {
    HILO_RETURN_IF_ERROR(ReadItem(reader, &range->stride));
  }
  return reader->Take(']') ? absl::OkStatus() : reader->Expected("]");
}

// "{a,b}"; the whole of the text.
template <typename T>
absl::Status ListFromText(absl::string_view text, std::vector<T>* values) {
  values->clear();
  AttributeReader reader(text);
  if (!reader.Take('{')) return reader.Expected("{");
  if (!reader.Take('}')) {
    do {
      T value;
      HILO_RETURN_IF_ERROR(ReadItem(&reader, &value));
      values->push_back(value);
    } while (reader.Take(','));
    if (!reader.Take('}')) return reader.Expected("} or a comma");
  }
  return ReadEnd(reader);
}

// "{a,b}" of what `print(&out, value)` appends.
template <typename T, typename Print>
std::string ListToText(const std::vector<T>& values, Print print) {
  return absl::StrCat("{", absl::StrJoin(values, ",", print), "}");
}

size_t CountParts(absl::string_view word) { return 1 + std::count(word.begin(), word.end(), 'x'); }
// Cuts "3x3" or "1_0x0_2" at each x into `count` parts and calls read(index, part).
template <typename F>
absl::Status ForEachPart(absl::string_view word, size_t count, absl::string_view name, F read) {
  if (CountParts(word) != count) {
    return absl::InvalidArgumentError(absl::StrCat(name, " = ", word, " must have ", count, " parts joined by x"));
  }
  for (size_t i = 0; i < count; ++i) {
    const size_t end = std::min(word.find('x'), word.size());
    HILO_RETURN_IF_ERROR(read(i, word.substr(0, end)));
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return absl::OkStatus();
}

// "low_high": both may be negative.
absl::Status PadFromText(absl::string_view part, int64_t* low, int64_t* high) {
  const size_t cut = part.find('_');
  if (cut == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("expected low_high, got \"", part, "\""));
  }
  HILO_RETURN_IF_ERROR(NumberFromWord(part.substr(0, cut), low));
  return NumberFromWord(part.substr(cut + 1), high);
}

}  // namespace

std::string FieldToText(int64_t value) { return absl::StrCat(value); }
std::string FieldToText(bool value) { return value ? "true" : "false"; }
std::string FieldToText(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}
std::string FieldToText(const std::string& value) { return absl::StrCat("\"", absl::CEscape(value), "\""); }
std::string FieldToText(const Verbatim& value) { return value; }
std::string FieldToText(const Word& value) { return value; }
std::string FieldToText(const std::vector<int64_t>& value) { return absl::StrCat("{", absl::StrJoin(value, ","), "}"); }
std::string FieldToText(const std::vector<bool>& value) {
  return ListToText(value, [](std::string* out, bool item) { out->append(item ? "true" : "false"); });
}
std::string FieldToText(const std::optional<int64_t>& value) { return value.has_value() ? absl::StrCat(*value) : ""; }

absl::Status FieldFromText(absl::string_view text, int64_t* value) {
  AttributeReader reader(text);
  HILO_RETURN_IF_ERROR(ReadItem(&reader, value));
  return ReadEnd(reader);
}
absl::Status FieldFromText(absl::string_view text, bool* value) {
  AttributeReader reader(text);
  HILO_RETURN_IF_ERROR(ReadItem(&reader, value));
  return ReadEnd(reader);
}
absl::Status FieldFromText(absl::string_view text, double* value) {
  AttributeReader reader(text);
  const absl::string_view word = reader.TakeWord();
  if (!absl::SimpleAtod(word, value)) {
    return absl::InvalidArgumentError(absl::StrCat("expected a number, got \"", word, "\""));
  }
  if (std::isinf(*value) && word.find_first_of("iI") == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("\"", word, "\" is out of the range of 64-bit floats"));
  }
  return ReadEnd(reader);
}
absl::Status FieldFromText(absl::string_view text, std::string* value) {
  const absl::string_view quoted = absl::StripAsciiWhitespace(text);
  std::string error;
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') {
    return absl::InvalidArgumentError(absl::StrCat("expected a string in quotes, got ", text));
  }
  if (!absl::CUnescape(quoted.substr(1, quoted.size() - 2), value, &error)) {
    return absl::InvalidArgumentError(absl::StrCat("bad string ", text, ": ", error));
  }
  return absl::OkStatus();
}
absl::Status FieldFromText(absl::string_view text, Verbatim* value) {
  value->assign(text.data(), text.size());
  return absl::OkStatus();
}
absl::Status FieldFromText(absl::string_view text, Word* value) {
  AttributeReader reader(text);
  *value = std::string(reader.TakeWord());
  if (value->empty()) return reader.Expected("a word");
  return ReadEnd(reader);
}
absl::Status FieldFromText(absl::string_view text, std::vector<int64_t>* value) { return ListFromText(text, value); }
absl::Status FieldFromText(absl::string_view text, std::vector<bool>* value) { return ListFromText(text, value); }
absl::Status FieldFromText(absl::string_view text, std::optional<int64_t>* value) {
  return FieldFromText(text, &value->emplace());
}

absl::StatusOr<int> EnumFromText(absl::string_view text, const absl::string_view* names, size_t count) {
  AttributeReader reader(text);
  const absl::string_view word = reader.TakeWord();
  for (size_t i = 0; i < count && reader.AtEnd(); ++i) {
    if (names[i] == word) return static_cast<int>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected one of ", absl::StrJoin(names, names + count, ", "), ", got \"", text, "\""));
}

std::string FieldToText(const std::vector<Precision>& value) {
  return ListToText(value, [](std::string* out, Precision item) { out->append(FieldToText(item)); });
}
absl::Status FieldFromText(absl::string_view text, std::vector<Precision>* value) {
  return ListFromText(absl::AsciiStrToLower(text), value);  // XLA reads HIGH as high
}

std::string FieldToText(const PaddingConfig& value) {
  return absl::StrJoin(value.dimensions, "x", [](std::string* out, const PaddingConfig::Dimension& dimension) {
    absl::StrAppend(out, dimension.edge_padding_low, "_", dimension.edge_padding_high);
    if (dimension.interior_padding != 0) absl::StrAppend(out, "_", dimension.interior_padding);
  });
}
absl::Status FieldFromText(absl::string_view text, PaddingConfig* value) {
  value->dimensions.clear();
  AttributeReader reader(text);
  if (reader.AtEnd()) return absl::OkStatus();
  const absl::string_view word = reader.TakeWord();
  HILO_RETURN_IF_ERROR(ReadEnd(reader));
  value->dimensions.resize(CountParts(word));
  return ForEachPart(word, value->dimensions.size(), "padding", [&](size_t i, absl::string_view part) -> absl::Status {
    PaddingConfig::Dimension& dimension = value->dimensions[i];
    const size_t second = part.find('_', std::min(part.find('_'), part.size() - 1) + 1);
    if (part.empty() || second == absl::string_view::npos) {
      return PadFromText(part, &dimension.edge_padding_low, &dimension.edge_padding_high);
    }
    auto status = PadFromText(part.substr(0, second), &dimension.edge_padding_low, &dimension.edge_padding_high);
    if (!status.ok()) return status;
    return NumberFromWord(part.substr(second + 1), &dimension.interior_padding);
  });
}

std::string FieldToText(const std::vector<SliceRange>& value) {
  return absl::StrCat("{",
                      absl::StrJoin(value, ", ",
                                    [](std::string* out, const SliceRange& range) {
                                      absl::StrAppend(out, "[", range.start, ":", range.limit);
                                      if (range.stride != 1) absl::StrAppend(out, ":", range.stride);
                                      out->push_back(']');
                                    }),
                      "}");
}
absl::Status FieldFromText(absl::string_view text, std::vector<SliceRange>* value) { return ListFromText(text, value); }

namespace {

// The parts of a window's text, each a list over the dimensions.
struct WindowPart {
  absl::string_view name;
  std::string (*print)(const Window::Dimension&);
  absl::Status (*read)(absl::string_view, Window::Dimension*);
  bool always_printed = false;
};

template <int64_t Window::Dimension::* kMember>
constexpr WindowPart NumberPart(absl::string_view name, bool always_printed = false) {
  return {name, [](const Window::Dimension& d) { return absl::StrCat(d.*kMember); },
          [](absl::string_view text, Window::Dimension* d) { return NumberFromWord(text, &(d->*kMember)); },
          always_printed};
}

absl::Status ReversalFromText(absl::string_view text, Window::Dimension* dimension) {
  if (text != "0" && text != "1") {
    return absl::InvalidArgumentError(absl::StrCat("expected 0 or 1 in rhs_reversal, got \"", text, "\""));
  }
  dimension->window_reversal = text == "1";
  return absl::OkStatus();
}

constexpr WindowPart kWindowParts[] = {
    NumberPart<&Window::Dimension::size>("size", true),
    NumberPart<&Window::Dimension::stride>("stride"),
    {"pad", [](const Window::Dimension& d) { return absl::StrCat(d.padding_low, "_", d.padding_high); },
     [](absl::string_view text, Window::Dimension* d) { return PadFromText(text, &d->padding_low, &d->padding_high); }},
    NumberPart<&Window::Dimension::base_dilation>("lhs_dilate"),
    NumberPart<&Window::Dimension::window_dilation>("rhs_dilate"),
    {"rhs_reversal", [](const Window::Dimension& d) { return std::string(d.window_reversal ? "1" : "0"); },
     ReversalFromText},
};

}  // namespace

std::string FieldToText(const Window& value) {
  std::vector<std::string> parts;
  for (const WindowPart& part : kWindowParts) {
    bool print = part.always_printed && !value.dimensions.empty();
    for (const auto& dimension : value.dimensions) print = print || part.print(dimension) != part.print({});
    if (!print) continue;
    parts.push_back(absl::StrCat(
        part.name, "=",
        absl::StrJoin(value.dimensions, "x", [&](std::string* out, const auto& d) { out->append(part.print(d)); })));
  }
  return absl::StrCat("{", absl::StrJoin(parts, " "), "}");
}

absl::Status FieldFromText(absl::string_view text, Window* value) {
  value->dimensions.clear();
  AttributeReader reader(text);
  if (!reader.Take('{')) return reader.Expected("{");
  uint32_t seen = 0;
  while (!reader.Take('}')) {
    const absl::string_view name = reader.TakeWord();
    size_t index = 0;
    while (index < std::size(kWindowParts) && kWindowParts[index].name != name) ++index;
    if (index == std::size(kWindowParts)) {
      return reader.Expected("size, stride, pad, lhs_dilate, rhs_dilate, rhs_reversal or }");
    }
    if ((seen >> index & 1) != 0) return absl::InvalidArgumentError(absl::StrCat("window repeats ", name));
    seen |= 1u << index;
    if (!reader.Take('=')) return reader.Expected("=");
    const absl::string_view list = reader.TakeWord();
    if (value->dimensions.empty()) value->dimensions.resize(CountParts(list));
    auto read = [&](size_t i, absl::string_view part) { return kWindowParts[index].read(part, &value->dimensions[i]); };
    HILO_RETURN_IF_ERROR(ForEachPart(list, value->dimensions.size(), name, read));
  }
  if (seen != 0 && (seen & 1) == 0) return absl::InvalidArgumentError("window has no size");
  return ReadEnd(reader);
}

}  // namespace hilo
