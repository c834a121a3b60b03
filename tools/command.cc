#include "tools/command.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hilo::tools {

std::vector<Command> AllCommands() {
  return {RunCommand(),    BenchCommand(), ProfileCommand(),    CompileCommand(), OptCommand(),    VerifyCommand(),
          GraphCommand(),  DiffCommand(),  MinimiseCommand(),   BisectCommand(),  LaunchCommand(), DevicesCommand(),
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
    absl::StrAppend(&text, "  ", command.name, " ", command.arguments,
                    std::string(22 - command.name.size() - command.arguments.size(), ' '), command.summary, "\n");
  }
  absl::StrAppend(&text,
                  "\n`hilo COMMAND --help` tells more; `hilo --version` tells the version and the "
                  "platforms.\n");
  return text;
}

std::string HelpText(const Command& command) {
  std::string text =
      absl::StrCat("Usage: hilo ", command.name, " ", command.arguments, " [FLAGS]: ", command.summary, "\n\n");
  for (const FlagSpec& flag : AllFlags(command)) {
    const std::string head = FlagText(flag);
    absl::StrAppend(&text, "  ", head, std::string(std::max<size_t>(24, head.size() + 1) - head.size(), ' '), flag.help,
                    "\n");
  }
  absl::StrAppend(&text, "\n", command.details);
  return text;
}

}  // namespace hilo::tools
