// The subcommands of `hilo`: one file each, and one row each in main.cc.
#ifndef HILO_TOOLS_COMMAND_H_
#define HILO_TOOLS_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/flags.h"

namespace hilo::tools {

struct Command {
  std::string name;
  std::string arguments;  // "MODULE"
  std::string summary;    // one line
  std::string details;    // paragraphs and examples
  std::vector<FlagSpec> flags;
  absl::Status (*run)(const Flags& flags);
  bool program_follows = false;  // the arguments end with another program and its own
};

// All of them, in the order of the overview.
std::vector<Command> AllCommands();
// With --help.
std::vector<FlagSpec> AllFlags(const Command& command);
// "--platform=NAME", "-o FILE".
std::string FlagText(const FlagSpec& flag);

std::string OverviewText();
std::string HelpText(const Command& command);

Command RunCommand();
Command BenchCommand();
Command ProfileCommand();
Command CompileCommand();
Command OptCommand();
Command VerifyCommand();
Command GraphCommand();
Command MinimizeCommand();
Command BisectCommand();
Command DiffCommand();
Command LaunchCommand();
Command DevicesCommand();
Command DoctorCommand();
Command OpsCommand();
Command CompletionCommand();
Command ManCommand();

}  // namespace hilo::tools

#endif  // HILO_TOOLS_COMMAND_H_
