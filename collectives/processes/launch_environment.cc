// Launchers agree on numbers and on little else: the address for the rendezvous has to be assembled
// from the variables of each launcher. A port that no launcher names is derived from the number of the job,
// below those that the system assigns automatically.
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "collectives/processes/sockets.h"
#include "hilo/collectives.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

class Variables {
 public:
  explicit Variables(const GetVariable& get) : get_(get) {}

  // Empty if it is not set.
  std::string Text(const char* name) const {
    const char* value = get_ ? get_(name) : std::getenv(name);
    return value == nullptr ? "" : value;
  }
  bool Has(const char* name) const { return !Text(name).empty(); }
  absl::StatusOr<std::optional<int64_t>> Number(const char* name) const {
    const std::string text = Text(name);
    int64_t value;
    if (text.empty()) return std::optional<int64_t>();
    if (absl::SimpleAtoi(text, &value) && value >= 0) return std::optional<int64_t>(value);
    return InvalidArgument(name, ": expected a whole number from 0 on, got '", text, "'");
  }

 private:
  const GetVariable& get_;
};

// A port for job `number` that launchers and systems leave alone.
int64_t PortOfJob(uint64_t number) { return 20000 + static_cast<int64_t>(number % 10000); }

// The digits of a text as one number.
uint64_t DigitsOf(absl::string_view text) {
  uint64_t number = 0;
  for (char c : text) {
    if (absl::ascii_isdigit(c)) number = number * 10 + (c - '0');
  }
  return number;
}

// "node[03-07,9],other" to "node03".
std::string FirstHost(absl::string_view list) {
  const size_t bracket = list.find('[');
  const size_t comma = list.find(',');
  if (bracket == absl::string_view::npos || comma < bracket) return std::string(list.substr(0, comma));
  const absl::string_view numbers = list.substr(bracket + 1);
  const absl::string_view first = numbers.substr(0, numbers.find_first_of(",-]"));
  const size_t end = numbers.find(']');
  if (end == absl::string_view::npos) return "";
  const absl::string_view rest = numbers.substr(end + 1);
  return absl::StrCat(list.substr(0, bracket), first, rest.substr(0, rest.find(',')));
}

absl::StatusOr<std::string> TorchrunCoordinator(const Variables& variables) {
  if (!variables.Has("MASTER_ADDR")) return InvalidArgument("RANK is set, but MASTER_ADDR is not");
  HILO_ASSIGN_OR_RETURN(const std::optional<int64_t> port, variables.Number("MASTER_PORT"));
  if (!port.has_value() || *port < 1 || *port > 65535) {
    return InvalidArgument("MASTER_PORT: expected a port, got '", variables.Text("MASTER_PORT"), "'");
  }
  // torchrun listens at the port itself.
  return Endpoint{variables.Text("MASTER_ADDR"), static_cast<int>(*port == 65535 ? *port - 1 : *port + 1)}.ToString();
}

absl::StatusOr<std::string> OpenMpiCoordinator(const Variables& variables) {
  // Version 4: "1234567.0;tcp://10.0.0.1,10.0.1.1:40123", or "...;tcp6://[fd00::1,fd00::2]:40123", of the process that
  // launched all.
  const std::string uri = variables.Text("OMPI_MCA_orte_hnp_uri");
  const std::string name = variables.Text("PMIX_NAMESPACE");
  const bool one_machine = variables.Text("OMPI_COMM_WORLD_LOCAL_SIZE") == variables.Text("OMPI_COMM_WORLD_SIZE");
  if (one_machine && (!uri.empty() || !name.empty()))
    return absl::StrCat("127.0.0.1:", PortOfJob(DigitsOf(uri.empty() ? name : uri.substr(0, uri.find('.')))));
  const size_t host = uri.find("://");
  if (host != std::string::npos) {
    absl::string_view rest = absl::string_view(uri).substr(host + 3);
    const char* const ends = absl::ConsumePrefix(&rest, "[") ? ",]" : ",:";
    return Endpoint{std::string(rest.substr(0, rest.find_first_of(ends))),
                    static_cast<int>(PortOfJob(DigitsOf(uri.substr(0, uri.find('.')))))}
        .ToString();
  }
  return InvalidArgument(
      "OMPI_COMM_WORLD_RANK is set, but OMPI_MCA_orte_hnp_uri, which names the first machine, is "
      "not; set HILO_COORDINATOR");
}

absl::StatusOr<std::string> SlurmCoordinator(const Variables& variables) {
  const char* list = variables.Has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_NODELIST";
  const std::string host = FirstHost(variables.Text(list));
  if (host.empty())
    return InvalidArgument("SLURM_PROCID is set, but SLURM_STEP_NODELIST is '", variables.Text(list),
                           "', which names no machine");
  if (!variables.Has("SLURM_JOB_ID")) return InvalidArgument("SLURM_PROCID is set, but SLURM_JOB_ID is not");
  return absl::StrCat(host, ":", PortOfJob(DigitsOf(variables.Text("SLURM_JOB_ID"))));
}

