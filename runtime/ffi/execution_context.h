// The caller's objects that handlers of typed FFI calls look up by type.
#ifndef HILO_RUNTIME_FFI_EXECUTION_CONTEXT_H_
#define HILO_RUNTIME_FFI_EXECUTION_CONTEXT_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace hilo::ffi {

// Of runs (ExecuteOptions::ffi_context). Owns no objects; they must last until the runs end. Must not change while
// runs use it.
class ExecutionContext {
 public:
  // Under the id of a registered type (RegisterType, or XLA_FFI_Type_Register).
  // Errors: InvalidArgument for an unknown id; AlreadyExists.
  absl::Status Insert(int64_t type_id, void* object);
  // Null if there is none.
  void* Find(int64_t type_id) const;

 private:
  absl::flat_hash_map<int64_t, void*> objects_;
};

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_EXECUTION_CONTEXT_H_
