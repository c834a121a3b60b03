// The processes of `hilo launch`: starts them, relays what they print, and decides what a failure does to the others.
#ifndef HILO_TOOLS_LAUNCH_JOB_H_
#define HILO_TOOLS_LAUNCH_JOB_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hilo::tools {

class LaunchJob {
 public:
  struct Policy {
    int64_t restarts = 0;     // how often each process that failed is started again
    bool keep_going = false;  // when a process has failed and is not started again, the others are not ended
  };
  struct Program {
    std::string name;  // shown in brackets before each line that it prints
    std::vector<std::string> arguments;
    std::vector<std::string> variables;  // "NAME=VALUE", beside those of this process
  };

  explicit LaunchJob(Policy policy) : policy_(policy) {}
  ~LaunchJob();
  LaunchJob(const LaunchJob&) = delete;
  LaunchJob& operator=(const LaunchJob&) = delete;

  // Errors: ResourceExhausted if no process can be made. A program that cannot be run ends with status 127.
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
    bool running = false;
    int ended = -1;                // readable when it has ended; -1: this system has no such thing
    int output[2] = {-1, -1};      // read ends of its standard output and error; -1: closed
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
  static absl::Status Start(Process* process);
  bool AnyRunning(bool services) const;
  void Ask(int signal);
  void KillAll();
  void Reap();
  void Failed(Process* process, int status);
  bool StartAgain(Process* process, int status);
  void Relay(int milliseconds);
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
