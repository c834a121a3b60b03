// Executable: a compiled program on a client's devices. Buffer: an array on a device, which programs take and return.
#ifndef HILO_EXECUTABLE_H_
#define HILO_EXECUTABLE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "hilo/collectives.h"
#include "hilo/export.h"
#include "hilo/host.h"
#include "hilo/literal.h"
#include "hilo/shape.h"

namespace hilo {

struct BufferValue;
struct ClientCore;
class CustomCallRegistry;
struct LoadedProgram;
namespace ffi {
class ExecutionContext;
}

// --- buffers ---

// Completes once, with a status. Thread-safe. In a process that was forked before it completed, whose threads stayed in
// the parent, it never will: there Await returns FailedPrecondition, and OnDone passes it.
class HILO_EXPORT Event {
 public:
  Event();
  // Only the first call has an effect. Wakes waiters, then runs the callbacks on the calling thread.
  void Set(absl::Status status);
  bool done() const { return done_.load(std::memory_order_acquire); }
  // Waits, and returns the status of Set.
  absl::Status Await() const;
  // Calls `callback` once the event has completed: immediately on this thread if it has.
  void OnDone(std::function<void(const absl::Status&)> callback);

 private:
  // OK if the event may still complete in this process.
  absl::Status CheckProcess() const;

  const int fork_generation_;
  std::atomic<bool> done_{false};
  mutable std::mutex mutex_;
  mutable std::condition_variable happened_;
  absl::Status status_;
  std::vector<std::function<void(const absl::Status&)>> callbacks_;
};

// One array on a device, possibly not computed yet. A handle. Thread-safe. Destroying it is safe at any time: runs that
// use the value keep it.
class HILO_EXPORT Buffer {
 public:
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const Shape& shape() const { return *shape_; }
  int device() const { return device_; }

  // Waits until the value is computed. Errors: those of the run that should have computed it;
  // FailedPrecondition if deleted or donated.
  absl::Status Await() const;
  bool IsReady() const;
  // Calls `callback` with the result of Await once that would not block, on any thread.
  void OnReady(std::function<void(const absl::Status&)> callback) const;

  // Waits. Errors: as Await; ResourceExhausted.
  absl::StatusOr<Literal> ToLiteral() const;
  // Waits; the ShapeUtil::ByteSizeOf(shape()) bytes of the array in its layout, on the host, for as long as the result
  // lives: those of the buffer, or a copy if it is not on the host. Null for tokens. Errors: as ToLiteral.
  absl::StatusOr<std::shared_ptr<const uint8_t>> Bytes() const;

  // Releases the value; its memory is freed when the last run that uses it is done.
  void Delete();
  bool IsDeleted() const;

 private:
  friend struct RuntimeAccess;
  Buffer(std::shared_ptr<const Shape> shape, int device, std::shared_ptr<BufferValue> value)
      : shape_(std::move(shape)), device_(device), value_(std::move(value)) {}
  absl::StatusOr<std::shared_ptr<BufferValue>> Share() const;
  absl::StatusOr<std::shared_ptr<BufferValue>> Donate();

  const std::shared_ptr<const Shape> shape_;
  const int device_;
  mutable std::mutex mutex_;
  std::shared_ptr<BufferValue> value_;  // null: deleted or donated
  bool donated_ = false;
};

// --- compilation ---

struct CompileOptions {
  // Devices that run the program together; 0: as the module states. `devices` are the client's numbers for them, that
  // of replica r and partition p at r * num_partitions + p (DeviceAssignment's partition_count); empty: 0, 1, 2 ...
  int64_t replica_count = 0, num_partitions = 0;
  std::vector<int> devices;
  // The module is the program of one partition already, as XLA writes it after partitioning: its shapes are those of
  // tiles, and its shardings only describe their origin. So is one with is_spmd_partitioned=true in its header, and
  // an HloModuleProto with spmd_output_sharding.
  bool partitioned = false;
  // Results follow each element type exactly: no contraction of multiply and add, f16 and bf16 rounded after every
  // operation.
  bool strict = false;
  // Denormal inputs and results count as zero, as in XLA on CPUs; otherwise they are kept. (docs/numerics.md)
  bool flush_denormals = false;
  // Target processor by LLVM's name or x86-64, x86-64-v3, x86-64-v4; empty: this machine's.
  std::string cpu;
  // Names of passes to leave out (hilo opt --list-passes); passes that correctness needs cannot be left out.
  std::vector<std::string> disabled_passes;
  // Folder for numbered dumps of every stage; empty: none. Made if missing.
  std::string dump_dir;
  // Checks the module between all passes, not only between stages.
  bool verify_each_pass = false;
  // A compilation that takes longer fails with DeadlineExceeded. The clock starts with the call.
  absl::Duration deadline = absl::InfiniteDuration();
  // Ends the compilation from outside. A deadline expires this token too, so use one per compilation. It is
  // polled between and within passes and between functions.
  std::shared_ptr<CancellationToken> cancellation;
  // Writes a jitdump for perf.
  bool perf_jitdump = false;
  // Arrays larger than this many elements are not computed at compile time.
  int64_t constant_folding_limit = 1 << 16;
  // The registry of custom calls; must last until the compilation ends. Null: the client's.
  const CustomCallRegistry* custom_calls = nullptr;
};

// A table of replica_count x partition_count numbers of devices. Devices are also listed flat: that of replica r and
// partition p is number r * partition_count + p.
class HILO_EXPORT DeviceAssignment {
 public:
  // One device: number 0.
  DeviceAssignment() = default;
  // Devices 0, 1, 2 ... in order.
  DeviceAssignment(int64_t replica_count, int64_t partition_count);
  // Errors: InvalidArgument unless there are replica_count * partition_count different devices, none negative.
  static absl::StatusOr<DeviceAssignment> Create(int64_t replica_count, int64_t partition_count,
                                                 absl::Span<const int> devices);

