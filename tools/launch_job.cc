#include "tools/launch_job.h"

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
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::tools {
namespace {

// After a process has failed: the time for the others to report the consequences, and then to end when
// terminated.
constexpr absl::Duration kLastWords = absl::Seconds(1), kPatience = absl::Seconds(3);
// Of a pipe.
constexpr int kBytesAtOnce = 1 << 14;
constexpr size_t kLinesKept = 10;
// Processes that begin on one host at a time: sshd drops connections at random from ten on that have not logged in, and
// a host may be given by two names.
constexpr int64_t kMaxBeginning = 4;
constexpr int kShellSignal = 128;  // plus the number of a signal: a shell's exit status for what it has ended
constexpr int kSshFailed = 255;

std::string ErrorText() { return std::generic_category().message(errno); }

// As the shell there names the signals for which a job is ended.
absl::string_view SignalName(int signal) {
  if (signal == SIGINT) return "INT\n";
  return signal == SIGHUP ? "HUP\n" : "TERM\n";
}

// "rank 2", or the name of a service.
std::string NameOf(const LaunchJob::Program& program, bool is_service) {
  return absl::StrCat(is_service ? "the " : "rank ", program.name, program.host.empty() ? "" : " on ", program.host);
}

std::string Ending(int status) {
  if (!WIFSIGNALED(status)) return absl::StrCat("exit status ", WEXITSTATUS(status));
  return absl::StrCat("ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
}

// What waitpid would have told of a process on another host.
int StatusOnHost(int status) {
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return code > kShellSignal && code <= kShellSignal + SIGRTMAX ? code - kShellSignal : status;
}

struct Pipe {
  FileDescriptor read_end, write_end;
};

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ResourceExhausted("pipe: ", ErrorText());
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// In the child. Does not return.
[[noreturn]] void Become(const std::vector<std::string>& program, const std::vector<std::string>& variables, int in,
                         int out, int error) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (in >= 0) dup2(in, STDIN_FILENO);
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

}  // namespace

LaunchJob::~LaunchJob() {
  for (Process& process : processes_) {
    if (process.running) kill(-process.pid, SIGKILL);
    if (process.running) waitpid(process.pid, nullptr, 0);
  }
}

absl::Status LaunchJob::Add(Program program, bool is_service) {
  processes_.push_back({.program = std::move(program), .is_service = is_service});
  Process* const process = &processes_.back();
  process->waiting = !MayStart(*process);
  return process->waiting ? absl::OkStatus() : Start(process);
}

bool LaunchJob::MayStart(const Process& process) const {
  return process.program.host.empty() ||
         std::count_if(processes_.begin(), processes_.end(), [&](const Process& other) {
           return other.program.host == process.program.host && other.running && !other.begun;
         }) < kMaxBeginning;
}

void LaunchJob::StartWaiting() {
  for (Process& process : processes_) {
    if (!process.waiting || !MayStart(process)) continue;
    process.waiting = false;
    const absl::Status started = Start(&process);
    if (started.ok()) continue;
    process.last.emplace_back(started.message());
    Failed(&process, W_EXITCODE(1, 0));
  }
}

absl::Status LaunchJob::Start(Process* process) const {
  const Program& program = process->program;
  const bool is_here = program.host.empty();
  HILO_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  HILO_ASSIGN_OR_RETURN(Pipe error, MakePipe());
  Pipe in;
  if (!is_here) {
    HILO_ASSIGN_OR_RETURN(in, MakePipe());
    const int write_end = in.write_end.number();
    fcntl(write_end, F_SETFL, O_NONBLOCK);
    fcntl(write_end, F_SETPIPE_SZ, std::max<int>(1 << 16, static_cast<int>(program.input.size()) + (1 << 13)));
    if (write(write_end, program.input.data(), program.input.size()) != static_cast<ssize_t>(program.input.size()))
      return InvalidArgument("the arguments and variables for ", program.host, " have ", program.input.size(),
                             " bytes, more than a pipe takes");
  }
  process->pid = fork();
  if (process->pid < 0) return ResourceExhausted("fork: ", ErrorText());
  if (process->pid == 0) {
    Become(program.arguments, program.variables, in.read_end.number(), out.write_end.number(),
           error.write_end.number());
  }
  setpgid(process->pid, process->pid);
  process->running = true;
  process->begun = is_here;
  process->is_late = false;
  process->started = absl::Now();
  process->ended = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, process->pid, 0)));
  process->input = std::move(in.write_end);
  process->output[0] = std::move(out.read_end);
  process->output[1] = std::move(error.read_end);
  return absl::OkStatus();
}

