// What one process of several does to the others:
//   hilo_fault_tests [--ranks=N] [--rounds=N] [--cases=N] [--seconds=S] [--patience=X] [--seed=S] [--only=TEXT]
//   [--verbose]
//
// For every transport, collective and fault, four processes, or --ranks, run that collective over and over until the
// one that is the victim is killed, stopped, stopped and resumed, loses its connections without a word, does something
// else than the others, or fails. The others must all hear of it, in time, with an error that names the op, its number
// and ranks; they live, and go on as a group without it. A victim that is only slow must change nothing, and one that
// is resumed must hear that it is late. The same holds while they join. Whatever a collective delivers is checked.
// Nothing may be left behind: no file, thread or memory of the group that has failed. Of all cases of --rounds, --cases
// takes some at random, and none begins after --seconds. All deadlines are multiplied by --patience. --verbose prints
// each case as it ends. Through MPI, of the implementations whose mpirun is installed, or named by
// HILO_TEST_MPIRUN_OPENMPI, _ULFM or _MPICH, each round does one of the faults for each collective, and one more: it
// takes seconds to start. mpi-ulfm is Open MPI 5 with `--with-ft ulfm`, where no survivor may be ended.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "collectives/processes/process_group.h"
#include "tests/faults/checked_call.h"
#include "tests/faults/fault_case.h"
#include "tests/faults/rank.h"

