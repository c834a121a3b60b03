// Memory of a device that the host can access by copies only.
#ifndef HILO_RUNTIME_DEVICE_MEMORY_H_
#define HILO_RUNTIME_DEVICE_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hilo {

// A backend whose device has separate memory provides one of these per device (Compiler::OpenDevice). Addresses are
// the device's. Thread-safe.
//
// Copies return when they are complete: the source may change then, and runs that begin later see the result.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // The alignment that programs require of the first byte of every array, in bytes.
  virtual int64_t alignment() const = 0;
  // `size` > 0 bytes, not initialized, so aligned. Errors: ResourceExhausted with requested, free and total bytes.
  virtual absl::StatusOr<void*> Allocate(int64_t size) = 0;
  // Runs that have begun (CompiledProgram::Begin) may still use the memory.
  virtual void Free(void* memory, int64_t size) = 0;

  virtual absl::Status CopyFromHost(void* to, const void* from, int64_t size) = 0;
  virtual absl::Status CopyToHost(void* to, const void* from, int64_t size) = 0;
  // From another address on the device, or from another device of the platform.
  virtual absl::Status CopyWithin(void* to, const void* from, int64_t size) = 0;

  // Waits for the work that another library has queued on a stream of the device's platform (CUDA: a cudaStream_t).
  virtual absl::Status AwaitStream(void* stream) = 0;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_DEVICE_MEMORY_H_
