// Programs on the devices of several processes: which process of a job this one is, and how the processes find each
// other.
#ifndef HILO_COLLECTIVES_H_
#define HILO_COLLECTIVES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "hilo/export.h"

namespace hilo {

// --- which process of a job this one is, from the environment variables that its launcher has set ---

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
HILO_EXPORT absl::StatusOr<LaunchEnvironment> DetectLaunch(const LaunchArguments& given = {},
                                                           const GetVariable& get = nullptr);

// KeyValueStore: where the processes of a job publish what the others need to find them: addresses,
// identifiers, counts. Small and rarely used; data travels between processes directly. Thread-safe, as all
// implementations are. Keys have 1 to 1024 bytes, values up to 16 MiB, of any kind.
class HILO_EXPORT KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;

  // Errors of all functions: InvalidArgument for keys and values out of range; Unavailable, naming
  // the store, if it cannot be reached.

  // Replaces an existing value.
  virtual absl::Status Set(absl::string_view key, absl::string_view value) = 0;
  // Waits until the key is set by any process. Errors: DeadlineExceeded, naming the key.
  virtual absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) = 0;
  // Waits until all of at most kMaxKeysAtOnce keys are set, or the deadline has passed; a key that is not set then has
  // no value. A store on a network takes the time of one request, or of a few. Errors: ResourceExhausted if the values
  // are too large for one answer.
  virtual absl::StatusOr<std::vector<std::optional<std::string>>> GetMany(absl::Span<const std::string> keys,
                                                                          absl::Time deadline);
  // Errors: NotFound, naming the key.
  virtual absl::StatusOr<std::string> TryGet(absl::string_view key) = 0;
  // OK also if the key does not exist.
  virtual absl::Status Delete(absl::string_view key) = 0;
};

constexpr int64_t kMaxKeyBytes = 1024;
constexpr int64_t kMaxValueBytes = int64_t{16} << 20;
constexpr int64_t kMaxKeysAtOnce = 8192;

// For the threads of one process.
HILO_EXPORT std::shared_ptr<KeyValueStore> MakeInProcessStore();

// Files in `folder`, which is created if it is missing, accessible to its owner only: one file per key. For
// processes that share a file system. Errors: Unavailable if the folder cannot be made.
HILO_EXPORT absl::StatusOr<std::shared_ptr<KeyValueStore>> MakeFileStore(const std::string& folder);

// A store that is implemented elsewhere, such as by the caller of a plugin. The functions are called from several
// threads at a time.
struct KeyValueCallbacks {
  std::function<absl::Status(absl::string_view key, absl::string_view value)> set;
  std::function<absl::StatusOr<std::string>(absl::string_view key, absl::Duration timeout)> get;
  std::function<absl::StatusOr<std::string>(absl::string_view key)> try_get;  // may be missing
  std::function<absl::Status(absl::string_view key)> erase;                   // may be missing
};
// Missing functions return Unimplemented; without try_get, TryGet is a get with a short timeout. GetMany calls get from
// up to 16 threads.
HILO_EXPORT std::shared_ptr<KeyValueStore> MakeCallbackStore(KeyValueCallbacks callbacks);

// Waits for all `count` processes. A name may be used once. Errors: DeadlineExceeded, naming
// the processes that are missing.
HILO_EXPORT absl::Status Barrier(KeyValueStore& store, absl::string_view name, int64_t process, int64_t count,
                                 absl::Time deadline);

// The store at `address`: file:///FOLDER, or HOST:PORT of a TcpStoreServer, which process 0 (the
// caller with `serve`) starts. Only loopback addresses are served unless the host is another one.
// `token` is the secret of the job, which a TCP store needs. Errors: InvalidArgument for other
// addresses and without a token; Unavailable.
HILO_EXPORT absl::StatusOr<std::shared_ptr<KeyValueStore>> OpenStore(absl::string_view address, absl::string_view token,
                                                                     bool serve);

// --- processes whose devices run programs together (ClientOptions::processes) ---

struct ProcessGroupOptions {
  int64_t process_id = 0, process_count = 1;
  // Used by the processes to find each other; needed only until Join returns.
  std::shared_ptr<KeyValueStore> store;
  // Name of the group: each group that is made over a store, also by fewer processes after others have
  // died, needs a unique name.
  std::string name = "0";
  // Host name at which the others reach this process; empty: 127.0.0.1, for processes of one machine.
  std::string host;
  // The longest time that the processes wait for each other: to join, and in every collective.
  absl::Duration timeout = absl::Minutes(5);
  // Devices of this process.
  int64_t device_count = 1;
  // What carries data between processes: "auto" (shared memory between processes of one host that can share it, else
  // TCP), "shm" (all must share memory), "tcp", or "mpi" (docs/distributed.md); empty: HILO_TRANSPORT, else auto.
  // Processes may differ, except for mpi. Results are the same bits.
  std::string transport;
  // Whether a process that has joined before, and has been started again, may join: it does not wait for the others,
  // and takes part in runs for which ExecuteOptions::processes are given. `store` is needed as long as the group then.
  bool may_return = false;
};

// A process since it was started: when it comes back, it has another incarnation.
struct ProcessIncarnation {
  int64_t process = 0;
  uint64_t incarnation = 0;
};

// What is known of a process.
struct ProcessState {
  ProcessIncarnation process;
  absl::Status status;  // not OK: it is gone, and why
};

// The options of a process that a launcher has started, with the store at the coordinator, which rank 0
// serves. The host is HILO_HOST, else the address that the machine has towards the coordinator.
// Errors: those of OpenStore; Unavailable.
HILO_EXPORT absl::StatusOr<ProcessGroupOptions> ProcessGroupOptionsFrom(const LaunchEnvironment& launch);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_H_
