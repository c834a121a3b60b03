#include "tests/fuzz/program_file.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo::fuzz {
namespace {

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

}  // namespace

std::string ProgramText(const RandomProgram& program, const Configuration& configuration, absl::string_view failure,
                        absl::string_view origin) {
  std::string text = absl::StrCat("// ", origin, "\n// configuration: ", configuration.name(),
                                  "\n// failure: ", OneLine(failure), "\n");
  for (const Literal& argument : program.arguments)
    absl::StrAppend(&text, "// argument: ", OneLine(argument.ToString(/*with_shape=*/!argument.shape().IsTuple())),
                    "\n");
  return absl::StrCat(
      text, PrintHloModule(*program.module, {.layouts = program.module->entry_computation_layout().has_value()}));
}

absl::StatusOr<ProgramFile> ReadProgram(const std::string& path) {
  HILO_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ProgramFile file;
  HILO_ASSIGN_OR_RETURN(file.program.module, ParseHloModule(text, {.file_name = path}));
  const auto parameters = file.program.module->entry_computation()->parameter_instructions();
  std::vector<Literal>& arguments = file.program.arguments;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "// configuration: ")) file.configuration = Configuration::FromName(line);
    if (!absl::ConsumePrefix(&line, "// argument: ")) continue;
    if (parameters.empty()) return InvalidArgument(path, ": expected no arguments");
    const Shape& shape = parameters[arguments.size() % parameters.size()]->shape();
    auto literal = shape.IsTuple() ? ParseLiteral(line, shape) : ParseLiteral(line);
    if (!literal.ok()) return literal.status();
    arguments.push_back(*std::move(literal));
  }
  const size_t expected = parameters.size() * static_cast<size_t>(file.program.module->replica_count());
  if (arguments.size() != expected)
    return InvalidArgument(path, ": expected ", expected, " arguments, got ", arguments.size());
  return file;
}

}  // namespace hilo::fuzz
