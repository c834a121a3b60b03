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

Command RunCommand();
Command BenchCommand();
Command CompileCommand();
Command OptCommand();
Command LaunchCommand();
Command DevicesCommand();
Command OpsCommand();
Command VerifyCommand();

}  // namespace hilo::tools

#endif  // HILO_TOOLS_COMMAND_H_
