#include "tests/fuzz/child_process.h"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hilo::fuzz {

void LimitTime(int seconds) {
  const itimerval once = {.it_value = {.tv_sec = seconds}};
  setitimer(ITIMER_PROF, &once, nullptr);
  alarm(10 * seconds);
}

bool IsTimeout(absl::string_view line) {
  return absl::StrContains(line, strsignal(SIGPROF)) || absl::StrContains(line, strsignal(SIGALRM));
}

std::string InChild(int seconds, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "CRASH no pipe";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    LimitTime(seconds);
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
