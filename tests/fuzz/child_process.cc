#include "tests/fuzz/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hilo::fuzz {

std::string InChild(int seconds, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "CRASH no pipe";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(seconds);
    const std::string text = work();
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
      if (n <= 0) break;
      done += n;
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) absl::StrAppend(&text, "CRASH ", strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) absl::StrAppend(&text, "CRASH exit code ", WEXITSTATUS(status));
  return text;
}

}  // namespace hilo::fuzz
