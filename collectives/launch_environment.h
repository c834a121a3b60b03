// Detects which process of a job this one is, from the environment variables that its launcher has set.
#ifndef HILO_COLLECTIVES_LAUNCH_ENVIRONMENT_H_
#define HILO_COLLECTIVES_LAUNCH_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace hilo {

struct LaunchEnvironment {
  std::string launcher;  // "Hilo", "torchrun", "JAX", "Open MPI", "MPICH", "Slurm"; empty: alone
  int64_t rank = 0;      // of this process
  int64_t world_size = 1;
  std::optional<int64_t> local_rank;  // among the processes of this machine
  std::string coordinator;            // for OpenStore: HOST:PORT, which rank 0 serves, or file:///FOLDER
  std::string token;                  // HILO_JOB_TOKEN
};

// Values from the caller, which override the environment.
struct LaunchArguments {
  std::optional<int64_t> rank, world_size, local_rank;
  std::optional<std::string> coordinator;
};

// The value of a variable, or null.
using GetVariable = std::function<const char*(const char* name)>;

// The first source that is present: `given`, the variables HILO_RANK, HILO_WORLD_SIZE, HILO_LOCAL_RANK
// and HILO_COORDINATOR, those of torchrun, JAX, Open MPI 4 and 5, MPICH and Intel MPI (hydra),
// Slurm (docs/distributed.md has the table). A coordinator that is given, or HILO_COORDINATOR, applies
// to all of them. Without any, the process runs alone. `get` is std::getenv unless given. Errors:
// InvalidArgument, naming the variable that is missing, is no number, is out of range or
// contradicts another.
absl::StatusOr<LaunchEnvironment> DetectLaunch(const LaunchArguments& given = {}, const GetVariable& get = nullptr);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_LAUNCH_ENVIRONMENT_H_
