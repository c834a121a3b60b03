// The interface between collectives on GPU memory and their implementation: NCCL, or the emulated communicator.
//
// The calls correspond one to one to NCCL's, take device addresses and are queued on a stream; collective_thunk.cc maps
// HLO to them. A communicator joins `size` ranks, numbered from 0, each of which holds its own DeviceCommunicator and
// uses it from one thread at a time. All ranks make the same collective calls in the same order; a Send is matched with
// the Receive of the peer, in order. Calls between GroupStart and GroupEnd form one operation: they wait for each
// other's peers together.
//
// A call fails at once if its arguments are invalid (InvalidArgument, Unimplemented for types) or the communicator is
// broken (the error that broke it). AsyncError() returns errors that occur on the device; the stream then continues,
// and its results must not be used.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_COMMUNICATOR_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {

enum class DeviceReduction : uint8_t { kSum, kProd, kMax, kMin };
absl::string_view DeviceReductionName(DeviceReduction reduction);

// Returns true if the calls take elements of `type`: S8, U8, S32, U32, S64, U64, F16, BF16, F32, F64.
bool IsCommunicable(PrimitiveType type);

// Polled while a call waits for other ranks; an error ends the wait and is returned by the call.
using KeepWaiting = std::function<absl::Status()>;

class DeviceCommunicator {
 public:
  virtual ~DeviceCommunicator() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  virtual absl::Status GroupStart() = 0;
  virtual absl::Status GroupEnd() = 0;

  // Counts are elements. `send` and `receive` are equal or do not overlap.
  virtual absl::Status AllReduce(const void* send, void* receive, int64_t count, PrimitiveType type,
                                 DeviceReduction reduction, GpuStream& stream) = 0;
  // `send` holds size() pieces of `count` elements; rank i receives the sum of the i-th.
  virtual absl::Status ReduceScatter(const void* send, void* receive, int64_t count, PrimitiveType type,
                                     DeviceReduction reduction, GpuStream& stream) = 0;
  // Every rank sends `count` elements.
  virtual absl::Status AllGather(const void* send, void* receive, int64_t count, PrimitiveType type,
                                 GpuStream& stream) = 0;
  virtual absl::Status Broadcast(const void* send, void* receive, int64_t count, PrimitiveType type, int64_t root,
                                 GpuStream& stream) = 0;
  virtual absl::Status Send(const void* data, int64_t count, PrimitiveType type, int64_t peer, GpuStream& stream) = 0;
  virtual absl::Status Receive(void* data, int64_t count, PrimitiveType type, int64_t peer, GpuStream& stream) = 0;
  // Piece i of `count` elements goes to rank i. Unimplemented unless has_all_to_all(): it is then size() sends and
  // receives in a group.
  virtual absl::Status AllToAll(const void* send, void* receive, int64_t count, PrimitiveType type,
                                GpuStream& stream) = 0;
  virtual bool has_all_to_all() const = 0;

  // All ranks must call it; those with the same `color` form a communicator, ranked by `key`. Color -1 joins none: null
  // is returned.
  virtual absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Split(int64_t color, int64_t key,
                                                                    const KeepWaiting& keep_waiting) = 0;

  // Returns OK as long as there is no error on the device or at another rank. Thread-safe.
  virtual absl::Status AsyncError() = 0;
  // Breaks the communicator: queued work completes without results, and every later call fails with `why`. Thread-safe;
  // the first reason is kept.
  virtual void Abort(const absl::Status& why) = 0;
};

// Creates communicators. Thread-safe.
class DeviceCommunicatorLibrary {
 public:
  virtual ~DeviceCommunicatorLibrary() = default;
  // "NCCL 2.28.9", "emulated". Errors, as for the other calls: Unavailable if the library cannot be loaded.
  virtual absl::StatusOr<std::string> Version() = 0;
  // Created by one rank and distributed to the others.
  virtual absl::StatusOr<std::string> MakeUniqueId() = 0;
  // Waits for the other ranks. `driver` drives the rank's device, which has index `device` in its platform.
  virtual absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Create(const std::string& unique_id, int64_t size,
                                                                     int64_t rank, GpuDriver& driver, int device,
                                                                     const KeepWaiting& keep_waiting) = 0;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_COMMUNICATOR_H_
