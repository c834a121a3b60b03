#include "tools/failure_check.h"

#include <sys/wait.h>

#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "hlo/text/hlo_printer.h"
#include "tools/child_process.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

constexpr char kPasses[] = "passes", kShows[] = "shows the failure", kRefused[] = "exit code 2: INVALID_ARGUMENT";

// {"INTERNAL", "..."} of "hilo: INTERNAL: ..."; empty if there is no such line.
std::pair<std::string, std::string> ErrorIn(const std::string& output) {
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(": ", 2));
    if (words.size() == 3 && words[0] == "hilo" && words[1] != "warning") return {words[1], words[2]};
  }
  return {};
}

absl::string_view LastLine(absl::string_view text) {
  text = absl::StripTrailingAsciiWhitespace(text);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::vector<FlagSpec> FailureFlags() {
  return {{"fails-on", "PLATFORM",
           "the failure is that hilo verify --platform=interpreter,PLATFORM crashes, does not end, or reports what it "
           "reports of MODULE; default: cpu"},
          {"check", "COMMAND",
           "the failure is that this command of the shell succeeds (exit code 0); {} in it stands for the file"},
          {"seconds-a-try", "S", "end a try that takes longer (default 60)"}};
}

absl::StatusOr<std::string> FailureCheck::OutcomeOf(const HloModule& module,
                                                    const std::vector<std::string>& disabled_passes,
                                                    std::string* message) const {
  HILO_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string file = absl::StrCat(folder.path(), "/module.hlo"), output = absl::StrCat(folder.path(), "/output");
  HILO_RETURN_IF_ERROR(WriteFile(file, PrintHloModule(module)));
  std::vector<std::string> arguments;
  if (!command_.empty()) {
    const bool has_place = command_.find("{}") != std::string::npos;
    arguments = {"/bin/sh", "-c",
                 has_place ? absl::StrReplaceAll(command_, {{"{}", file}}) : absl::StrCat(command_, " ", file)};
  } else {
    arguments = {std::filesystem::read_symlink("/proc/self/exe").string(), "verify", file,
                 absl::StrCat("--platform=interpreter,", platform_)};
    if (!disabled_passes.empty())
      arguments.push_back(absl::StrCat("--disable-passes=", absl::StrJoin(disabled_passes, ",")));
  }
  HILO_ASSIGN_OR_RETURN(const Ended ended, RunProgram(arguments, output, seconds_));
  if (!ended.in_time) return absl::StrCat("no end within ", seconds_, " seconds");
  const bool succeeds = WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0;
  if (succeeds) return command_.empty() ? kPasses : kShows;
  const std::string end = WIFSIGNALED(ended.status) ? absl::StrCat("signal ", WTERMSIG(ended.status))
                                                    : absl::StrCat("exit code ", WEXITSTATUS(ended.status));
  HILO_ASSIGN_OR_RETURN(const std::string text, ReadFile(output));
  if (!command_.empty()) {
    if (message != nullptr) *message = absl::StrCat(end, text.empty() ? "" : ": ", LastLine(text));
    return kPasses;
  }
  const auto [code, error] = ErrorIn(text);
  if (message != nullptr) *message = error;
  return absl::StrCat(end, code.empty() ? "" : ": ", code);
}

absl::StatusOr<FailureCheck> FailureCheck::Create(const Flags& flags, const HloModule& module) {
  if (flags.Has("check") && flags.Has("fails-on")) return InvalidArgument("give --check or --fails-on, not both");
  FailureCheck check;
  check.command_ = flags.Get("check");
  check.platform_ = flags.Get("fails-on", "cpu");
  if (check.command_.empty()) HILO_RETURN_IF_ERROR(CreateClient(check.platform_, flags).status());
  HILO_ASSIGN_OR_RETURN(check.seconds_, flags.Seconds("seconds-a-try", 60));
  std::string message;
  HILO_ASSIGN_OR_RETURN(check.failure_, check.OutcomeOf(module, {}, &message));
  if (check.failure_ == kRefused)
    return InvalidArgument("hilo verify refuses the module, which is no failure of ", check.platform_, ": ", message,
                           "; if it should not, give --check");
  if (check.failure_ != kPasses) return check;
  return InvalidArgument(
      check.command_.empty()
          ? absl::StrCat("the module does not fail on ", check.platform_, ": its results are those of the interpreter")
          : absl::StrCat("the command fails on the module itself, where it must succeed: ", message));
}

absl::StatusOr<bool> FailureCheck::Fails(const HloModule& module) const {
  HILO_ASSIGN_OR_RETURN(const std::string outcome, OutcomeOf(module, {}));
  return outcome == failure_;
}

absl::StatusOr<FailureCheck::Outcome> FailureCheck::Without(const std::vector<std::string>& passes,
                                                            const HloModule& module) const {
  HILO_ASSIGN_OR_RETURN(const std::string outcome, OutcomeOf(module, passes));
  if (outcome == failure_) return Outcome::kSame;
  return outcome == kRefused ? Outcome::kRefused : Outcome::kOther;
}

}  // namespace hilo::tools
