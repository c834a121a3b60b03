// hilo launch: starts the processes of a job on this machine.
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "collectives/join_processes.h"
#include "hilo/status_macros.h"
#include "tools/command.h"
#include "tools/launch_job.h"

namespace hilo::tools {
namespace {

constexpr int64_t kMaxProcesses = 1024;
// Of JAX's coordination service: when a process that is not heard of counts as dead. JAX's own default.
constexpr int64_t kHeartbeatSeconds = 100;

volatile sig_atomic_t stop_signal = 0;

std::string ErrorText() { return std::generic_category().message(errno); }

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

// A port of the loopback interface that the system gives to no other program that asks for any free one. The service
// that listens at it must allow its reuse, too, as gRPC's servers do.
class ReservedPort {
 public:
  ~ReservedPort() {
    if (socket_ >= 0) close(socket_);
  }
  absl::Status Reserve() {
    const int yes = 1;
    sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof(address);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0 || setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes)) != 0 ||
        bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      return Unavailable("no port of the loopback interface is free: ", ErrorText());
    address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
    return absl::OkStatus();
  }
  const std::string& address() const { return address_; }

 private:
  int socket_ = -1;
  std::string address_;
};

struct LaunchOptions {
  int64_t size = 0;
  std::string transport;  // empty: the processes decide
  LaunchJob::Policy policy;
  std::string
      coordinator;  // the Python that runs JAX's coordination service; empty: process 0 of the program serves it
  int64_t heartbeat = kHeartbeatSeconds;
};

absl::StatusOr<int> RunJob(const std::vector<std::string>& program, const LaunchOptions& options) {
  MeetingFolder folder;
  HILO_RETURN_IF_ERROR(folder.Make());
  struct sigaction action = {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::vector<std::string> variables = {absl::StrCat("HILO_WORLD_SIZE=", options.size),
                                        absl::StrCat("HILO_COORDINATOR=file://", folder.path())};
  if (!options.transport.empty()) variables.push_back(absl::StrCat("HILO_TRANSPORT=", options.transport));
  LaunchJob job(options.policy);
  ReservedPort port;
  if (!options.coordinator.empty()) {
    HILO_RETURN_IF_ERROR(port.Reserve());
    HILO_RETURN_IF_ERROR(
        job.AddService({.name = "coordinator",
                        .arguments = {options.coordinator, "-m", "jax_plugins.hilo.coordinator", port.address(),
                                      absl::StrCat(options.size), absl::StrCat(options.heartbeat)},
                        .variables = {}}));
    variables.push_back(absl::StrCat("JAX_COORDINATOR_ADDRESS=", port.address()));
    // JAX starts a service in process 0 in any case. Nothing connects to that one.
    variables.push_back("JAX_COORDINATOR_BIND_ADDRESS=127.0.0.1:0");
  }
  for (int64_t i = 0; i < options.size; ++i) {
    std::vector<std::string> own = variables;
    own.push_back(absl::StrCat("HILO_RANK=", i));
    own.push_back(absl::StrCat("HILO_LOCAL_RANK=", i));
    HILO_RETURN_IF_ERROR(job.AddMember({.name = absl::StrCat(i), .arguments = program, .variables = std::move(own)}));
  }
  return job.Await(&stop_signal);
}

absl::Status Launch(const Flags& flags) {
  LaunchOptions options;
  HILO_ASSIGN_OR_RETURN(options.size, flags.Integer("n", 0, 1));
  if (options.size == 0) return InvalidArgument("give the number of processes: -n N");
  if (options.size > kMaxProcesses)
    return InvalidArgument("-n ", options.size, ": at most ", kMaxProcesses, " processes can be started");
  if (flags.positional().empty()) return InvalidArgument("give the program to run, and its arguments");
  options.transport = flags.Get("transport", "");
  HILO_RETURN_IF_ERROR(AddContext(TransportChoiceOf(options.transport).status(), "; --transport"));
  HILO_ASSIGN_OR_RETURN(options.policy.restarts, flags.Integer("restarts", 0, 0));
  options.policy.keep_going = flags.Has("keep-going");
  options.coordinator = flags.Get("coordinator", "");
  if (flags.Has("heartbeat") && options.coordinator.empty())
    return InvalidArgument("--heartbeat is that of the service of --coordinator, which is not given");
  HILO_ASSIGN_OR_RETURN(options.heartbeat, flags.Integer("heartbeat", kHeartbeatSeconds, 1));
  HILO_ASSIGN_OR_RETURN(const int status, RunJob(flags.positional(), options));
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
          "failed come last, and the exit status is its own, or 128 + the signal that ended it. With "
          "--restarts and --keep-going, the job outlives the death of a process.\n"
          "\n"
          "Examples:\n"
          "  hilo launch -n 4 hilo run step.hlo --inputs=in.npz --replicas=4\n"
          "  hilo launch -n 4 --coordinator=python --heartbeat=3 --restarts=5 python train.py\n",
      .flags =
          {{"n", "N", "how many processes"},
           {"transport", "NAME",
            "what carries data between them: auto (default: shared memory, else TCP), shm or tcp; mpi is for mpirun"},
           {"restarts", "N", "start a process that has failed again, each at most N times (default 0)"},
           {"keep-going", "", "do not end the others when a process has failed; status 0 if one ended well"},
           {"coordinator", "PYTHON",
            "host JAX's coordination service apart, in a process of this Python, so that process 0 may fail too"},
           {"heartbeat", "SECONDS", "after which that service counts a silent process as dead (default 100)"}},
      .run = &Launch,
      .program_follows = true};
}

}  // namespace hilo::tools
