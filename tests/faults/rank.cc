#include "tests/faults/rank.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "collectives/processes/process_group.h"
#include "hilo/status_macros.h"
#include "tests/faults/checked_call.h"

namespace hilo {
namespace {

// Calls after a rank was slow.
constexpr int64_t kCallsAfterwards = 20;
// Rounds of all collectives of those that go on.
constexpr int64_t kRoundsOfRest = 3;
// A rank that was slow has so much more to do at the end under MPI, whose mpirun must not end it.
constexpr absl::Duration kLeavesLater = absl::Seconds(7);

std::string TransportOf(const Case& one, int rank) {
  if (absl::StartsWith(one.transport, kMpi)) return "mpi";
  if (one.transport != "mixed") return one.transport;
  return rank == one.ranks - 1 ? "tcp" : "auto";
}

absl::Status GoOnWithoutVictim(const Case& one, int rank, const std::shared_ptr<KeyValueStore>& store) {
  HILO_ASSIGN_OR_RETURN(
      const std::shared_ptr<ProcessGroup> group,
      ProcessGroup::Join({.process_id = rank - (rank > one.victim),
                          .process_count = one.ranks - 1,
                          .store = store,
                          .name = "rest",
                          .timeout = absl::StartsWith(one.transport, kMpi) ? one.most() * 0.4 : one.most(),
                          .transport = TransportOf(one, rank)}));
  std::vector<int> devices(one.ranks - 1);
  std::iota(devices.begin(), devices.end(), 0);
  const std::vector<int64_t> ranks(devices.begin(), devices.end());
  HILO_ASSIGN_OR_RETURN(ProcessGroup::Run run, group->StartRun(devices, ranks));
  int64_t send = rank;
  std::vector<int64_t> receive(ranks.size());
  const CollectiveBuffer buffer = {&send, receive.data(), 8};
  for (int64_t round = 0; round < kRoundsOfRest; ++round) {
    for (const char* op : kOps)
      HILO_RETURN_IF_ERROR(CheckedCall(op, *run.communicators[0], round, 1 + round, one.most()));
  }
  HILO_RETURN_IF_ERROR(run.communicators[0]->AllGather({.name = "all-gather %rest", .group = ranks}, {buffer}));
  run.communicators[0]->Finish(absl::OkStatus());
  for (const int64_t i : ranks) {
    if (receive[i] != i + (i >= one.victim)) return absl::DataLossError("the rest gathers data that was never sent");
  }
  return absl::OkStatus();
}

// Where a rank waits before it leaves, well or with an error, until the survivors, and a victim that lives, have said
// how they went on. An mpirun may end all when one exits that does not finalize MPI, as it cannot while another is dead
// or stuck; or that fails.
absl::Status AwaitEnd(const Case& one, int rank, KeyValueStore& store) {
  if (!absl::StartsWith(one.transport, kMpi)) return absl::OkStatus();
  const bool victim_lives = one.fault != "killed" && (!one.is_silent() || one.is_resumed());
  const absl::Time deadline = absl::Now() + one.most();
  if (victim_lives) return Barrier(store, "end", rank, one.ranks, deadline);
  return rank == one.victim ? absl::OkStatus()
                            : Barrier(store, "end", rank - (rank > one.victim), one.ranks - 1, deadline);
}

// From now on nothing passes between the socket and its peer, and neither hears why: what one sends has a signature
// that the other does not expect, or lacks one (RFC 2385), so that it is dropped.
bool Cut(int socket, const sockaddr_in& peer) {
  tcp_md5sig signature = {};
  std::memcpy(&signature.tcpm_addr, &peer, sizeof(peer));
  signature.tcpm_keylen = 1;
  return setsockopt(socket, IPPROTO_TCP, TCP_MD5SIG, &signature, sizeof(signature)) == 0;
}

// The same for all TCP connections of this process.
absl::Status CutCables() {
  int cut = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    int number;
    sockaddr_in peer;
    socklen_t size = sizeof(peer);
    if (!absl::SimpleAtoi(entry.path().filename().string(), &number) ||
        getpeername(number, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET)
      continue;
    if (!Cut(number, peer)) return absl::UnavailableError("a cable cannot be cut");
    ++cut;
  }
  return cut > 0 ? absl::OkStatus() : absl::InternalError("there is no cable to cut");
}

// What a process holds that its end alone would give back: a group must give back all of its own.
struct Holdings {
  int64_t files = 0, threads = 0, mappings = 0;  // mappings: of files without a name

  static Holdings Now() {
    Holdings now;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) now.files += entry.exists();
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) now.threads += entry.exists();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) now.mappings += absl::StrContains(line, "memfd:");
    return now;
  }
  std::string ToString() const {
    return absl::StrCat(files, " files, ", threads, " threads and ", mappings, " mappings of shared memory");
  }
};

// Stops this process, or kills it, after `delay`, in the middle of whatever it does. One that is to be resumed has a
// child that does so.
void FailLater(const Case& one, absl::Duration delay, absl::Duration stopped) {
  std::thread([fault = one.fault, is_resumed = one.is_resumed(), delay, stopped] {
    absl::SleepFor(delay);
    if (is_resumed && fork() == 0) {
      for (int file = 0; file < 1024; ++file)
        close(file);  // the others hear of the end of this process, not its child's
      usleep(static_cast<useconds_t>(absl::ToInt64Microseconds(stopped)));
      kill(getppid(), SIGCONT);
      _exit(0);
    }
    raise(fault == "killed" ? SIGKILL : SIGSTOP);
  }).detach();
}

}  // namespace

