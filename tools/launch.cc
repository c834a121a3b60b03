// hilo launch: starts the processes of a job, on this machine or on several hosts.
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "collectives/processes/join_processes.h"
#include "collectives/processes/sockets.h"
#include "hilo/status_macros.h"
#include "tools/command.h"
#include "tools/launch_hosts.h"
#include "tools/launch_job.h"

namespace hilo::tools {
namespace {

constexpr int64_t kMaxLaunched = 1024;  // of all hosts; a group may have more processes (process_group.cc)
// The time without a heartbeat after which JAX's coordination service declares a process dead: JAX's own default.
constexpr int64_t kHeartbeatSeconds = 100;
// Never asks for a password, and ends half a minute after the connection to the host is lost.
constexpr char kSsh[] = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10";

volatile sig_atomic_t stop_signal = 0;

std::string SystemErrorText() { return std::generic_category().message(errno); }

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
    return Unavailable("cannot make a folder ", std::exchange(path_, ""), ": ", SystemErrorText());
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
      return Unavailable("no port of the loopback interface is free: ", SystemErrorText());
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
  std::vector<std::string> variables;  // of the user: NAME=VALUE
  std::string
      coordinator;  // the Python that runs JAX's coordination service; empty: process 0 of the program serves it
  int64_t heartbeat = kHeartbeatSeconds;
  std::vector<LaunchHost> hosts;  // empty: this machine alone
  std::vector<std::string> ssh;
  std::string folder;   // on the hosts
  Endpoint rendezvous;  // on the first host; JAX's is at the next port
};

// The program as a process of host `host`, or of this machine.
LaunchJob::Program Placed(LaunchJob::Program program, const LaunchOptions& options, const LaunchHost* host) {
  return host == nullptr ? std::move(program) : OnHost(std::move(program), host->name, options.folder, options.ssh);
}

absl::StatusOr<int> RunJob(const std::vector<std::string>& program, const LaunchOptions& options) {
  MeetingFolder folder;
  ReservedPort port;
  std::vector<std::string> variables = {absl::StrCat("HILO_WORLD_SIZE=", options.size)};
  std::string jax_address;  // where JAX's coordination service listens; empty: the program decides
  const bool is_here = options.hosts.empty();
  if (is_here) {
    HILO_RETURN_IF_ERROR(folder.Make());
    variables.push_back(absl::StrCat("HILO_COORDINATOR=file://", folder.path()));
    if (!options.coordinator.empty()) {
      HILO_RETURN_IF_ERROR(port.Reserve());
      jax_address = port.address();
    }
  } else {
    const char* const token = std::getenv("HILO_JOB_TOKEN");
    variables.push_back(absl::StrCat("HILO_COORDINATOR=", options.rendezvous.ToString()));
    variables.push_back(absl::StrCat("HILO_JOB_TOKEN=", token == nullptr ? RandomToken() : token));
    jax_address = Endpoint{options.rendezvous.host, options.rendezvous.port + 1}.ToString();
  }
  if (!options.transport.empty()) variables.push_back(absl::StrCat("HILO_TRANSPORT=", options.transport));
  if (!jax_address.empty()) variables.push_back(absl::StrCat("JAX_COORDINATOR_ADDRESS=", jax_address));
  // JAX starts a service in process 0 in any case. Nothing connects to that one.
  if (!options.coordinator.empty()) variables.push_back("JAX_COORDINATOR_BIND_ADDRESS=127.0.0.1:0");
  variables.insert(variables.end(), options.variables.begin(), options.variables.end());
  struct sigaction action = {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  LaunchJob job(options.policy);
  if (!options.coordinator.empty()) {
    LaunchJob::Program service = {.name = "coordinator",
                                  .arguments = {options.coordinator, "-m", "jax_plugins.hilo.coordinator", jax_address,
                                                absl::StrCat(options.size), absl::StrCat(options.heartbeat)},
                                  .variables = options.variables};
    HILO_RETURN_IF_ERROR(job.AddService(Placed(std::move(service), options, is_here ? nullptr : options.hosts.data())));
  }
  std::map<std::string, int64_t> local_ranks;  // by host
  int64_t left = 0;                            // processes of the host
  const LaunchHost* host = nullptr;
  for (int64_t i = 0; i < options.size; ++i) {
    if (!is_here && left == 0) {
      host = host == nullptr ? options.hosts.data() : host + 1;
      left = host->processes;
    }
    --left;
    std::vector<std::string> own = variables;
    own.push_back(absl::StrCat("HILO_RANK=", i));
    own.push_back(absl::StrCat("HILO_LOCAL_RANK=", local_ranks[host == nullptr ? "" : host->name]++));
    LaunchJob::Program member = {.name = absl::StrCat(i), .arguments = program, .variables = std::move(own)};
    HILO_RETURN_IF_ERROR(job.AddMember(Placed(std::move(member), options, host)));
  }
  return job.Await(&stop_signal);
}

// "NAME=VALUE" as it is; "NAME" with the value that it has here.
absl::StatusOr<std::vector<std::string>> VariablesOf(const std::vector<std::string>& given) {
  std::vector<std::string> variables;
  for (const std::string& one : given) {
    const std::string name = one.substr(0, one.find('='));
    const bool is_name =
        !name.empty() && !absl::ascii_isdigit(name[0]) &&
        std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
    if (!is_name) return InvalidArgument("--env: expected NAME or NAME=VALUE, got '", one, "'");
    if (name.size() < one.size()) {
      variables.push_back(one);
    } else if (const char* value = std::getenv(name.c_str()); value != nullptr) {
      variables.push_back(absl::StrCat(name, "=", value));
    } else {
      return InvalidArgument("--env=", name, ": there is no such variable here");
    }
  }
  return variables;
}

absl::StatusOr<Endpoint> RendezvousOf(const std::string& given, absl::Span<const LaunchHost> hosts) {
  if (auto endpoint = ParseEndpoint(given); endpoint.ok()) {
    if (endpoint->port < 65535) return endpoint;
    return InvalidArgument("--address=", given, ": the next port is JAX's, and there is none");
  }
  // As for other launchers, below the ports that systems assign.
  std::random_device random;
  Endpoint endpoint = {.host = given, .port = 20000 + 2 * static_cast<int>(random() % 5000)};
  if (given.empty()) {
    HILO_ASSIGN_OR_RETURN(endpoint.host, CoordinatorHost(hosts));
  }
  return endpoint;
}

// What --hosts needs.
absl::Status ReadHosts(const Flags& flags, LaunchOptions* options) {
  const bool has_hosts = flags.Has("hosts") || flags.Has("hostfile");
  for (const char* flag : {"ssh", "folder", "address", "start-deadline"}) {
    if (flags.Has(flag) && !has_hosts) return InvalidArgument("--", flag, " is for --hosts, which is not given");
  }
  if (!has_hosts) return absl::OkStatus();
  if (flags.Has("hosts") && flags.Has("hostfile")) return InvalidArgument("give --hosts or --hostfile, not both");
  HILO_ASSIGN_OR_RETURN(options->hosts,
                        flags.Has("hosts") ? ParseHosts(flags.Get("hosts")) : ReadHostFile(flags.Get("hostfile")));
  int64_t size = 0;
  for (const LaunchHost& host : options->hosts) size += std::min(host.processes, kMaxLaunched + 1);
  if (options->size != 0 && options->size != size)
    return InvalidArgument("-n ", options->size, ", but the hosts are to have ", size,
                           " processes: leave out -n, or give --hosts=HOST:PROCESSES,...");
  options->size = size;
  const char* const ssh = std::getenv("HILO_SSH");
  options->ssh = absl::StrSplit(flags.Get("ssh", ssh == nullptr ? kSsh : ssh), ' ', absl::SkipEmpty());
  if (options->ssh.empty()) return InvalidArgument("--ssh: expected a command, got nothing");
  std::error_code error;
  options->folder = flags.Get("folder", std::filesystem::current_path(error).string());
  HILO_ASSIGN_OR_RETURN(options->rendezvous, RendezvousOf(flags.Get("address"), options->hosts));
  HILO_ASSIGN_OR_RETURN(const double patience,
                        flags.Seconds("start-deadline", absl::ToDoubleSeconds(options->policy.patience)));
  options->policy.patience = absl::Seconds(patience);
  return absl::OkStatus();
}

absl::Status Launch(const Flags& flags) {
  LaunchOptions options;
  HILO_ASSIGN_OR_RETURN(options.size, flags.Integer("n", 0, 1));
  HILO_RETURN_IF_ERROR(ReadHosts(flags, &options));
  HILO_ASSIGN_OR_RETURN(options.variables, VariablesOf(flags.All("env")));
  if (options.size == 0) return InvalidArgument("give the number of processes: -n N, or --hosts=HOST:PROCESSES,...");
  if (options.size > kMaxLaunched)
    return InvalidArgument("-n ", options.size, ": at most ", kMaxLaunched, " processes can be started");
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
          "With --hosts, ssh starts them on other machines, where the program must be installed and ssh must log in "
          "without a password. They run in the folder\n"
          "of the same name, with the variables above, HILO_JOB_TOKEN, JAX_COORDINATOR_ADDRESS and those of --env; "
          "process 0 serves the addresses.\n"
          "\n"
          "Examples:\n"
          "  hilo launch -n 4 hilo run step.hlo --inputs=in.npz --replicas=4\n"
          "  hilo launch -n 4 --coordinator=python --heartbeat=3 --restarts=5 python train.py\n"
          "  hilo launch --hosts=node1:2,node2:2 --env=PATH hilo run step.hlo --inputs=in.npz --replicas=4\n",
      .flags =
          {{"n", "N", "how many processes"},
           {"hosts", "LIST", "the hosts on which they run, in order: HOST, USER@HOST, HOST:PROCESSES, with commas"},
           {"hostfile", "FILE", "the same, one a line; also as \"HOST slots=N\""},
           {"env", "NAME[=VALUE]", "a variable for the processes; with --hosts they get no others (repeatable)"},
           {"folder", "FOLDER", "in which they run on the hosts (default: as this one is called)"},
           {"address", "HOST[:PORT]",
            "at which the others reach process 0 (default: the first host, a random port); JAX takes the next port"},
           {"ssh", "COMMAND", "what is run with HOST and a command of the shell (default: HILO_SSH, else ssh)"},
           {"start-deadline", "S", "seconds after which a process that ssh has not started fails the job (default 30)"},
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
