// What the runtime asks of LAPACK's custom calls (runtime/lapack, which defines it: the runtime does not depend on its
// targets).
#ifndef HILO_RUNTIME_LAPACK_HANDLER_H_
#define HILO_RUNTIME_LAPACK_HANDLER_H_

#include "absl/strings/string_view.h"
#include "hilo/ffi.h"

namespace hilo {

// Whether `handler` is that of the routine called `name`, which waits for nothing but the threads that it uses.
bool IsLapackHandler(absl::string_view name, XLA_FFI_Handler* handler);

}  // namespace hilo

#endif  // HILO_RUNTIME_LAPACK_HANDLER_H_
