#include "tests/file_tests/test_file.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/shape.h"
#include "hilo/status_macros.h"

namespace hilo::testing {
namespace {

// Parts of `text` between separators that stand in no brackets.
std::vector<absl::string_view> SplitTopLevel(absl::string_view text, char separator = ',') {
  std::vector<absl::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::StrContains("({[", text[i])) ++depth;
    if (absl::StrContains(")}]", text[i])) --depth;
    if (text[i] == separator && depth == 0) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  const absl::string_view last = absl::StripAsciiWhitespace(text.substr(start));
  if (!last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

// The position behind the bracket that closes the one at the start of `text`; npos if none does.
size_t Closing(absl::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::StrContains("({[", text[i])) ++depth;
    if (absl::StrContains(")}]", text[i]) && --depth == 0) return i + 1;
  }
  return absl::string_view::npos;
}

absl::StatusOr<std::vector<Literal>> ParseList(absl::string_view inside) {
  std::vector<Literal> literals;
  for (absl::string_view part : SplitTopLevel(inside)) {
    HILO_ASSIGN_OR_RETURN(Literal literal, ParseArgument(part));
    literals.push_back(std::move(literal));
  }
  return literals;
}

// Takes "ulps=3" and the like off the end of `text`.
absl::StatusOr<ErrorSpec> TakeOptions(absl::string_view* text) {
  ErrorSpec spec;
  while (true) {
    *text = absl::StripAsciiWhitespace(*text);
    const size_t space = text->rfind(' ');
    const absl::string_view word = space == absl::string_view::npos ? *text : text->substr(space + 1);
    double value;
    const size_t equals = word.find('=');
    if (equals == absl::string_view::npos || !absl::SimpleAtod(word.substr(equals + 1), &value)) return spec;
    const absl::string_view name = word.substr(0, equals);
    if (name == "ulps") {
      spec.ulps = static_cast<int64_t>(value);
    } else if (name == "rel") {
      spec.relative = value;
    } else if (name == "abs") {
      spec.absolute = value;
    } else {
      return InvalidArgument("expected ulps=, rel= or abs=, got '", word, "'");
    }
    text->remove_suffix(word.size());
  }
}

absl::StatusOr<RunLine> ParseRun(absl::string_view text, int line) {
  RunLine run{.line = line};
  const size_t equals = text.find(") ==");
  if (equals == absl::string_view::npos) return InvalidArgument("expected '(arguments) == result'");
  for (absl::string_view part : SplitTopLevel(text.substr(0, equals + 1), '|')) {
    part = absl::StripAsciiWhitespace(part);
    if (!absl::StartsWith(part, "(") || Closing(part) != part.size())
      return InvalidArgument("expected '(arguments)', got '", part.substr(0, 60), "'");
    HILO_ASSIGN_OR_RETURN(run.arguments.emplace_back(), ParseList(part.substr(1, part.size() - 2)));
  }
  text = absl::StripAsciiWhitespace(text.substr(equals + 4));
  if (absl::ConsumePrefix(&text, "error:")) {
    run.error = std::string(absl::StripAsciiWhitespace(text));
    return run;
  }
  HILO_ASSIGN_OR_RETURN(run.spec, TakeOptions(&text));
  for (absl::string_view part : SplitTopLevel(text, '|')) {
    HILO_ASSIGN_OR_RETURN(run.expected.emplace_back(), ParseArgument(part));
  }
  return run;
}

}  // namespace

absl::StatusOr<Literal> ParseArgument(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (absl::StartsWith(text, "(")) {
    const size_t end = Closing(text);
    if (end != text.size()) return InvalidArgument("unbalanced brackets in '", text.substr(0, 60), "'");
    HILO_ASSIGN_OR_RETURN(std::vector<Literal> elements, ParseList(text.substr(1, end - 2)));
    return Literal::MakeTuple(std::move(elements));
  }
  const size_t bracket = text.find(']');
  if (bracket == absl::string_view::npos)
    return InvalidArgument("expected a shape and elements, got '", text.substr(0, 60), "'");
  HILO_ASSIGN_OR_RETURN(Shape shape, ParseShape(text.substr(0, bracket + 1)));
  if (!shape.IsArray()) return Literal::Create(shape);
  return ParseLiteral(absl::StripAsciiWhitespace(text.substr(bracket + 1)), shape);
}

absl::StatusOr<std::vector<TestModule>> ParseTestFile(const std::string& path, absl::string_view text) {
  std::vector<TestModule> modules(1);
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::StartsWith(line, "// ----")) {
      modules.emplace_back();
      modules.back().line = number + 1;
      continue;
    }
    TestModule& module = modules.back();
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "// run:")) {
      auto run = ParseRun(rest, number);
      if (!run.ok()) return InvalidArgument(path, ":", number, ": ", run.status().message());
      module.runs.push_back(*std::move(run));
    } else if (absl::ConsumePrefix(&rest, "// error:")) {
      module.error = std::string(absl::StripAsciiWhitespace(rest));
    }
    if (absl::ConsumePrefix(&rest, "HloModule ")) {
      module.name = std::string(rest.substr(0, rest.find_first_of(", \t")));
    }
    absl::StrAppend(&module.text, line, "\n");
  }
  return modules;
}

}  // namespace hilo::testing