namespace hilo {
namespace {

// What carries data between the processes; mixed: the last of them is as if on another host.
constexpr const char* kTransports[] = {"shm", "tcp", "mixed", "mpi-openmpi", "mpi-ulfm", "mpi-mpich"};
constexpr const char* kFaults[] = {"killed", "stopped", "resumed", "cut", "slow", "wrong", "fails"};

constexpr size_t kCasesPerReport = 50;
// A case whose processes have not ended then has failed.
constexpr absl::Duration kMaxOfCase = absl::Seconds(30);

struct Child {
  pid_t pid = -1;
  int output = -1;
  std::string text;
  int status = -1;
  bool ended = false;
  std::string ending;  // where status does not tell
  absl::Time gone = absl::InfiniteFuture();
};

Child Spawn(const std::string& program, const std::vector<std::string>& arguments) {
  Child child;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return child;
  child.output = ends[0];
  child.pid = fork();
  if (child.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();  // a shell that ends goes on with the stopped processes of its groups: not with these
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    std::vector<char*> pointers = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    execv(program.c_str(), pointers.data());
    _exit(127);
  }
  close(ends[1]);
  return child;
}

// Reads what the children say until all but `except` have ended; false: they did not in time.
bool Await(std::vector<Child>& children, int except, absl::Time deadline) {
  while (absl::Now() < deadline) {
    std::vector<pollfd> polled;
    for (const Child& child : children) polled.push_back({.fd = child.output, .events = POLLIN, .revents = 0});
    poll(polled.data(), polled.size(), 10);
    bool all_ended = true;
    for (size_t i = 0; i < children.size(); ++i) {
      Child& child = children[i];
      char bytes[4096];
      const ssize_t got = polled[i].revents == 0 ? -1 : read(child.output, bytes, sizeof(bytes));
      if (got > 0) child.text.append(bytes, got);
      if (polled[i].revents != 0 && got == 0) {
        close(child.output);
        child.output = -1;
      }
      if (!child.ended && child.output < 0) child.ended = waitpid(child.pid, &child.status, 0) == child.pid;
      if (static_cast<int>(i) != except) all_ended = all_ended && child.ended;
    }
    if (all_ended) return true;
  }
  return false;
}

// Whether the message has the number in a list: "rank 3", "ranks 1, 3".
bool NamesRank(absl::string_view message, int rank) {
  for (size_t at = 0; (at = message.find("rank", at)) != absl::string_view::npos; at += 4) {
    absl::string_view list = message.substr(at + 4);
    list = list.substr(0, list.find_first_not_of("s, 0123456789"));
    for (absl::string_view number : absl::StrSplit(list, absl::ByAnyChar("s, "), absl::SkipEmpty())) {
      if (number == absl::StrCat(rank)) return true;
    }
  }
  return false;
}

// What is wrong with what the survivor says; empty: nothing.
std::string Complaint(const Case& one, const Child& child, bool is_victim) {
  const std::vector<std::pair<std::string, std::string>> codes = {
      {"killed", "UNAVAILABLE"},        {"stopped", "DEADLINE_EXCEEDED"}, {"cut", "DEADLINE_EXCEEDED"}, {"slow", "OK"},
      {"resumed", "DEADLINE_EXCEEDED"}, {"wrong", "FAILED_PRECONDITION"}, {"fails", "DATA_LOSS"}};
  // A process that is stopped while it sends through MPICH's shared memory may stop what others send, too. And once one
  // has left that cannot finalize MPI, MPICH's mpirun ends the others.
  const bool is_late =
      one.transport == "mpi-mpich" && one.fault == "stopped" && absl::StrContains(child.text, "\nDEADLINE_EXCEEDED: ");
  const bool may_be_ended = is_late || (absl::StartsWith(one.transport, kMpi) && one.transport != "mpi-ulfm" &&
                                        absl::StrContains(child.text, "leaves\n"));
  if (!child.ending.empty() && !may_be_ended) return child.ending;
  if (child.ending.empty() && child.status != 0 && !is_late) return absl::StrCat("it ended with ", child.status);
  const std::string first = child.text.substr(0, child.text.find('\n'));
  const size_t tab = first.find('\t'), second = first.find('\t', tab + 1);
  int64_t milliseconds;
  if (second == std::string::npos || !absl::SimpleAtoi(first.substr(tab + 1, second - tab - 1), &milliseconds))
    return "it says no status";
  const std::string message = first.substr(second + 1), said = first.substr(0, tab);
  if (is_victim && one.is_resumed()) {
    if (said != "UNAVAILABLE" && said != "DEADLINE_EXCEEDED" && said != "FAILED_PRECONDITION")
      return "expected to be told that it is late";
    return absl::Milliseconds(milliseconds) > one.deadline() * 3 + one.grace() ? "that took too long" : "";
  }
  for (const auto& [fault, code] : codes) {
    if (one.fault != fault || said == code) continue;
    // Who joins may hear of the victim, or of one that has given up because of it.
    if (!one.is_join() || one.is_slow() || (said != "UNAVAILABLE" && said != "DEADLINE_EXCEEDED"))
      return absl::StrCat("expected ", code);
  }
  const absl::Duration most = one.grace() + (one.is_silent() || one.is_join() ? one.deadline() : absl::ZeroDuration());
  if (absl::Milliseconds(milliseconds) > most) return "that took too long";
  if (one.is_slow()) return "";
  if (one.is_join()) {
    // The victim may fail just after it has joined: the others then wait for ranks in their first call.
    const bool names_any = absl::StrContains(message, "process") || absl::StrContains(message, "rank ") ||
                           absl::StrContains(message, "ranks ");
    if (!names_any) return "no process is named";
    return absl::StrContains(child.text, "went on\n") ? "" : "it did not go on";
  }
  if (!absl::StrContains(message, absl::StrCat(one.op, " %op"))) return "the op is not named";
  if (one.op != "send" && !absl::StrContains(message, "(number ")) return "the op has no number";
  // A message is awaited from a rank that may itself await one.
  const bool is_named =
      one.op == "send" && one.is_silent() ? absl::StrContains(message, "rank ") : NamesRank(message, one.victim);
  if (one.fault != "fails" && !is_named) return "the rank is not named";
  if (!absl::StrContains(child.text, "went on\n") && !is_late) return "it did not go on";
  return "";
}

// Of an MPI: what HILO_TEST_MPIRUN_OPENMPI and the like name, else as Debian calls it; empty: it is not installed.
std::string MpirunOf(absl::string_view transport) {
  const std::string variable =
      absl::StrCat("HILO_TEST_MPIRUN_", absl::AsciiStrToUpper(absl::StripPrefix(transport, kMpi)));
  if (const char* given = std::getenv(variable.c_str()); given != nullptr) return given;
  for (const char* folder : {"/usr/bin/", "/usr/local/bin/"}) {
    const std::string path = absl::StrCat(folder, "mpirun.", absl::StripPrefix(transport, kMpi));
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();  // a read that fails, as when a process has gone, ends the text; iterators would throw
  return text.str();
}

// The library beside an mpirun that is installed in a folder of its own, as by PyPI's packages; empty: there is none.
std::string LibraryOf(const std::string& mpirun) {
  for (const char* name : {"libmpi.so.40", "libmpi.so.12"}) {
    const std::filesystem::path path = std::filesystem::path(mpirun).parent_path().parent_path() / "lib" / name;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

// MPICH's mpirun ends the other processes when one dies, whatever it is told. With ULFM, one that goes on after the
// others have gone on without it may crash these within Open MPI (5.0.11, where its shared memory gives back
// fragments).
bool IsSurvivable(absl::string_view transport, absl::string_view fault) {
  return (transport != "mpi-mpich" || fault != "killed") && (transport != "mpi-ulfm" || fault != "resumed");
}

// Where there are cables to cut; "mixed" has those of the last process, and Open MPI is told to use TCP.
bool HasCables(absl::string_view transport) { return transport != "shm" && transport != "mpi-mpich" && MayCutCables(); }

// How a rank under mpirun has ended, if it has. Where mpirun has killed it and its supervisor, nothing tells, also not
// after `patience`.
void ReadEnding(const std::string& path, absl::Duration patience, Child* child) {
  const std::string text = ReadFile(path);
  if (child->ended) return;
  if (absl::EndsWith(text, "\n")) {
    child->ended = true;
    if (!absl::SimpleAtoi(text.substr(0, text.size() - 1), &child->status))
      child->ending = absl::StrCat("it has been ended by the ", text.substr(0, text.size() - 1));
    return;
  }
  const std::string state = child->pid > 0 ? ReadFile(absl::StrCat("/proc/", child->pid, "/stat")) : "R";
  if (!state.empty() && !absl::StrContains(state, ") Z ")) return;
  child->gone = std::min(child->gone, absl::Now());
  if (absl::Now() < child->gone + patience) return;
  child->ended = true;
  child->ending = "it has vanished without a status";
}

// The four processes under mpirun, which goes on when one of them dies. They write into files what they say, with
// their numbers first; `said` is the output of mpirun itself. False: not all but the victim have ended in time.
bool RunUnderMpi(const Case& one, const std::vector<std::string>& arguments, const std::string& folder,
                 std::vector<Child>* children, std::string* said) {
  std::vector<std::string> all = {"-n", absl::StrCat(one.ranks)};
  const std::string mpirun_path = MpirunOf(one.transport), library = LibraryOf(mpirun_path);
  if (one.transport == "mpi-mpich") {
    if (!library.empty()) all.insert(all.begin(), {"-genv", "HILO_MPI_LIBRARY", library});
  } else {
    all.insert(all.begin(), {"--allow-run-as-root", "--oversubscribe"});
    if (one.transport == "mpi-ulfm") {
      all.insert(all.begin(), {"--with-ft", "ulfm"});
    } else {
      all.insert(all.begin(), "--enable-recovery");
    }
    if (one.fault == "cut") all.insert(all.begin(), {"--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"});
    if (!library.empty()) all.insert(all.begin(), {"-x", absl::StrCat("HILO_MPI_LIBRARY=", library)});
  }
  all.push_back(std::filesystem::read_symlink("/proc/self/exe"));
  all.insert(all.end(), arguments.begin(), arguments.end());
  Child mpirun = Spawn(mpirun_path, all);
  std::atomic<bool> stop{false};
  std::thread reader([&] {  // so that it does not wait for a reader
    char bytes[4096];
    pollfd polled = {.fd = mpirun.output, .events = POLLIN, .revents = 0};
    while (!stop) {
      if (poll(&polled, 1, 10) <= 0) continue;
      const ssize_t size = read(mpirun.output, bytes, sizeof(bytes));
      if (size > 0) {
        said->append(bytes, static_cast<size_t>(size));
      } else {
        absl::SleepFor(absl::Milliseconds(10));
      }
    }
  });
  children->assign(one.ranks, Child());
  const absl::Time deadline = absl::Now() + (kMaxOfCase + absl::Seconds(10)) * std::max(1.0, one.patience);
  bool all_ended = false;
  while (!all_ended && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(10));
    all_ended = true;
    for (int rank = 0; rank < one.ranks; ++rank) {
      Child& child = (*children)[rank];
      ReadEnding(absl::StrCat(folder, "/status_", rank), absl::Seconds(1) * std::max(1.0, one.patience), &child);
      const std::string text = ReadFile(absl::StrCat(folder, "/out_", rank));
      const size_t line = text.find('\n');
      int pid = -1;
      if (line != std::string::npos && absl::SimpleAtoi(text.substr(0, line), &pid)) child.text = text.substr(line + 1);
      child.pid = pid;
      if (rank != one.victim || one.has_last_words()) all_ended = all_ended && child.ended;
    }
  }
  for (Child& child : *children) {
    if (child.ended) continue;
    child.ending = "it has not ended";
    if (child.pid > 0) kill(child.pid, SIGKILL);
    child.ended = true;
  }
  kill(mpirun.pid, SIGTERM);
  for (int i = 0; i < 200 && waitpid(mpirun.pid, &mpirun.status, WNOHANG) == 0; ++i) {
    if (i == 100) kill(mpirun.pid, SIGKILL);
    absl::SleepFor(absl::Milliseconds(20));
  }
  stop = true;
  reader.join();
  close(mpirun.output);
  absl::StrAppend(said, "[mpirun ended with the status ", mpirun.status, "]\n");
  return all_ended;
}

bool RunCase(const std::string& program, const Case& one, bool verbose) {
  const absl::Time begin = absl::Now();
  std::string folder = "/tmp/hilo_faults_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return false;
  std::vector<Child> children;
  std::string launcher_said;
  const auto arguments_of = [&](absl::string_view rank) -> std::vector<std::string> {
    return {"--rank",
            one.transport,
            one.op,
            one.fault,
            absl::StrCat(one.ranks),
            absl::StrCat(one.victim),
            absl::StrCat(one.seed),
            absl::StrCat(one.patience),
            std::string(rank),
            folder};
  };
  bool well;
  if (absl::StartsWith(one.transport, kMpi)) {
    well = RunUnderMpi(one, arguments_of("mpi"), folder, &children, &launcher_said);
  } else {
    for (int rank = 0; rank < one.ranks; ++rank) children.push_back(Spawn(program, arguments_of(absl::StrCat(rank))));
    well = Await(children, one.is_silent() && !one.is_resumed() ? one.victim : -1,
                 absl::Now() + kMaxOfCase * std::max(1.0, one.patience));
  }
  for (Child& child : children) {
    if (!child.ended) {
      kill(child.pid, SIGKILL);
      waitpid(child.pid, &child.status, 0);
    }
    if (child.output >= 0) close(child.output);
  }
  std::filesystem::remove_all(folder);
  std::string complaints;
  if (!well) complaints = "not all have ended in time\n";
  for (int rank = 0; rank < one.ranks; ++rank) {
    const std::string complaint =
        rank == one.victim && !one.has_last_words() ? "" : Complaint(one, children[rank], rank == one.victim);
    if (!complaint.empty())
      absl::StrAppend(&complaints, "rank ", rank, ": ", complaint, "; it says:\n", children[rank].text);
  }
  const std::string what = absl::StrCat(one.transport, ", ", one.op, ", rank ", one.victim, " of ", one.ranks, " ",
                                        one.fault, " (", one.seed, ")");
  if (complaints.empty()) {
    if (verbose) std::printf("%s: %.2f s\n", what.c_str(), absl::ToDoubleSeconds(absl::Now() - begin));
    std::fflush(stdout);
    return true;
  }
  if (!launcher_said.empty()) absl::StrAppend(&complaints, "the launcher says:\n", launcher_said);
  std::printf("%s: %s", what.c_str(), complaints.c_str());
  std::fflush(stdout);
  return false;
}

// Returns the number of cases that fail. Most of their time they wait, so several run at once. Says how far it is.
int RunCases(const std::vector<Case>& cases, absl::Time last_begin, bool verbose) {
  const int at_once = cases.empty() || cases[0].ranks > 4 ? 1 : 3;
  const absl::Time begin = absl::Now();
  std::atomic<size_t> next{0}, ended{0};
  std::atomic<int> failures{0};
  const auto report = [&] {
    std::printf("%zu of %zu cases, %d failures, %.0f s\n", ended.load(), cases.size(), failures.load(),
                absl::ToDoubleSeconds(absl::Now() - begin));
    std::fflush(stdout);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < at_once; ++i) {
    threads.emplace_back([&] {
      for (size_t number; (number = next++) < cases.size() && absl::Now() < last_begin;) {
        if (!RunCase("/proc/self/exe", cases[number], verbose)) ++failures;
        if (++ended % kCasesPerReport == 0) report();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  report();
  return failures;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 10 && arguments[0] == "--rank") {
    const Case one = {.transport = arguments[1],
                      .op = arguments[2],
                      .fault = arguments[3],
                      .ranks = std::atoi(argv[5]),
                      .victim = std::atoi(argv[6]),
                      .seed = static_cast<uint32_t>(std::atoi(argv[7])),
                      .patience = std::atof(argv[8])};
    const std::string& folder = arguments[9];
    int rank = std::atoi(argv[9]);
    if (arguments[8] == "mpi") {
      const absl::StatusOr<LaunchEnvironment> launch = DetectLaunch({.coordinator = "file://" + folder});
      if (!launch.ok()) return 1;
      rank = static_cast<int>(launch->rank);
      Supervise(folder, rank);
      const std::string output = absl::StrCat(folder, "/out_", rank);
      if (std::freopen(output.c_str(), "w", stdout) == nullptr) return 1;
      std::printf("%d\n", getpid());
      std::fflush(stdout);
    }
    const absl::Status status = RunRank(one, rank, folder);
    if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
    return status.ok() ? 0 : 1;
  }
  int rounds = 1, ranks = 4, seconds = std::numeric_limits<int>::max();
  double patience = 1;
  bool verbose = false;
  size_t most = std::numeric_limits<size_t>::max();
  uint32_t seed = 1;
  std::string only;
  for (absl::string_view argument : arguments) {
    if (absl::ConsumePrefix(&argument, "--only=")) {
      only = std::string(argument);
    } else if (argument == "--verbose") {
      verbose = true;
    } else if (!(absl::ConsumePrefix(&argument, "--rounds=") && absl::SimpleAtoi(argument, &rounds)) &&
               !(absl::ConsumePrefix(&argument, "--ranks=") && absl::SimpleAtoi(argument, &ranks) && ranks > 2) &&
               !(absl::ConsumePrefix(&argument, "--cases=") && absl::SimpleAtoi(argument, &most)) &&
               !(absl::ConsumePrefix(&argument, "--seconds=") && absl::SimpleAtoi(argument, &seconds)) &&
               !(absl::ConsumePrefix(&argument, "--patience=") && absl::SimpleAtod(argument, &patience) &&
                 patience > 0) &&
               !(absl::ConsumePrefix(&argument, "--seed=") && absl::SimpleAtoi(argument, &seed))) {
      std::printf(
          "Usage: hilo_fault_tests [--ranks=N] [--rounds=N] [--cases=N] [--seconds=S] [--patience=X] [--seed=S] "
          "[--only=TEXT] "
          "[--verbose]\n");
      return 2;
    }
  }
  std::mt19937 random(seed);
  std::vector<Case> cases;
  for (const char* transport : kTransports) {
    if (absl::StartsWith(transport, kMpi) && MpirunOf(transport).empty())
      std::printf("%s: skipped, as there is no mpirun.%s, and HILO_TEST_MPIRUN_%s is not set\n", transport,
                  std::string(absl::StripPrefix(transport, kMpi)).c_str(),
                  absl::AsciiStrToUpper(absl::StripPrefix(transport, kMpi)).c_str());
  }
  for (int round = 0; round < rounds; ++round) {
    for (const char* transport : kTransports) {
      const bool is_mpi = absl::StartsWith(transport, kMpi);
      if (is_mpi && MpirunOf(transport).empty()) continue;
      int number = round;
      std::vector<std::string> ops(std::begin(kOps), std::end(kOps));
      if (!is_mpi) ops.emplace_back(kJoin);  // MPI itself starts with all processes or none
      for (const std::string& op : ops) {
        ++number;  // each op with another fault
        for (const char* fault : kFaults) {
          // Of arrays of different sizes parts are on their way when all hear of it: the next group must not get them.
          const bool leaves_parts = op == "all-reduce-of-much" && absl::string_view(fault) == "wrong";
          const bool is_chosen = number++ % std::size(kFaults) == 0 || leaves_parts;
          if (is_mpi && (!is_chosen || !IsSurvivable(transport, fault))) continue;
          const bool is_cut = absl::string_view(fault) == "cut";
          if (is_cut && !HasCables(transport)) continue;
          const bool is_of_a_call =
              is_cut || absl::string_view(fault) == "wrong" || absl::string_view(fault) == "fails";
          if (op == kJoin && is_of_a_call) continue;
          const bool is_last = is_cut && absl::string_view(transport) == "mixed";
          const Case one = {.transport = transport,
                            .op = op,
                            .fault = fault,
                            .ranks = ranks,
                            .victim = is_last ? ranks - 1 : static_cast<int>(random() % ranks),
                            .seed = static_cast<uint32_t>(random() % 1'000'000),
                            .patience = patience};
          if (absl::StrContains(absl::StrCat(transport, " ", op, " ", fault), only)) cases.push_back(one);
        }
      }
    }
  }
  if (cases.size() > most) {
    std::shuffle(cases.begin(), cases.end(), random);
    cases.resize(most);
  }
  const int failures = RunCases(cases, absl::Now() + absl::Seconds(seconds), verbose);
  return failures == 0 && !cases.empty() && seconds > 0 ? 0 : 1;
}

}  // namespace
}  // namespace hilo

int main(int argc, char** argv) { return hilo::Main(argc, argv); }
