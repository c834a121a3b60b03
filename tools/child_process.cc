#include "tools/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "tools/session.h"

extern char** environ;

namespace hilo::tools {

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make() {
  const char* variable = std::getenv("TMPDIR");
  const std::string parent = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
  std::string name = absl::StrCat(parent, "/hilo-XXXXXX");
  if (mkdtemp(name.data()) != nullptr) return TemporaryFolder(std::move(name));
  return Unavailable("cannot make a folder for temporary files in ", parent, ": ", std::string(strerror(errno)),
                     "; the variable TMPDIR names another");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string FindProgram(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return "";
  for (const std::string& name : names) {
    for (absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
      const std::string file = absl::StrCat(folder, "/", name);
      std::error_code ignored;
      if (std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return "";
}

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

}  // namespace hilo::tools
