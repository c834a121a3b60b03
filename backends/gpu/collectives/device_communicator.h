// The seam between collectives on a GPU's memory and who performs them: NCCL, or the emulated communicator.
//
// The calls are NCCL's, one for one, on addresses of the device and queued on a stream; what of HLO they mean is
// decided in collective_thunk.cc. A communicator joins `size` ranks, numbered from 0, each of which holds its own
// DeviceCommunicator and uses it from one thread at a time. All ranks make the same collective calls in the same order;
// a Send is matched with the Receive of the peer, in order. Calls between GroupStart and GroupEnd are one: they wait
// for each other's peers together.
//
// A call fails at once if it is wrong in itself (InvalidArgument, Unimplemented for types) or the communicator is
// broken (the error that broke it). What goes wrong on the device comes out of AsyncError(), and the stream then goes
// on: its results are not to be used.
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
#include "shape/primitive_type.h"

namespace hilo::gpu {

enum class DeviceReduction : uint8_t { kSum, kProd, kMax, kMin };
absl::string_view DeviceReductionName(DeviceReduction reduction);

// Whether the calls take elements of `type`: S8, U8, S32, U32, S64, U64, F16, BF16, F32, F64.
bool IsCommunicable(PrimitiveType type);

// Asked while a call waits for other ranks; an error ends the wait and comes out of the call.
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

  // All ranks call it; those with the same `color` make a communicator, numbered by `key`. Color -1: none, and null is
  // returned.
  virtual absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Split(int64_t color, int64_t key,
                                                                    const KeepWaiting& keep_waiting) = 0;

  // OK as long as nothing has gone wrong on the device or at another rank. Thread-safe.
  virtual absl::Status AsyncError() = 0;
  // Breaks the communicator: what is queued comes to an end without results, and every later call fails with `why`.
  // Thread-safe; the first reason stays.
  virtual void Abort(const absl::Status& why) = 0;
};

// Makes communicators. Thread-safe.
class DeviceCommunicatorLibrary {
 public:
  virtual ~DeviceCommunicatorLibrary() = default;
  // "NCCL 2.28.9", "emulated". Errors: Unavailable if the library cannot be loaded, and so for the others.
  virtual absl::StatusOr<std::string> Version() = 0;
  // What one rank makes and gives to the others.
  virtual absl::StatusOr<std::string> MakeUniqueId() = 0;
  // Waits for the other ranks. `driver` is the rank's device, number `device` of its platform.
  virtual absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Create(const std::string& unique_id, int64_t size,
                                                                     int64_t rank, GpuDriver& driver, int device,
                                                                     const KeepWaiting& keep_waiting) = 0;
};

// The library of a platform of gpu_platform.h.
std::shared_ptr<DeviceCommunicatorLibrary> CommunicatorLibraryOf(absl::string_view platform);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_COMMUNICATOR_H_
