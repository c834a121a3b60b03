// Client: the C++ entry point of Hilo.
//
//   auto client = hilo::Client::Create({.platform = "cpu"});
//   auto executable = (*client)->Compile(computation);
//   auto result = (*executable)->ExecuteLiterals({&x, &y});
#ifndef HILO_CLIENT_H_
#define HILO_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "hilo/collectives.h"
#include "hilo/executable.h"
#include "hilo/export.h"
#include "hilo/ffi.h"
#include "hilo/host.h"
#include "hilo/literal.h"
#include "hilo/shape.h"
#include "hilo/xla_builder.h"

namespace hilo {

struct ClientCore;

// What the cache of compiled programs has done for one client.
struct DiskCacheStats {
  int64_t hits = 0;      // programs loaded
  int64_t misses = 0;    // not found
  int64_t rejected = 0;  // found, but damaged or unusable here
  int64_t writes = 0;
};

struct ClientOptions {
  std::string platform = "cpu";
  // Devices that work independently of each other, each on a separate thread.
  int device_count = 1;
  // Threads that one run may use, the calling one included; 0: as many as the process has
  // processors (affinity, control groups, HILO_NUM_THREADS). With 1, one device
  // and synchronous runs there are no threads but the caller's.
  int num_threads = 0;
  // The embedder's pool, used instead of Hilo's own; must outlive the client and its executables.
  ThreadPool* thread_pool = nullptr;
  // The allocator of buffers; null: the system's. Must outlive the client and its buffers.
  HostAllocator* host_allocator = nullptr;
  // Bytes of buffers and temporary memory, on each device with separate memory, or on the host; 0: no limit.
  int64_t memory_limit = 0;
  // The deadline of runs that set none.
  absl::Duration default_deadline = absl::InfiniteDuration();
  // Folder in which compiled programs are kept for later processes (docs/executables.md), created if it is missing;
  // empty: none. Write access to it allows running code here. Without a value: the variable HILO_CACHE_DIR.
  std::optional<std::string> cache_dir;
  // Bytes that the folder may hold; the least recently used entries are removed first.
  int64_t cache_limit = int64_t{1} << 30;
  // The processes whose devices run programs together with those of this one (docs/distributed.md); Create waits for
  // them all. device_count stays the number of this process's own devices, and `processes->device_count` is set to it.
  // None: this process is alone.
  std::optional<ProcessGroupOptions> processes;
};

// Options for loading a serialized executable.
struct LoadOptions {
  // As in CompileOptions; empty: the devices that the executable was compiled for.
  std::vector<int> devices;
  const CustomCallRegistry* custom_calls = nullptr;
  bool perf_jitdump = false;
};

// Thread-safe. Executables and buffers may outlive it.
class HILO_EXPORT Client {
 public:
  // Errors: InvalidArgument for options out of range and unknown platforms; Unavailable for a
  // platform that is unavailable; and, with
  // ClientOptions::processes, DeadlineExceeded naming the processes that are missing.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const ClientOptions& options);

  std::string platform() const;
  // The devices of this process. Buffers and runs on one device name them from 0.
  int device_count() const;
  // This process among those of ClientOptions::processes, and the devices of all of them. Assignments
  // (CompileOptions::devices) name devices by numbers that count those of all processes; device D of this one is
  // first_device() + D there.
  int64_t process_id() const;
  int64_t process_count() const;
  int64_t global_device_count() const;
  int64_t first_device() const;
  // The process that owns this device, numbered among all devices.
  int64_t process_of(int device) const;
  // Tells the client what its caller has learnt of the processes: runs that wait for one that is gone fail at once.
  void UpdateProcesses(absl::Span<const ProcessState> states);
  // Of the device's memory; devices on the host share one.
  MemoryStats memory_stats(int device = 0) const;
  // Resets the peak of memory_stats() to the current use. Errors: InvalidArgument for a device that does not
  // exist.
  absl::Status ResetPeakMemory(int device = 0);
  // Whether the host can read the memory of buffers.
  bool memory_is_on_host() const;
  // The functions of custom calls that are available in this client besides those of CustomCallRegistry::Default().
  CustomCallRegistry* custom_call_registry() const;