struct Launcher {
  const char* name;
  const char* rank;
  const char* world_size;
  const char* local_rank;  // null: the launcher sets none
  const char* needed;      // null, or a variable set if and only if the launcher has started the process
  absl::StatusOr<std::string> (*coordinator)(const Variables& variables);
};

absl::StatusOr<std::string> NoCoordinator(const Variables&) { return std::string(); }

constexpr Launcher kLaunchers[] = {
    {"Hilo", "HILO_RANK", "HILO_WORLD_SIZE", "HILO_LOCAL_RANK", nullptr, NoCoordinator},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", nullptr, TorchrunCoordinator},
    {"JAX", "JAX_PROCESS_ID", "JAX_NUM_PROCESSES", nullptr, nullptr,
     [](const Variables& variables) -> absl::StatusOr<std::string> {
       return variables.Text("JAX_COORDINATOR_ADDRESS");
     }},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", nullptr,
     OpenMpiCoordinator},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr, NoCoordinator},
    // A batch script has the numbers too, but it is no task of a step.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_ID", SlurmCoordinator},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_ID", SlurmCoordinator},
};

absl::Status CheckNumbers(const LaunchEnvironment& found, const char* rank, const char* size, const char* local) {
  if (found.world_size < 1) return InvalidArgument(size, ": expected at least 1 process, got ", found.world_size);
  if (found.rank < 0 || found.rank >= found.world_size) {
    return InvalidArgument(rank, ": expected a rank below ", size, " = ", found.world_size, ", got ", found.rank);
  }
  if (found.local_rank.has_value() && (*found.local_rank < 0 || *found.local_rank >= found.world_size)) {
    return InvalidArgument(local, ": expected a rank below ", size, " = ", found.world_size, ", got ",
                           *found.local_rank);
  }
  return absl::OkStatus();
}

// Nothing if the launcher has left none of its variables.
absl::StatusOr<std::optional<LaunchEnvironment>> DetectOne(const Launcher& launcher, const Variables& variables) {
  if (launcher.needed != nullptr && (!variables.Has(launcher.needed) || !variables.Has(launcher.world_size)))
    return std::optional<LaunchEnvironment>();
  HILO_ASSIGN_OR_RETURN(const std::optional<int64_t> rank, variables.Number(launcher.rank));
  HILO_ASSIGN_OR_RETURN(const std::optional<int64_t> size, variables.Number(launcher.world_size));
  if (!rank.has_value() && !size.has_value()) return std::optional<LaunchEnvironment>();
  if (!rank.has_value()) return InvalidArgument(launcher.world_size, " is set, but ", launcher.rank, " is not");
  if (!size.has_value()) return InvalidArgument(launcher.rank, " is set, but ", launcher.world_size, " is not");
  LaunchEnvironment found{.launcher = launcher.name, .rank = *rank, .world_size = *size};
  if (launcher.local_rank != nullptr) {
    HILO_ASSIGN_OR_RETURN(found.local_rank, variables.Number(launcher.local_rank));
  }
  HILO_RETURN_IF_ERROR(CheckNumbers(found, launcher.rank, launcher.world_size, launcher.local_rank));
  return std::optional<LaunchEnvironment>(std::move(found));
}

}  // namespace

absl::StatusOr<LaunchEnvironment> DetectLaunch(const LaunchArguments& given, const GetVariable& get) {
  const Variables variables(get);
  LaunchEnvironment found;
  const Launcher* launcher = nullptr;
  if (given.rank.has_value() != given.world_size.has_value()) {
    return InvalidArgument("give both the rank and the number of processes, or neither; got only the ",
                           given.rank.has_value() ? "rank" : "number of processes");
  }
  if (given.rank.has_value()) {
    found = {.launcher = "Hilo", .rank = *given.rank, .world_size = *given.world_size, .local_rank = given.local_rank};
    HILO_RETURN_IF_ERROR(CheckNumbers(found, "rank", "number of processes", "local rank"));
  } else {
    for (const Launcher& one : kLaunchers) {
      HILO_ASSIGN_OR_RETURN(const std::optional<LaunchEnvironment> detected, DetectOne(one, variables));
      if (!detected.has_value()) continue;
      found = *detected;
      launcher = &one;
      break;
    }
    if (given.local_rank.has_value()) found.local_rank = given.local_rank;
  }
  found.token = variables.Text("HILO_JOB_TOKEN");
  found.coordinator = given.coordinator.value_or(variables.Text("HILO_COORDINATOR"));
  if (found.world_size == 1) return found;
  if (found.coordinator.empty() && launcher != nullptr) {
    HILO_ASSIGN_OR_RETURN(found.coordinator, launcher->coordinator(variables));
  }
  if (!found.coordinator.empty()) return found;
  return InvalidArgument(
      "there are ", found.world_size, " processes",
      launcher == nullptr ? "" : absl::StrCat(" (", launcher->world_size, ")"),
      ", but nothing states where they connect: set HILO_COORDINATOR to HOST:PORT or file:///FOLDER");
}

}  // namespace hilo
