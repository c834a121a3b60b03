// The processes of `hilo launch`: starts them, here or on other hosts, relays what they print, and decides what a
// failure does to the others.
#ifndef HILO_TOOLS_LAUNCH_JOB_H_
#define HILO_TOOLS_LAUNCH_JOB_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "collectives/processes/sockets.h"

namespace hilo::tools {

// The line of its standard error with which a process on another host says that it begins.
constexpr absl::string_view kStartedLine = "hilo launch: started";

class LaunchJob {
 public:
  struct Policy {
    int64_t restarts = 0;     // how often each process that failed is started again
    bool keep_going = false;  // when a process has failed and is not started again, the others are not ended
    absl::Duration patience = absl::Seconds(30);  // for a process on another host to begin
  };
  struct Program {
    std::string name;  // shown in brackets before each line that it prints
    std::vector<std::string> arguments;
    std::vector<std::string> variables;  // "NAME=VALUE", beside those of this process
    // Of a process on another host, which `arguments` start there: its name, and what is written to the standard input
    // of `arguments`, where names of signals follow later, a line each. Its end kills the process.
    std::string host;
    std::string input;
  };

  explicit LaunchJob(Policy policy) : policy_(policy) {}
  ~LaunchJob();
  LaunchJob(const LaunchJob&) = delete;
  LaunchJob& operator=(const LaunchJob&) = delete;

  // Errors: ResourceExhausted if no process can be made; InvalidArgument if the input of one on another host is too
  // large for a pipe. A program that cannot be run ends with status 127.
  absl::Status AddMember(Program program) { return Add(std::move(program), /*is_service=*/false); }
  // A process that the members need until they have ended: its own end before that fails the job, whatever the policy.
  absl::Status AddService(Program program) { return Add(std::move(program), /*is_service=*/true); }

  // Returns the exit status of the job when all processes have ended: 0 if no member failed for good, or if the others
  // go on and one ended well; else that of the first that failed, or 128 + the signal that ended it. `*stop_signal`
  // becomes the number of a signal with which the processes are to be ended, 0 until then.
  int Await(const volatile int* stop_signal);

 private:
  struct Process {
    Program program;
    bool is_service = false;
    pid_t pid = -1;
    bool waiting = false;  // to be started when others on its host have begun
    bool running = false;
    bool begun = false;    // always, if on this host
    bool is_late = false;  // it was ended because it had not begun in time
    absl::Time started;
    FileDescriptor input;          // write end of its standard input, if on another host
    FileDescriptor ended;          // readable when it has ended; not open: this system has no such thing
    FileDescriptor output[2];      // read ends of its standard output and error
    std::string partial[2];        // lines that are not complete
    std::deque<std::string> last;  // lines of its standard error
    int64_t restarts = 0;          // so far
  };

  // Of two processes that fail within the same second, the one with the smaller origin failed first: a process that
  // loses another one may end sooner than that one.
  enum class Origin {
    kKilled,      // by a signal that is not ours
    kOwnError,    // any other failure
    kConsequence  // its last lines have the error UNAVAILABLE, which Hilo returns when another process has left
  };
  static Origin OriginOf(const Process& process, int status);

  absl::Status Add(Program program, bool is_service);
  absl::Status Start(Process* process) const;
  bool MayStart(const Process& process) const;
  void StartWaiting();
  void EndLate();
  // "exit status 7"; of one that has not begun, why.
  std::string Outcome(const Process& process, int status) const;
  bool AnyRunning(bool services) const;
  void Ask(int signal);
  void KillAll(bool connections);
  void Reap();
  void Failed(Process* process, int status);
  bool StartAgain(Process* process, int status);
  void Relay(int milliseconds);
  void RelayRest();
  void Pass(Process* process, size_t stream);
  void Show(Process* process, size_t stream, const std::string& line);

  const Policy policy_;
  std::deque<Process> processes_;
  const Process* first_failed_ = nullptr;
  int first_status_ = 0;
  Origin first_origin_ = Origin::kConsequence;
  bool any_ended_well_ = false;
  absl::Time failed_at_ = absl::InfiniteFuture();  // when the others are to be ended because one has failed
  absl::Time asked_ = absl::InfiniteFuture();      // when they were asked to end
};

}  // namespace hilo::tools

#endif  // HILO_TOOLS_LAUNCH_JOB_H_