int LaunchJob::Await(const volatile int* stop_signal) {
  while (AnyRunning(/*services=*/true)) {
    Relay(20);
    Reap();
    if (asked_ == absl::InfiniteFuture()) {
      EndLate();
      StartWaiting();
      if (*stop_signal != 0) {
        Ask(*stop_signal);
      } else if (absl::Now() >= failed_at_ + kLastWords || !AnyRunning(/*services=*/false)) {
        Ask(SIGTERM);
      }
    }
    if (absl::Now() >= asked_ + kPatience) KillAll(/*connections=*/absl::Now() >= asked_ + 2 * kPatience);
  }
  RelayRest();
  if (first_failed_ == nullptr || (failed_at_ == absl::InfiniteFuture() && any_ended_well_))
    return *stop_signal == 0 ? 0 : 128 + *stop_signal;
  std::fflush(stdout);
  const Program& first = first_failed_->program;
  for (const std::string& line : first_failed_->last)
    std::fprintf(stderr, "[%s] %s\n", first.name.c_str(), line.c_str());
  std::fprintf(stderr, "hilo: %s failed first: %s\n", NameOf(first, first_failed_->is_service).c_str(),
               Outcome(*first_failed_, first_status_).c_str());
  if (WIFSIGNALED(first_status_)) return 128 + WTERMSIG(first_status_);
  return std::max(WEXITSTATUS(first_status_), 1);  // a service that left too early may have said 0
}

bool LaunchJob::AnyRunning(bool services) const {
  return std::any_of(processes_.begin(), processes_.end(), [services](const Process& process) {
    return (process.running || process.waiting) && (services || !process.is_service);
  });
}

void LaunchJob::EndLate() {
  for (Process& process : processes_) {
    if (!process.running || process.begun || process.is_late || absl::Now() < process.started + policy_.patience)
      continue;
    process.is_late = true;
    kill(-process.pid, SIGKILL);
  }
}

void LaunchJob::Ask(int signal) {
  asked_ = absl::Now();
  for (Process& process : processes_) {
    process.waiting = false;
    if (!process.running) continue;
    const absl::string_view name = SignalName(signal);
    if (!process.begun || !process.input.is_open() || write(process.input.number(), name.data(), name.size()) < 0)
      kill(-process.pid, signal);
  }
}

// Those on other hosts die as their connections end, which `connections` ends by force: a host may not answer.
void LaunchJob::KillAll(bool connections) {
  for (Process& process : processes_) {
    if (!process.running) continue;
    if (process.begun && process.input.is_open()) {
      process.input = FileDescriptor();
    } else if (process.program.host.empty() || !process.begun || connections) {
      kill(-process.pid, SIGKILL);
    }
  }
}

void LaunchJob::Reap() {
  for (Process& process : processes_) {
    int status;
    if (!process.running || waitpid(process.pid, &status, WNOHANG) != process.pid) continue;
    process.running = false;
    process.ended = FileDescriptor();
    process.input = FileDescriptor();
    if (!process.program.host.empty()) {
      if (!process.begun) RelayRest();
      if (process.begun) status = StatusOnHost(status);
      if (process.is_late) status = W_EXITCODE(kSshFailed, 0);
    }
    if (process.is_service ? asked_ == absl::InfiniteFuture() && AnyRunning(/*services=*/false)
                           : status != 0 || !process.begun) {
      Failed(&process, status);
    } else if (!process.is_service) {
      any_ended_well_ = true;
    }
  }
}

LaunchJob::Origin LaunchJob::OriginOf(const Process& process, int status) {
  if (WIFSIGNALED(status)) return Origin::kKilled;
  const bool lost_another = std::any_of(process.last.begin(), process.last.end(), [](const std::string& line) {
    return absl::StrContains(line, "UNAVAILABLE: ");
  });
  return lost_another ? Origin::kConsequence : Origin::kOwnError;
}

std::string LaunchJob::Outcome(const Process& process, int status) const {
  if (process.program.host.empty()) return Ending(status);
  const std::string& ssh = process.program.arguments.front();
  if (process.is_late) return absl::StrCat("not started: no answer in ", absl::FormatDuration(policy_.patience));
  if (!process.begun) return absl::StrCat("not started: ", ssh, ": ", Ending(status));
  const bool may_be_lost = WIFEXITED(status) && WEXITSTATUS(status) == kSshFailed;
  return absl::StrCat(Ending(status), may_be_lost ? absl::StrCat(" (also of ", ssh, ", if it loses the host)") : "");
}

