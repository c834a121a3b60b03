// Hilo's implementation of XLA's FFI: the table of functions that handlers call, and the opaque types of its C
// API.
#ifndef HILO_RUNTIME_FFI_FFI_API_H_
#define HILO_RUNTIME_FFI_FFI_API_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "hilo/ffi.h"
#include "runtime/compiler.h"
#include "runtime/ffi/call_device.h"

struct XLA_FFI_Future;

namespace hilo::ffi {

// State of a handler from one stage to the next: an object of a registered type, which is deleted with this.
class State {
 public:
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
  // Takes ownership of `object`. Errors: FailedPrecondition if one is set (ownership is unchanged); InvalidArgument for
  // unknown types.
  absl::Status Set(int64_t type_id, void* object);
  // Errors: NotFound if there is none; InvalidArgument if it is of another type.
  absl::Status Get(int64_t type_id, void** object) const;

 private:
  int64_t type_id_ = 0;
  void* object_ = nullptr;
  void (*deleter_)(void*) = nullptr;
};

// Returns what a handler returns for `status`: null if it is OK.
XLA_FFI_Error* MakeError(absl::Status status);
// Returns true if a handler is asked about itself only, and answers for one of this version.
bool AnswersMetadata(const XLA_FFI_CallFrame& frame);
// Consumes an error that a handler returned and converts it to a status; null is OK.
absl::Status TakeError(XLA_FFI_Error* error);
// Consumes a future that a handler returned: waits until it is complete.
absl::Status AwaitFuture(XLA_FFI_Future* future);

}  // namespace hilo::ffi

// The context of one call of a handler: for the stages of a run, or for instantiation (run is null).
struct XLA_FFI_InvokeContext {
  const hilo::RunContext* run = nullptr;
  hilo::ffi::CallDevice* device = nullptr;  // null: the call is on memory of the host
  int stage = 0;
  // Of instantiate, prepare and initialize.
  std::array<hilo::ffi::State*, 3> states = {};
  // Scratch memory that has not been freed; released with the context.
  std::mutex mutex;
  absl::flat_hash_map<void*, size_t> scratch;

  ~XLA_FFI_InvokeContext();
};

#endif  // HILO_RUNTIME_FFI_FFI_API_H_