absl::Status RunRank(const Case& one, int rank, const std::string& folder) {
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<KeyValueStore> store, MakeFileStore(folder));
  std::mt19937 random(one.seed);
  const int64_t step = 3 + random() % 20, microseconds = random() % 3000;
  const absl::Duration stopped = one.deadline() * (2 + random() % 100 / 100.0);
  const bool is_victim = rank == one.victim;
  HILO_RETURN_IF_ERROR(Barrier(*store, "start", rank, one.ranks, absl::Now() + one.most()));
  const Holdings before = Holdings::Now();
  if (is_victim && one.is_join()) {
    if (one.is_slow()) {
      absl::SleepFor(one.deadline() / 2);
    } else {
      FailLater(one, absl::Microseconds(microseconds), stopped);
    }
  }
  absl::Time last = absl::Now();
  absl::StatusOr<std::shared_ptr<ProcessGroup>> joined =
      ProcessGroup::Join({.process_id = rank,
                          .process_count = one.ranks,
                          .store = store,
                          .timeout = one.is_join() ? one.deadline() : one.most(),
                          .transport = TransportOf(one, rank)});
  absl::Status status = joined.status();
  if (!one.is_join()) HILO_RETURN_IF_ERROR(status);
  std::shared_ptr<ProcessGroup> group;
  std::vector<int> devices(one.ranks);
  std::iota(devices.begin(), devices.end(), 0);
  ProcessGroup::Run run;
  if (status.ok()) {
    group = *std::move(joined);
    if (!one.is_join()) HILO_RETURN_IF_ERROR(Barrier(*store, "all", rank, one.ranks, absl::Now() + one.most()));
    HILO_ASSIGN_OR_RETURN(run, group->StartRun(devices, {devices.begin(), devices.end()}));
  }
  for (int64_t i = 0; status.ok() && !(one.is_slow() && i == step + kCallsAfterwards); ++i) {
    Communicator& communicator = *run.communicators[0];
    if (is_victim && i == step && !one.is_join()) {
      if (one.is_slow()) absl::SleepFor(one.deadline() / 2);
      if (one.fault == "cut") HILO_RETURN_IF_ERROR(CutCables());
      if (one.fault == "killed" || one.fault == "stopped" || one.is_resumed())
        FailLater(one, absl::Microseconds(microseconds), stopped);
      if (one.fault == "fails") {
        communicator.Finish(absl::DataLossError("the handler has failed"));
        return AwaitEnd(one, rank, *store);
      }
    }
    last = absl::Now();
    const bool wrong = is_victim && i == step && one.fault == "wrong";
    status = CheckedCall(one.op, communicator, i, wrong ? 2 : 1,
                         one.is_silent() || one.is_slow() ? one.deadline() : one.most());
  }
  std::printf("%s\t%lld\t%s\n", absl::StatusCodeToString(status.code()).c_str(),
              static_cast<long long>(absl::ToInt64Milliseconds(absl::Now() - last)),
              std::string(status.message()).c_str());
  std::fflush(stdout);
  while (is_victim && one.fault == "cut") pause();  // its end would be heard
  if (one.is_slow() && status.ok()) run.communicators[0]->Finish(status);
  if (is_victim || one.is_slow()) {
    HILO_RETURN_IF_ERROR(AwaitEnd(one, rank, *store));
    if (one.is_resumed()) std::printf("leaves\n");
    if (is_victim && one.is_slow() && absl::StartsWith(one.transport, kMpi)) absl::SleepFor(kLeavesLater);
    return absl::OkStatus();
  }
  run.communicators.clear();
  group.reset();
  const Holdings after = Holdings::Now();
  if (!absl::StartsWith(one.transport, kMpi) && after.ToString() != before.ToString())
    return absl::InternalError(absl::StrCat("the group leaves ", after.ToString(), " of ", before.ToString()));
  const absl::Status rest = GoOnWithoutVictim(one, rank, store);
  std::printf("%s\n", rest.ok() ? "went on" : rest.ToString().c_str());
  std::fflush(stdout);
  HILO_RETURN_IF_ERROR(AwaitEnd(one, rank, *store));
  HILO_RETURN_IF_ERROR(rest);
  std::printf("leaves\n");
  std::fflush(stdout);
  return absl::OkStatus();
}

void Supervise(const std::string& folder, int rank) {
  static std::string file;
  file = absl::StrCat(folder, "/status_", rank);
  const pid_t child = fork();
  if (child <= 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return;
  }
  for (int number : {SIGTERM, SIGINT, SIGHUP}) {
    signal(number, [](int sent) {
      const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      char text[] = "launcher 00\n";
      text[9] = static_cast<char>('0' + sent / 10);
      text[10] = static_cast<char>('0' + sent % 10);
      if (out < 0 || write(out, text, sizeof(text) - 1) < 0) _exit(1);
      _exit(128 + sent);
    });
  }
  int status = -1;
  while (waitpid(child, &status, 0) != child && errno == EINTR) {
  }
  std::ofstream(absl::StrCat(file, "_")) << status << "\n";
  std::error_code ignored;  // the folder may be gone
  std::filesystem::rename(absl::StrCat(file, "_"), file, ignored);
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

bool MayCutCables() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool may_cut =
      Cut(probe, {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}});
  close(probe);
  return may_cut;
}

}  // namespace hilo