  // Errors: InvalidArgument if the program is wrong; Unimplemented naming what the platform lacks;
  // ResourceExhausted past a limit; Cancelled and DeadlineExceeded; FailedPrecondition in a forked child.
  absl::StatusOr<std::unique_ptr<Executable>> Compile(const XlaComputation& computation,
                                                      const CompileOptions& options = {});
  absl::StatusOr<std::unique_ptr<Executable>> CompileHloText(absl::string_view text,
                                                             const CompileOptions& options = {});
  // A serialized HloModuleProto or HloProto.
  absl::StatusOr<std::unique_ptr<Executable>> CompileHloProto(absl::string_view bytes,
                                                              const CompileOptions& options = {});

  // Makes an executable from the result of Executable::Serialize. The bytes may be anything: damaged ones are rejected.
  // But intact ones are native code that runs with the rights of this process. Custom calls are looked up again, and
  // handlers instantiated. Errors: InvalidArgument, with the position, if the bytes are no serialized executable or are
  // damaged, and if the client lacks the devices; FailedPrecondition naming what it was made for, if that is
  // another platform, version or machine; NotFound for custom calls that are not registered; ResourceExhausted.
  absl::StatusOr<std::unique_ptr<Executable>> Load(absl::string_view bytes, const LoadOptions& options = {});

  // Statistics of the cache folder for this client.
  DiskCacheStats cache_stats() const;

  // A copy of an array (or token), in the layout of `layout` if given, else row-major.
  // Errors: InvalidArgument for tuples, and layouts that do not fit; ResourceExhausted.
  absl::StatusOr<std::unique_ptr<Buffer>> BufferFromLiteral(const Literal& literal, int device = 0,
                                                            const Shape* layout = nullptr);
  // Host memory in the layout of `shape`. With a `release` callback, memory aligned to 64 bytes is
  // used in place: it must not change until `release` has been called, on any thread. Otherwise,
  // and always for elements of fewer than 8 bits, whose unused bits may be any, it is copied, and
  // `release` is called at once. Errors: InvalidArgument if `shape` is no array; ResourceExhausted.
  // After an error `release` is not called.
  absl::StatusOr<std::unique_ptr<Buffer>> BufferFromHostMemory(const void* data, const Shape& shape, int device = 0,
                                                               std::function<void()> release = nullptr);
  // Like BufferFromHostMemory for device memory that another library has allocated: used in place if it is aligned as
  // the backend's own. Pending writes to it must be complete. Errors: as above.
  absl::StatusOr<std::unique_ptr<Buffer>> BufferFromDeviceMemory(const void* data, const Shape& shape, int device = 0,
                                                                 std::function<void()> release = nullptr);
  // Puts an item, an array or a tuple of arrays, into the device's infeed, from which programs take one with each
  // infeed. Waits while the items there have more than 1 GiB. When a run that uses the queues of a device fails, they
  // are emptied, and calls that wait fail with its error. Errors: InvalidArgument for other shapes; DeadlineExceeded;
  // Cancelled; ResourceExhausted.
  absl::Status TransferToInfeed(const Literal& literal, int device = 0, const TransferOptions& options = {});
  // Waits for the next item that a program has put into the device's outfeed, and takes it. Errors: InvalidArgument if
  // it is not of a shape compatible with `shape` (it is taken all the same); DeadlineExceeded; Cancelled; the error of
  // the last run, if that used the queues and failed.
  absl::StatusOr<Literal> TransferFromOutfeed(const Shape& shape, int device = 0, const TransferOptions& options = {});
  // Of any shape.
  absl::StatusOr<Literal> TransferFromOutfeed(int device = 0, const TransferOptions& options = {});

 private:
  friend struct RuntimeAccess;
  explicit Client(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
  std::shared_ptr<ClientCore> core_;
};

}  // namespace hilo

#endif  // HILO_CLIENT_H_