void LaunchJob::Failed(Process* process, int status) {
  RelayRest();
  const bool is_asked = asked_ != absl::InfiniteFuture();
  if (!is_asked && !process->is_service && failed_at_ == absl::InfiniteFuture()) {
    if (StartAgain(process, status)) return;
    if (policy_.keep_going) {
      std::fprintf(stderr, "hilo: %s: %s; the others go on\n", NameOf(process->program, false).c_str(),
                   Outcome(*process, status).c_str());
    }
  }
  const Origin origin = OriginOf(*process, status);
  if (first_failed_ == nullptr || (!is_asked && origin < first_origin_)) {
    first_failed_ = process;
    first_status_ = status;
    first_origin_ = origin;
  }
  if (process->is_service || !policy_.keep_going) failed_at_ = std::min(failed_at_, absl::Now());
}

bool LaunchJob::StartAgain(Process* process, int status) {
  if (process->restarts == policy_.restarts) return false;
  ++process->restarts;
  for (size_t stream : {0, 1}) {
    process->output[stream] = FileDescriptor();
    if (!process->partial[stream].empty()) Show(process, stream, std::exchange(process->partial[stream], ""));
  }
  const std::string outcome = Outcome(*process, status);
  const absl::Status started = Start(process);
  std::fprintf(stderr, "hilo: %s: %s; %s\n", NameOf(process->program, false).c_str(), outcome.c_str(),
               started.ok() ? absl::StrCat("started again, ", process->restarts, " of ", policy_.restarts).c_str()
                            : std::string(started.message()).c_str());
  return started.ok();
}

// Passes on what there is, until nothing comes for the time; not for long, as processes may write without a pause.
void LaunchJob::Relay(int milliseconds) {
  constexpr absl::Duration kLongest = absl::Milliseconds(20);  // signals and ends of processes wait for it
  for (absl::Time end = absl::InfiniteFuture(); absl::Now() < end;) {
    std::vector<pollfd> polled;
    for (const Process& process : processes_) {
      for (const FileDescriptor* stream : {&process.output[0], &process.output[1], &process.ended})
        polled.push_back({.fd = stream->number(), .events = POLLIN, .revents = 0});
    }
    if (poll(polled.data(), polled.size(), milliseconds) <= 0) return;
    bool any = false;
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || i % 3 == 2) continue;
      Pass(&processes_[i / 3], i % 3);
      any = true;
    }
    if (!any) return;  // one has ended
    if (end == absl::InfiniteFuture()) end = absl::Now() + kLongest;
    milliseconds = 0;
  }
}

// Passes on what the pipes hold: what those have written that ended, and of the others at most as much.
void LaunchJob::RelayRest() {
  for (Process& process : processes_) {
    for (const size_t stream : {0, 1}) {
      const FileDescriptor& pipe = process.output[stream];
      // One more look finds the end.
      for (int left = fcntl(pipe.number(), F_GETPIPE_SZ); left >= 0 && pipe.is_open(); left -= kBytesAtOnce) {
        pollfd polled = {.fd = pipe.number(), .events = POLLIN, .revents = 0};
        if (poll(&polled, 1, 0) <= 0) break;
        Pass(&process, stream);
      }
    }
  }
}

void LaunchJob::Pass(Process* process, size_t stream) {
  char bytes[kBytesAtOnce];
  const ssize_t got = read(process->output[stream].number(), bytes, sizeof(bytes));
  if (got < 0 && errno == EINTR) return;
  std::string& partial = process->partial[stream];
  if (got <= 0) {
    process->output[stream] = FileDescriptor();
    if (!partial.empty()) Show(process, stream, std::exchange(partial, ""));
    return;
  }
  partial.append(bytes, got);
  size_t begin = 0;
  for (size_t end; (end = partial.find('\n', begin)) != std::string::npos; begin = end + 1)
    Show(process, stream, partial.substr(begin, end - begin));
  partial.erase(0, begin);
  constexpr size_t kLongestLine = 1 << 20;  // longer ones are shown in pieces
  if (partial.size() > kLongestLine) Show(process, stream, std::exchange(partial, ""));
}

void LaunchJob::Show(Process* process, size_t stream, const std::string& line) {
  if (stream == 1 && !process->begun && line == kStartedLine) {
    process->begun = true;
    process->last.clear();  // of the connection
    return;
  }
  std::FILE* const to = stream == 0 ? stdout : stderr;
  std::fprintf(to, "[%s] %s\n", process->program.name.c_str(), line.c_str());
  std::fflush(to);
  if (stream == 0) return;
  process->last.push_back(line);
  if (process->last.size() > kLinesKept) process->last.pop_front();
}

}  // namespace hilo::tools
