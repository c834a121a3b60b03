// hilo launch: starts the processes of a job on this machine.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "collectives/join_processes.h"
#include "hilo/status_macros.h"
#include "tools/command.h"

namespace hilo::tools {
namespace {

constexpr int64_t kMaxProcesses = 1024;
// After a process has failed: the time for the others to report the consequences, and then to end when
// terminated.
constexpr absl::Duration kLastWords = absl::Seconds(1), kPatience = absl::Seconds(3);
constexpr size_t kLinesKept = 10;

volatile sig_atomic_t stop_signal = 0;

struct Rank {
  pid_t pid = -1;
  bool running = false;
  int ended = -1;                // readable when it has ended; -1: this system has no such thing
  int output[2] = {-1, -1};      // read ends of its standard output and error; -1: closed
  std::string partial[2];        // lines that are not complete
  std::deque<std::string> last;  // lines of its standard error
};

std::string ErrorText() { return std::generic_category().message(errno); }

// In the child. Does not return.
[[noreturn]] void Become(const std::vector<std::string>& program, const std::vector<std::string>& variables, int out,
                         int error) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(out, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  for (int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);  // which `hilo` itself ignores
  for (const std::string& variable : variables) putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> arguments;
  for (const std::string& argument : program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "hilo: cannot run %s: %s\n", arguments[0], ErrorText().c_str());
  std::fflush(stderr);
  _exit(127);
}

absl::Status Start(const std::vector<std::string>& program, const std::vector<std::string>& variables, Rank* rank) {
  int out[2], error[2];
  if (pipe2(out, O_CLOEXEC) != 0) return ResourceExhausted("pipe: ", ErrorText());
  if (pipe2(error, O_CLOEXEC) != 0) return ResourceExhausted("pipe: ", ErrorText());
  rank->pid = fork();
  if (rank->pid < 0) return ResourceExhausted("fork: ", ErrorText());
  if (rank->pid == 0) Become(program, variables, out[1], error[1]);
  setpgid(rank->pid, rank->pid);
  rank->running = true;
  rank->ended = static_cast<int>(syscall(SYS_pidfd_open, rank->pid, 0));
  for (int* ends : {out, error}) close(ends[1]);
  rank->output[0] = out[0];
  rank->output[1] = error[0];
  return absl::OkStatus();
}

class Job {
 public:
  explicit Job(size_t size) : ranks_(size) {}
  ~Job() {
    for (Rank& rank : ranks_) {
      if (rank.running) kill(-rank.pid, SIGKILL);
      if (rank.running) waitpid(rank.pid, nullptr, 0);
    }
  }
  Rank& rank(size_t i) { return ranks_[i]; }

  // Until all have ended. The exit status of the job.
  int Await() {
    while (std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.running; })) {
      Relay(20);
      Reap();
      if (stop_signal != 0 && asked_ == absl::InfiniteFuture()) Ask(stop_signal);
      if (failed_at_ != absl::InfiniteFuture() && asked_ == absl::InfiniteFuture() &&
          absl::Now() >= failed_at_ + kLastWords)
        Ask(SIGTERM);
      if (absl::Now() >= asked_ + kPatience) {
        for (const Rank& rank : ranks_) {
          if (rank.running) kill(-rank.pid, SIGKILL);
        }
      }
    }
    Relay(0);
    if (first_failed_ < 0) return stop_signal == 0 ? 0 : 128 + stop_signal;
    const Rank& first = ranks_[first_failed_];
    std::fflush(stdout);
    for (const std::string& line : first.last) std::fprintf(stderr, "[%d] %s\n", first_failed_, line.c_str());
    if (WIFSIGNALED(first_status_)) {
      std::fprintf(stderr, "hilo: rank %d failed first: ended by signal %d (%s)\n", first_failed_,
                   WTERMSIG(first_status_), strsignal(WTERMSIG(first_status_)));
      return 128 + WTERMSIG(first_status_);
    }
    std::fprintf(stderr, "hilo: rank %d failed first: exit status %d\n", first_failed_, WEXITSTATUS(first_status_));
    return WEXITSTATUS(first_status_);
  }

 private:
  void Ask(int signal) {
    asked_ = absl::Now();
    for (const Rank& rank : ranks_) {
      if (rank.running) kill(-rank.pid, signal);
    }
  }

