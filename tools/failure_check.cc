#include "tools/failure_check.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "hlo/text/hlo_printer.h"
#include "tools/session.h"

extern char** environ;

namespace hilo::tools {
namespace {

constexpr char kPasses[] = "passes", kShows[] = "shows the failure", kWrongFlags[] = "exit code 2: INVALID_ARGUMENT";

// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hilo-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Ended {
  bool in_time = true;
  int status = 0;  // of waitpid
};

// Runs a program in a process group of its own, which is killed after the time.
absl::StatusOr<Ended> RunProgram(const std::vector<std::string>& arguments, const std::string& output, double seconds) {
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0].c_str(), &actions, &attributes, list.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return Unavailable("cannot run ", arguments[0], ": ", std::string(strerror(error)));
  const int64_t start = NowNanoseconds();
  Ended ended;
  while (waitpid(child, &ended.status, WNOHANG) == 0) {
    if (ended.in_time && MillisecondsSince(start) > seconds * 1e3) {
      kill(-child, SIGKILL);
      ended.in_time = false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return ended;
}

// "INTERNAL", of "hilo: INTERNAL: ..."; empty if there is no such line.
std::string ErrorCodeIn(const std::string& output) {
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(": ", 2));
    if (words.size() == 3 && words[0] == "hilo" && words[1] != "warning") return absl::StrCat(": ", words[1]);
  }
  return "";
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
                                                    const std::vector<std::string>& disabled_passes) const {
  const TemporaryFolder folder;
  if (folder.path().empty()) return Unavailable("cannot make a temporary folder");
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
  if (!command_.empty()) return WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0 ? kShows : kPasses;
  if (WIFSIGNALED(ended.status)) return absl::StrCat("signal ", WTERMSIG(ended.status));
  if (WEXITSTATUS(ended.status) == 0) return kPasses;
  HILO_ASSIGN_OR_RETURN(const std::string text, ReadFile(output));
  return absl::StrCat("exit code ", WEXITSTATUS(ended.status), ErrorCodeIn(text));
}

absl::StatusOr<FailureCheck> FailureCheck::Create(const Flags& flags, const HloModule& module) {
  if (flags.Has("check") && flags.Has("fails-on")) return InvalidArgument("give --check or --fails-on, not both");
  FailureCheck check;
  check.command_ = flags.Get("check");
  check.platform_ = flags.Get("fails-on", "cpu");
  HILO_ASSIGN_OR_RETURN(check.seconds_, flags.Seconds("seconds-a-try", 60));
  HILO_ASSIGN_OR_RETURN(check.failure_, check.OutcomeOf(module, {}));
  if (check.failure_ != kPasses) return check;
  return InvalidArgument(
      check.command_.empty()
          ? absl::StrCat("the module does not fail on ", check.platform_, ": its results are those of the interpreter")
          : "the command fails on the module itself: it must succeed where the failure shows");
}

absl::StatusOr<bool> FailureCheck::Fails(const HloModule& module) const {
  HILO_ASSIGN_OR_RETURN(const std::string outcome, OutcomeOf(module, {}));
  return outcome == failure_;
}

absl::StatusOr<FailureCheck::Outcome> FailureCheck::Without(const std::vector<std::string>& passes,
                                                            const HloModule& module) const {
  HILO_ASSIGN_OR_RETURN(const std::string outcome, OutcomeOf(module, passes));
  if (outcome == failure_) return Outcome::kSame;
  return outcome == kWrongFlags ? Outcome::kRefused : Outcome::kOther;
}

}  // namespace hilo::tools
