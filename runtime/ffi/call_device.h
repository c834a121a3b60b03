// The interface to the device for custom calls on its memory.
#ifndef HILO_RUNTIME_FFI_CALL_DEVICE_H_
#define HILO_RUNTIME_FFI_CALL_DEVICE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hilo::ffi {

// Lives as long as the call.
class CallDevice {
 public:
  virtual ~CallDevice() = default;
  // In the form that functions for the platform take.
  virtual void* stream() = 0;
  // Scratch memory in the order of the stream, aligned to 256 bytes. Errors: ResourceExhausted.
  virtual absl::StatusOr<void*> Allocate(int64_t bytes) = 0;
  // Work that is already queued may still use it.
  virtual absl::Status Free(void* memory) = 0;
};

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_CALL_DEVICE_H_
