#include "tools/command.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hilo::tools {
namespace {

constexpr size_t kHelpWidth = 100;  // that help is laid out for
constexpr size_t kHelpColumn = 26;  // where what a flag does begins

// Appends the words of `text` to `out`, whose last line is `column` long, in lines of at most kHelpWidth. The next
// lines begin at `indent`.
void AppendFilled(absl::string_view text, size_t column, size_t indent, std::string* out) {
  bool first = true;
  for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (!first && column + 1 + word.size() > kHelpWidth) {
      absl::StrAppend(out, "\n", std::string(indent, ' '));
      column = indent;
    } else if (!first) {
      out->push_back(' ');
      ++column;
    }
    absl::StrAppend(out, word);
    column += word.size();
    first = false;
  }
  out->push_back('\n');
}

}  // namespace

std::vector<Command> AllCommands() {
  return {RunCommand(),    BenchCommand(), ProfileCommand(),    CompileCommand(), OptCommand(),    VerifyCommand(),
          GraphCommand(),  DiffCommand(),  MinimizeCommand(),   BisectCommand(),  LaunchCommand(), DevicesCommand(),
          DoctorCommand(), OpsCommand(),   CompletionCommand(), ManCommand()};
}

std::vector<FlagSpec> AllFlags(const Command& command) {
  std::vector<FlagSpec> flags = command.flags;
  flags.push_back({"help", "", "show this"});
  return flags;
}

std::string FlagText(const FlagSpec& flag) {
  const bool is_short = flag.name.size() == 1;
  return absl::StrCat(is_short ? "-" : "--", flag.name, flag.value.empty() ? "" : is_short ? " " : "=", flag.value);
}

std::string OverviewText() {
  std::string text = "Usage: hilo COMMAND ...\n\n";
  for (const Command& command : AllCommands()) {
    const std::string call = absl::StrCat(command.name, " ", command.arguments);
    absl::StrAppendFormat(&text, "  %-22s %s\n", call, command.summary);
  }
  absl::StrAppend(&text,
                  "\n`hilo COMMAND --help` tells more; `hilo --version` tells the version and the "
                  "platforms.\n");
  return text;
}

std::string HelpText(const Command& command) {
  std::string text =
      absl::StrCat("Usage: hilo ", command.name, command.arguments.empty() ? "" : " ", command.arguments, " [FLAGS]: ");
  AppendFilled(command.summary, text.size(), 2, &text);
  text.push_back('\n');
  for (const FlagSpec& flag : AllFlags(command)) {
    const std::string head = absl::StrCat("  ", FlagText(flag));
    const size_t column = std::max(kHelpColumn, head.size() + 1);
    absl::StrAppend(&text, head, std::string(column - head.size(), ' '));
    AppendFilled(flag.help, column, kHelpColumn, &text);
  }
  // Paragraphs are filled; the examples stay as they are.
  for (absl::string_view paragraph : absl::StrSplit(absl::StripSuffix(command.details, "\n"), "\n\n")) {
    text.push_back('\n');
    if (absl::StartsWith(paragraph, "Examples:")) {
      absl::StrAppend(&text, paragraph, "\n");
    } else {
      AppendFilled(paragraph, 0, 0, &text);
    }
  }
  return text;
}

}  // namespace hilo::tools
