// State shared by a client, its executables and their runs. Private to the runtime.
#ifndef HILO_RUNTIME_CLIENT_CORE_H_
#define HILO_RUNTIME_CLIENT_CORE_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/time/time.h"
#include "collectives/processes/process_group.h"
#include "hilo/executable.h"
#include "hilo/ffi.h"
#include "hilo/host.h"
#include "runtime/buffer_value.h"
#include "runtime/compiler.h"
#include "runtime/device_queue.h"
#include "runtime/disk_cache.h"
#include "runtime/host_memory.h"
#include "runtime/transfer_queue.h"
#include "runtime/watchdog.h"

namespace hilo {

// Allocates a block of `memory` and copies the literal's elements into it, in the layout of `shape`.
absl::StatusOr<std::shared_ptr<MemoryBlock>> MakeBlock(const Literal& literal, const Shape& shape, HostMemory* memory);

struct ClientCore {
  ClientCore() = default;
  // In a forked child the threads do not exist, and objects that wait for them are leaked.
  ~ClientCore();

  // Returns FailedPrecondition in a forked child.
  absl::Status CheckProcess() const;
  // Returns InvalidArgument if the client has no device of this number.
  absl::Status CheckDevice(int device) const;
  // Returns the number of devices of all processes together.
  int64_t global_device_count() const;
  // Returns the process that has the device with this number among those of all processes.
  int64_t ProcessOf(int global_device) const;
  // As Client::BufferFromLiteral, with the layout of `shape`.
  absl::StatusOr<std::unique_ptr<Buffer>> BufferFromLiteral(const Literal& literal, int device,
                                                            const Shape& shape) const;

  int fork_generation = 0;
  CustomCallRegistry custom_calls{&CustomCallRegistry::Default()};
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<ThreadPool> own_pool;
  ThreadPool* pool = nullptr;                         // null: one thread
  std::vector<std::shared_ptr<HostMemory>> memories;  // one per device; on the host it is the same for all
  absl::Duration default_deadline;
  std::unique_ptr<DiskCache> cache;  // null: none
  std::unique_ptr<Watchdog> watchdog = std::make_unique<Watchdog>();
  std::vector<std::unique_ptr<TransferQueues>> transfers;  // one per device
  std::shared_ptr<ProcessGroup> processes;                 // null: this process runs alone
  int first_device = 0;                                    // the number of this process's device 0 among those of all
  // Held while work is enqueued to several queues: launches have the same order on all devices.
  std::mutex launching;
  // Where the ends of runs that are pending on a device are awaited, in their order; one per device.
  std::vector<std::unique_ptr<DeviceQueue>> completions;
  std::vector<std::unique_ptr<DeviceQueue>> queues;  // one per device; destroyed first, and so finishes its work
};

}  // namespace hilo

#endif  // HILO_RUNTIME_CLIENT_CORE_H_
