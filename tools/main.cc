// The program `hilo`. Exit codes: 0 success, 1 the run failed, 2 invalid arguments or input, 141 (128 + SIGPIPE) if the
// reader of standard output ended before the output did.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "base/errors.h"
#include "base/file.h"
#include "base/log_sink.h"
#include "hilo/export.h"
#include "hilo/status_macros.h"
#include "hilo/version.h"
#include "tools/command.h"

namespace hilo::tools {
namespace {

int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented: return 2;
    default: return 1;
  }
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "hilo: %s: %s\n", absl::StatusCodeToString(status.code()).c_str(),
               std::string(status.message()).c_str());
  return ExitCode(status);
}

// What cannot be written is reported before the work whose result it is to take.
absl::Status CheckOutputs(absl::Span<const FlagSpec> specs, const Flags& flags) {
  for (const FlagSpec& spec : specs) {
    if (!spec.is_output || !flags.Has(spec.name)) continue;
    const std::string value = flags.Get(spec.name), path = spec.value[0] == '@' ? value.substr(value[0] == '@') : value;
    HILO_RETURN_IF_ERROR(CheckWritable(path));
  }
  return absl::OkStatus();
}

int Main(std::vector<std::string> arguments) {
  if (arguments.size() == 2 && arguments[0] == "help") arguments = {arguments[1], "--help"};
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    std::fputs(OverviewText().c_str(), arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "--version" || arguments[0] == "version") {
    std::printf("hilo %s; platforms: %s\n", std::string(Version()).c_str(),
                absl::StrJoin(PlatformNames(), ", ").c_str());
    return 0;
  }
  const std::string name = arguments[0];
  arguments.erase(arguments.begin());
  std::vector<std::string> names;
  for (const Command& command : AllCommands()) {
    names.push_back(command.name);
    if (command.name != name) continue;
    const auto end =
        command.program_follows ? arguments.begin() + std::min<size_t>(1, arguments.size()) : arguments.end();
    if (std::count(arguments.begin(), end, "--help") + std::count(arguments.begin(), end, "-h") > 0) {
      std::fputs(HelpText(command).c_str(), stdout);
      return 0;
    }
    const absl::StatusOr<Flags> flags = Flags::Parse(command.flags, arguments, command.program_follows);
    if (!flags.ok()) return Fail(flags.status());
    if (command.arguments.empty() && !flags->positional().empty()) {
      return Fail(InvalidArgument("hilo ", name, " takes flags only, got '", flags->positional()[0], "'"));
    }
    absl::Status status = CheckOutputs(command.flags, *flags);
    if (status.ok()) status = command.run(*flags);
    return status.ok() ? 0 : Fail(status);
  }
  const std::string nearest = DidYouMean(name, names);
  return Fail(
      InvalidArgument("there is no command '", name, "'", nearest.empty() ? "; hilo --help lists them" : nearest));
}

// Whether standard output is a pipe or socket that no process reads any more, as after `hilo ... | head`.
bool ReaderOfOutputIsGone() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace
}  // namespace hilo::tools

#ifdef HILO_PROGRAM_IN_PLUGIN  // of a wheel (python/launcher.c)
extern "C" HILO_EXPORT int HiloMain(int argc, char** argv) {
#else
int main(int argc, char** argv) {
#endif
  hilo::SetLogSink([](hilo::LogSeverity severity, absl::string_view message) {
    if (severity == hilo::LogSeverity::kWarning)
      std::fprintf(stderr, "hilo: warning: %.*s\n", static_cast<int>(message.size()), message.data());
  });
  // What cannot be written is an error with words, not a signal that ends the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const int code = hilo::tools::Main(std::vector<std::string>(argv + 1, argv + argc));
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (code != 0 || written) return code;
  if (hilo::tools::ReaderOfOutputIsGone()) return 128 + SIGPIPE;
  return hilo::tools::Fail(hilo::Unavailable("cannot write to standard output"));
}
