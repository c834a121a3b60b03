// What collectives between processes cost without clients and programs: hilo_process_collectives [PROCESSES], or as one
// of the processes of a launcher (HILO_TRANSPORT=mpi mpirun -n 2 hilo_process_collectives). Each process is a rank;
// HILO_TRANSPORT chooses the transport. Prints the least and the mean time of a call on rank 0, and the time of one
// copy of the bytes. `bytes` is what docs/benchmarks.md calls the size.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collectives/processes/process_group.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr const char* kOps[] = {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "collective-permute"};
constexpr int64_t kSizes[] = {4, 1024, 1 << 16, 1 << 20, 16 << 20, 64 << 20};

const ReductionFunction kSum = {
    .element_bytes = 4, .combine = [](void* result, const void* a, const void* b, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        static_cast<float*>(result)[i] = static_cast<const float*>(a)[i] + static_cast<const float*>(b)[i];
      return absl::OkStatus();
    }};

absl::Status Call(const std::string& op, Communicator& c, int64_t bytes, float* send, float* receive) {
  const int64_t ranks = c.size(), piece = std::max<int64_t>(bytes / 4 / ranks, 1);
  std::vector<int64_t> group(ranks);
  std::iota(group.begin(), group.end(), 0);
  const CollectiveCall call = {.name = op, .key = 1, .group = group};
  const CollectiveBuffer whole = {send, receive, bytes}, part = {send, receive, piece * 4};
  if (op == "all-reduce") return c.AllReduce(call, {whole}, kSum);
  if (op == "reduce-scatter") return c.ReduceScatter(call, {part}, kSum);
  if (op == "all-gather") return c.AllGather(call, {part});
  if (op == "collective-permute")
    return c.CollectivePermute(call, {whole}, (c.rank() + ranks - 1) % ranks, (c.rank() + 1) % ranks);
  std::vector<const void*> sends;
  std::vector<void*> receives;
  for (int64_t i = 0; i < ranks; ++i) {
    sends.push_back(send + i * piece);
    receives.push_back(receive + i * piece);
  }
  return c.AllToAll(call, sends, receives, piece * 4);
}

// The least and the mean of the times that `f` takes, in microseconds.
template <typename F>
std::pair<double, double> Time(int calls, F f) {
  double least = 1e30, all = 0;
  for (int i = 0; i < calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
    all += time.count();
  }
  return {least, all / calls};
}

absl::Status Measure(const ProcessGroupOptions& options) {
  const int64_t process = options.process_id, processes = options.process_count;
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<ProcessGroup> group, ProcessGroup::Join(options));
  std::vector<int> devices(processes);
  std::iota(devices.begin(), devices.end(), 0);
  HILO_ASSIGN_OR_RETURN(ProcessGroup::Run run, group->StartRun(devices, {devices.begin(), devices.end()}));
  Communicator& communicator = *run.communicators[0];
  if (process == 0) std::printf("%d processes, %s\n", static_cast<int>(processes), group->transport_name().c_str());
  for (const char* op : kOps) {
    for (int64_t bytes : kSizes) {
      std::vector<float> send(bytes / 4 + processes, 1), receive(bytes / 4 + processes);
      const int calls = bytes <= 1 << 16 ? 10'000 : static_cast<int>((int64_t{512} << 20) / bytes);
      absl::Status status;
      const auto [least, mean] = Time(calls, [&] {
        if (status.ok()) status = Call(op, communicator, bytes, send.data(), receive.data());
      });
      HILO_RETURN_IF_ERROR(status);
      if (process != 0) continue;
      const double copy = Time(5, [&] { std::memcpy(receive.data(), send.data(), bytes); }).first;
      std::printf("%-18s %9lld bytes: least %9.2f us, mean %9.2f us, one copy %8.2f us\n", op,
                  static_cast<long long>(bytes), least, mean, copy);
      std::fflush(stdout);
    }
  }
  communicator.Finish(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status MeasureAlone(int64_t process, int64_t processes, const std::string& folder) {
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<KeyValueStore> store, MakeFileStore(folder));
  return Measure({.process_id = process, .process_count = processes, .store = store});
}

int Launched(const LaunchEnvironment& launch) {
  const absl::StatusOr<ProcessGroupOptions> options = ProcessGroupOptionsFrom(launch);
  const absl::Status status = options.ok() ? Measure(*options) : options.status();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

int Main(int processes) {
  const absl::StatusOr<LaunchEnvironment> launch = DetectLaunch();
  if (!launch.ok()) std::fprintf(stderr, "%s\n", launch.status().ToString().c_str());
  if (!launch.ok() || launch->world_size > 1) return launch.ok() ? Launched(*launch) : 2;
  std::string folder = "/tmp/hilo_process_collectives_XXXXXX";
  if (processes < 2 || processes > 64 || mkdtemp(folder.data()) == nullptr) return 2;
  std::vector<pid_t> others;
  for (int process = 1; process < processes; ++process) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      _exit(MeasureAlone(process, processes, folder).ok() ? 0 : 1);
    }
    others.push_back(pid);
  }
  const absl::Status status = MeasureAlone(0, processes, folder);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  bool all_well = status.ok();
  for (pid_t pid : others) {
    int ended = -1;
    waitpid(pid, &ended, 0);
    all_well = all_well && ended == 0;
  }
  std::filesystem::remove_all(folder);
  return all_well ? 0 : 1;
}

}  // namespace
}  // namespace hilo

int main(int argc, char** argv) { return hilo::Main(argc > 1 ? std::atoi(argv[1]) : 2); }
