// What runs on a host is a small program of its POSIX shell. It reads one line, which holds the folder, the variables
// and the program; says that it has started; and runs the program. Meanwhile each further line is the name of a signal
// for all that runs there, and the end of the input, as of a connection that is lost, kills it. sshd makes a session
// for each command, so that the process group is that of this program alone.
#include "tools/launch_hosts.h"

#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "collectives/processes/sockets.h"
#include "hilo/status_macros.h"

namespace hilo::tools {
namespace {

// Within single quotes, as the shell of the user, which may not be POSIX's, passes it on. The program runs in the
// foreground, as shells start others with some signals ignored. Its last lines end what it has left behind.
constexpr absl::string_view kShellProgram =
    "IFS= read -r line || exit; n=$(printf \"\\n.\"); n=${n%.}; eval \"$line\" || exit; "
    "exec 3<&0; trap : HUP INT QUIT TERM; "
    "{ trap \"\" HUP INT QUIT TERM; while read -r name; do kill -s \"$name\" 0; done; kill -s KILL 0; } "
    "<&3 >/dev/null 2>&1 & "
    "echo \"$started\" >&2; env \"$@\" </dev/null 3<&-; status=$?; "
    "trap \"\" TERM; kill -s TERM 0; exit $status";

// A word of one line for the shell.
std::string ShellWord(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}, {"\n", "'\"$n\"'"}}), "'");
}

absl::StatusOr<LaunchHost> ParseHost(absl::string_view text) {
  LaunchHost host{.name = std::string(text)};
  const size_t bracket = text.rfind(']'), colon = text.rfind(':');
  // More than one colon, without brackets: an IPv6 address alone.
  if (colon != absl::string_view::npos && (text.find(':') == colon || bracket + 1 == colon)) {
    host.name = std::string(text.substr(0, colon));
    if (!absl::SimpleAtoi(text.substr(colon + 1), &host.processes) || host.processes < 1)
      return InvalidArgument("expected HOST or HOST:PROCESSES, got '", text, "'");
  }
  host.name = absl::StrReplaceAll(host.name, {{"[", ""}, {"]", ""}});
  const bool has_space = host.name.find_first_of(" \t\r\n") != std::string::npos;
  if (host.name.empty() || has_space || absl::StartsWith(host.name, "-"))
    return InvalidArgument("expected HOST or HOST:PROCESSES, got '", text, "'");
  return host;
}

// Without the user.
std::string HostOf(const LaunchHost& host) { return host.name.substr(host.name.rfind('@') + 1); }

}  // namespace

absl::StatusOr<std::vector<LaunchHost>> ParseHosts(absl::string_view list) {
  std::vector<LaunchHost> hosts;
  for (absl::string_view item : absl::StrSplit(list, ',')) {
    HILO_ASSIGN_OR_RETURN(LaunchHost host, ParseHost(absl::StripAsciiWhitespace(item)));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

absl::StatusOr<std::vector<LaunchHost>> ReadHostFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read the host file ", path));
  std::vector<LaunchHost> hosts;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    const absl::string_view text = absl::StripAsciiWhitespace(absl::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    const size_t slots = text.find_first_of(" \t");
    std::string item(text.substr(0, slots));
    absl::string_view rest = absl::StripAsciiWhitespace(text.substr(item.size()));
    if (absl::ConsumePrefix(&rest, "slots=")) absl::StrAppend(&item, ":", rest);
    auto host = ParseHost(slots == absl::string_view::npos || item.size() > slots ? item : text);
    if (!host.ok()) return AddContext(host.status(), absl::StrCat("; in ", path, ", line ", number));
    hosts.push_back(*std::move(host));
  }
  if (hosts.empty()) return InvalidArgument("the host file ", path, " names no host");
  return hosts;
}

absl::StatusOr<std::string> CoordinatorHost(absl::Span<const LaunchHost> hosts) {
  const absl::StatusOr<std::string> first = AddressOf(HostOf(hosts[0]));
  if (!first.ok()) return HostOf(hosts[0]);
  if (!IsLoopback(*first)) return *first;
  // This machine is the first host, and calls itself by a loopback address.
  for (const LaunchHost& other : hosts) {
    const absl::StatusOr<std::string> address = AddressOf(HostOf(other));
    if (address.ok() && !IsLoopback(*address)) return AddressTowards({.host = *address, .port = 22});
  }
  return *first;
}

LaunchJob::Program OnHost(LaunchJob::Program program, const std::string& host, const std::string& folder,
                          const std::vector<std::string>& ssh) {
  std::string line = absl::StrCat("started=", ShellWord(kStartedLine), " && cd -- ", ShellWord(folder));
  for (const std::string& variable : program.variables) {
    const size_t equals = variable.find('=');
    absl::StrAppend(&line, " && export ", variable.substr(0, equals + 1), ShellWord(variable.substr(equals + 1)));
  }
  absl::StrAppend(&line, " && set --");
  for (const std::string& argument : program.arguments) absl::StrAppend(&line, " ", ShellWord(argument));
  program.host = host;
  program.input = absl::StrCat(line, "\n");
  program.arguments = ssh;
  program.arguments.push_back(host);
  program.arguments.push_back(absl::StrCat("exec sh -c '", kShellProgram, "'"));
  program.variables.clear();
  return program;
}

}  // namespace hilo::tools