  // One that was killed, not by us, comes first: the others have ended because of it, and may have
  // been quicker.
  void Reap() {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      int status;
      if (!rank.running || waitpid(rank.pid, &status, WNOHANG) != rank.pid) continue;
      rank.running = false;
      if (rank.ended >= 0) close(std::exchange(rank.ended, -1));
      const bool is_first =
          first_failed_ < 0 || (asked_ == absl::InfiniteFuture() && WIFSIGNALED(status) && !WIFSIGNALED(first_status_));
      if (status == 0 || !is_first) continue;
      first_failed_ = static_cast<int>(i);
      first_status_ = status;
      failed_at_ = absl::Now();
    }
  }

  // Passes on what there is, until nothing comes for the time.
  void Relay(int milliseconds) {
    while (true) {
      std::vector<pollfd> polled;
      for (const Rank& rank : ranks_) {
        for (int stream : {rank.output[0], rank.output[1], rank.ended})
          polled.push_back({.fd = stream, .events = POLLIN, .revents = 0});
      }
      if (poll(polled.data(), polled.size(), milliseconds) <= 0) return;
      bool any = false;
      for (size_t i = 0; i < polled.size(); ++i) {
        if (polled[i].revents == 0 || i % 3 == 2) continue;
        Pass(i / 3, i % 3);
        any = true;
      }
      if (!any) return;  // one has ended
      milliseconds = 0;
    }
  }

  void Pass(size_t i, size_t stream) {
    Rank& rank = ranks_[i];
    char bytes[1 << 14];
    const ssize_t got = read(rank.output[stream], bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR) return;
    std::string& partial = rank.partial[stream];
    if (got <= 0) {
      close(rank.output[stream]);
      rank.output[stream] = -1;
      if (!partial.empty()) Show(i, stream, std::exchange(partial, ""));
      return;
    }
    partial.append(bytes, got);
    size_t begin = 0;
    for (size_t end; (end = partial.find('\n', begin)) != std::string::npos; begin = end + 1)
      Show(i, stream, partial.substr(begin, end - begin));
    partial.erase(0, begin);
  }

  void Show(size_t i, size_t stream, const std::string& line) {
    std::FILE* const to = stream == 0 ? stdout : stderr;
    std::fprintf(to, "[%zu] %s\n", i, line.c_str());
    std::fflush(to);
    if (stream == 0) return;
    ranks_[i].last.push_back(line);
    if (ranks_[i].last.size() > kLinesKept) ranks_[i].last.pop_front();
  }

  std::vector<Rank> ranks_;
  int first_failed_ = -1, first_status_ = 0;
  absl::Time failed_at_ = absl::InfiniteFuture(), asked_ = absl::InfiniteFuture();
};

// The folder for the rendezvous of the processes, for this user alone.
class MeetingFolder {
 public:
  ~MeetingFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  absl::Status Make() {
    const char* base = std::getenv("TMPDIR");
    path_ = absl::StrCat(base == nullptr ? "/tmp" : base, "/hilo_launch_XXXXXX");
    if (mkdtemp(path_.data()) != nullptr) return absl::OkStatus();
    return Unavailable("cannot make a folder ", std::exchange(path_, ""), ": ", ErrorText());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `transport` may be empty: the processes decide.
absl::StatusOr<int> RunJob(const std::vector<std::string>& program, int64_t size, const std::string& transport) {
  MeetingFolder folder;
  HILO_RETURN_IF_ERROR(folder.Make());
  struct sigaction action = {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  Job job(size);
  for (int64_t i = 0; i < size; ++i) {
    std::vector<std::string> variables = {absl::StrCat("HILO_RANK=", i), absl::StrCat("HILO_LOCAL_RANK=", i),
                                          absl::StrCat("HILO_WORLD_SIZE=", size),
                                          absl::StrCat("HILO_COORDINATOR=file://", folder.path())};
    if (!transport.empty()) variables.push_back(absl::StrCat("HILO_TRANSPORT=", transport));
    HILO_RETURN_IF_ERROR(Start(program, variables, &job.rank(i)));
  }
  return job.Await();
}

absl::Status Launch(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const int64_t size, flags.Integer("n", 0, 1));
  if (size == 0) return InvalidArgument("give the number of processes: -n N");
  if (size > kMaxProcesses)
    return InvalidArgument("-n ", size, ": at most ", kMaxProcesses, " processes can be started");
  if (flags.positional().empty()) return InvalidArgument("give the program to run, and its arguments");
  const std::string transport = flags.Get("transport", "");
  HILO_RETURN_IF_ERROR(AddContext(TransportChoiceOf(transport).status(), "; --transport"));
  HILO_ASSIGN_OR_RETURN(const int status, RunJob(flags.positional(), size, transport));
  if (status != 0) std::exit(status);  // that of the program
  return absl::OkStatus();
}

}  // namespace

Command LaunchCommand() {
  return {
      .name = "launch",
      .arguments = "-n N PROGRAM",
      .summary = "start a program as N processes that find each other",
      .details =
          "Each process gets HILO_RANK, HILO_LOCAL_RANK, HILO_WORLD_SIZE and HILO_COORDINATOR, a "
          "folder of this user alone in which they exchange their addresses\n"
          "(docs/distributed.md). What they print is shown behind [RANK]. When one fails, the "
          "others are ended; the last lines of the first that\n"
          "failed come last, and the exit status is its own, or 128 + the signal that ended it.\n"
          "\n"
          "Examples:\n"
          "  hilo launch -n 4 hilo run step.hlo --inputs=in.npz --replicas=4\n",
      .flags =
          {{"n", "N", "how many processes"},
           {"transport", "NAME",
            "what carries data between them: auto (default: shared memory, else TCP), shm or tcp; mpi is for mpirun"}},
      .run = &Launch,
      .program_follows = true};
}

}  // namespace hilo::tools