  int64_t replica_count() const { return replica_count_; }
  int64_t partition_count() const { return partition_count_; }
  int64_t device_count() const { return static_cast<int64_t>(devices_.size()); }
  int operator()(int64_t replica, int64_t partition) const { return devices_[replica * partition_count_ + partition]; }
  absl::Span<const int> devices() const { return devices_; }
  // "{{0,1},{2,3}}": a list of partitions for every replica.
  std::string ToString() const;

 private:
  int64_t replica_count_ = 1, partition_count_ = 1;
  std::vector<int> devices_ = {0};
};

// --- the host's callbacks for the send and recv instructions of a run that are host transfers ---

// Callbacks are called on the thread of the run, of device `device`, and block it; on several devices they may be
// called concurrently. Their errors end the run.
struct SendCallback {
  int64_t channel_id = 0;
  // Takes the data that a `send` of the channel sends.
  std::function<absl::Status(int device, const Literal& data)> callback;
};
struct RecvCallback {
  int64_t channel_id = 0;
  // Returns the data for a `recv` of the channel, of a shape compatible with `shape`. Called when the `recv-done`
  // runs.
  std::function<absl::StatusOr<Literal>(int device, const Shape& shape)> callback;
};

struct HostCallbacks {
  std::vector<SendCallback> sends;
  std::vector<RecvCallback> recvs;
};

// --- runs ---

// Limits on how long a call may wait.
struct TransferOptions {
  absl::Duration deadline = absl::InfiniteDuration();
  std::shared_ptr<const CancellationToken> cancellation;  // null: the call cannot be cancelled
};

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
  // Callbacks of send and recv instructions that are host transfers.
  std::shared_ptr<const HostCallbacks> host_callbacks;
  // Objects for handlers of typed FFI calls; must last until the run has ended. Null: none.
  const ffi::ExecutionContext* ffi_context = nullptr;
  // The run ends before Execute returns, and its error is Execute's.
  bool synchronous = false;
  // The processes that live, as all of them have agreed; empty: those of ClientOptions::processes, none of which may
  // have gone. When one of these goes, every run with the same processes fails (docs/distributed.md).
  absl::Span<const ProcessIncarnation> processes;
  // If given, takes the event of the run's end for each device; null: it has ended already. Results become ready when
  // it completes.
  std::vector<std::shared_ptr<Event>>* ends = nullptr;
};

// Metadata of a serialized executable.
struct ExecutableInfo {
  std::string platform;
  std::string target;  // the machine it is for, in the platform's terms; empty: any
  int64_t replica_count = 1, partition_count = 1;
};
// True if `bytes` begin like the result of Executable::Serialize.
HILO_EXPORT bool LooksLikeExecutable(absl::string_view bytes);
// Reads the beginning only: Client::Load checks the rest. Errors: InvalidArgument,
// FailedPrecondition, as Client::Load's.
HILO_EXPORT absl::StatusOr<ExecutableInfo> ReadExecutableInfo(absl::string_view bytes);

// Thread-safe: any number of concurrent runs. Keeps alive what it needs of its client.
class HILO_EXPORT Executable {
 public:
  // Parameters and result with their layouts.
  const ProgramShape& program_shape() const;
  // Bytes of temporary memory that a run uses, and of the program's code.
  int64_t temp_bytes() const;
  int64_t code_bytes() const;
  // An estimate of the time of a run.
  int64_t estimated_nanoseconds() const;
  // The devices that the program runs on; one unless the module or CompileOptions requests more.
  const DeviceAssignment& assignment() const;
  // The indices of assignment().devices() that are devices of this process, in order: all of them, unless the client is
  // one of several processes.
  std::vector<int64_t> addressable() const;

  // The program as bytes, from which Client::Load makes it again, here or in another process of the same version of
  // Hilo on a machine with all features of this one's processor. They hold native code: load only bytes trusted
  // like a shared library (docs/executables.md). Equal programs give equal bytes. Errors: Unimplemented if the platform
  // has no serialized form.
  absl::StatusOr<std::string> Serialize() const;
  // A digest of the result of Serialize: SHA-256, in hexadecimal digits. Errors: as Serialize.
  absl::StatusOr<std::string> fingerprint() const;

  // Runs on the leaves of the parameters, depth first over all of them, and returns the leaves of the result. A program
  // of less than 50 us by the estimate of its compiler, which does not wait for the host (infeed, outfeed, send, recv),
  // runs on the calling thread if its arguments are ready; others run on a thread of their device, and the results
  // become ready later. They run in order, but for programs without side effects whose arguments are ready and not
  // donated: two of these may run at once, one thread each. Arguments in other layouts than the program's are
  // converted. Errors: InvalidArgument if the arguments do not fit; FailedPrecondition for deleted buffers and in a
  // forked child; Cancelled, DeadlineExceeded, ResourceExhausted, and the errors of arguments: from here if known at
  // return, else from the results' Await, and from options.ends. Waits for the end of a program without results and
  // transfers, since nothing else would report its error, unless options.ends is given or a custom call on a device's
  // thread makes the call.
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
  friend struct RuntimeAccess;
  Executable(std::shared_ptr<ClientCore> core, std::shared_ptr<const LoadedProgram> program);
  absl::StatusOr<std::vector<std::unique_ptr<Buffer>>> ExecuteUnguarded(absl::Span<Buffer* const> arguments,
                                                                        const ExecuteOptions& options) const;

  std::shared_ptr<ClientCore> core_;
  std::shared_ptr<const LoadedProgram> program_;
};

}  // namespace hilo

#endif  // HILO_EXECUTABLE_H_
