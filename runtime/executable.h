// Executable: a compiled program on a client's devices.
#ifndef HILO_RUNTIME_EXECUTABLE_H_
#define HILO_RUNTIME_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/cancellation.h"
#include "runtime/buffer.h"
#include "runtime/compiler.h"
#include "runtime/device_assignment.h"
#include "runtime/host_callbacks.h"

namespace hilo {

struct ClientCore;
struct HostTransfers;
struct LoadedProgram;

struct ExecuteOptions {
  int device = 0;
  // Time from the call to the end of the run; infinite: the client's default.
  absl::Duration deadline = absl::InfiniteDuration();
  // Ends the run from outside. A deadline expires this token too, so use one per run.
  std::shared_ptr<CancellationToken> cancellation;
  // Numbers of the arguments that the caller donates: their buffers become invalid, and results
  // that alias them (input_output_alias) use their memory unless it is shared. Aliased
  // arguments that are kept are copied.
  absl::Span<const int64_t> donate;
  // Callbacks of send and recv instructions that are host transfers (runtime/host_callbacks.h).
  std::shared_ptr<const HostCallbacks> host_callbacks;
  // Objects for handlers of typed FFI calls; must last until the run has ended. Null: none.
  const ffi::ExecutionContext* ffi_context = nullptr;
  // The run ends before Execute returns, and its error is Execute's.
  bool synchronous = false;
  // If given, takes the event of the run's end for each device; null: it has ended already. Results become ready at it.
  std::vector<std::shared_ptr<Event>>* ends = nullptr;
};

// Metadata of a serialised executable.
struct ExecutableInfo {
  std::string platform;
  std::string target;  // the machine it is for, in the platform's terms; empty: any
  int64_t replica_count = 1, partition_count = 1;
};
// True if `bytes` begin like the result of Executable::Serialize.
bool LooksLikeExecutable(absl::string_view bytes);
// Reads the beginning only: Client::Load checks the rest. Errors: InvalidArgument,
// FailedPrecondition, as Client::Load's.
absl::StatusOr<ExecutableInfo> ReadExecutableInfo(absl::string_view bytes);

// Thread-safe: any number of concurrent runs. Keeps alive what it needs of its client.
class Executable {
 public:
  Executable(std::shared_ptr<ClientCore> core, std::shared_ptr<const LoadedProgram> program);

  // Parameters and result with their layouts.
  const ProgramShape& program_shape() const;
  const CompiledProgram& program() const;
  // The devices that the program runs on; one unless the module or CompileOptions requests more.
  const DeviceAssignment& assignment() const;
  // The indices of assignment().devices() that are devices of this process, in order: all of them, unless the client is
  // one of several processes.
  std::vector<int64_t> addressable() const;
  // Infeeds and other transfers of the program.
  const HostTransfers& host_transfers() const;

  // The program as bytes, from which Client::Load makes it again, here or in another process of the same version of
  // Hilo on a machine with all features of this one's processor. They hold native code: load only bytes trusted
  // like a shared library (docs/executables.md). Equal programs give equal bytes. Errors: Unimplemented if the platform
  // has no serialised form.
  absl::StatusOr<std::string> Serialize() const;
  // A digest of the result of Serialize: SHA-256, in hexadecimal digits. Errors: as Serialize.
  absl::StatusOr<std::string> fingerprint() const;

  // Runs on the leaves of the parameters, depth first over all of them, and returns the leaves of
  // the result. A program that is short, and does not wait for the host (infeed, outfeed, send, recv), runs on the
  // calling thread if its arguments are ready; others run on the thread of their device, in order, and the results
  // become ready later. Arguments in other layouts than the program's are converted. Errors: InvalidArgument if the
  // arguments do not fit; FailedPrecondition for deleted buffers and in a forked child; Cancelled,
  // DeadlineExceeded, ResourceExhausted, and the errors of arguments: from here if known at return,
  // else from the results' Await.
  absl::StatusOr<std::vector<std::unique_ptr<Buffer>>> Execute(absl::Span<Buffer* const> arguments,
                                                               const ExecuteOptions& options = {}) const;

  // Runs on all devices of assignment() at once, with a list of arguments for each, in the order of
  // assignment().devices(). If these are of several processes, each of them makes this call, with the arguments of its
  // own devices (addressable()), and gets their results. Each device runs on its queue. options.device is
  // ignored; donations are the same on all devices. When one device fails, options.cancellation ends the others; all
  // report that device's error. Errors: as Execute; Unavailable, naming its ranks, if another process dies.
  using ReplicatedResults = std::vector<std::vector<std::unique_ptr<Buffer>>>;
  absl::StatusOr<ReplicatedResults> ExecuteReplicated(absl::Span<const std::vector<Buffer*>> arguments,
                                                      const ExecuteOptions& options = {}) const;

  // Like Execute on literals, one per parameter (tuples as tuple literals), synchronously.
  absl::StatusOr<Literal> ExecuteLiterals(absl::Span<const Literal* const> arguments,
                                          const ExecuteOptions& options = {}) const;

 private:
  absl::StatusOr<std::vector<std::unique_ptr<Buffer>>> ExecuteUnguarded(absl::Span<Buffer* const> arguments,
                                                                        const ExecuteOptions& options) const;

  std::shared_ptr<ClientCore> core_;
  std::shared_ptr<const LoadedProgram> program_;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_EXECUTABLE_H_
