/* Shared libraries of custom calls: what one exports so that `hilo run --ffi-library=F.so` or
   hilo::LoadCustomCallLibrary can use it. Plain C; such a library need not be linked with Hilo.

     static void Add(void* out, const void** in) { ... }
     void HiloRegisterCustomCalls(const HiloCustomCallRegistrar* registrar) {
       registrar->register_target(registrar, "add", "Host", HILO_CUSTOM_CALL_ORIGINAL, (void*)Add);
     } */
#ifndef HILO_RUNTIME_FFI_CUSTOM_CALL_LIBRARY_H_
#define HILO_RUNTIME_FFI_CUSTOM_CALL_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct XlaCustomCallStatus;

/* The API versions; what their functions look like on the host stands here, and on platforms with streams in
 * runtime/ffi/custom_call_registry.h. */
enum {
  HILO_CUSTOM_CALL_ORIGINAL = 1,         /* void(void* out, const void** in) */
  HILO_CUSTOM_CALL_STATUS_RETURNING = 2, /* ..., struct XlaCustomCallStatus* status) */
  HILO_CUSTOM_CALL_STATUS_RETURNING_UNIFIED =
      3,                         /* ..., const char* opaque, size_t opaque_len, struct XlaCustomCallStatus* status) */
  HILO_CUSTOM_CALL_TYPED_FFI = 4 /* an XLA_FFI_Handler*, of the execute stage */
};

/* What the registering function is given; good while it runs, but for set_failure, which stays good. Names are copied.
   What cannot be registered (a null function, a version that does not exist, a name that is taken) makes the loading
   fail. */
typedef struct HiloCustomCallRegistrar {
  size_t struct_size;
  void* registry; /* Hilo's own */
  void (*register_target)(const struct HiloCustomCallRegistrar* registrar, const char* name, const char* platform,
                          int api_version, void* function);
  /* Handlers of all stages of a typed FFI call; all but execute may be null. */
  void (*register_ffi)(const struct HiloCustomCallRegistrar* registrar, const char* name, const char* platform,
                       void* instantiate, void* prepare, void* initialize, void* execute);
  /* Fails a call of a status returning version. */
  void (*set_failure)(struct XlaCustomCallStatus* status, const char* message, size_t message_len);
  /* The XLA_FFI_Api of the process, with which types of states are registered. */
  const struct XLA_FFI_Api* ffi_api;
} HiloCustomCallRegistrar;

/* What a library exports under this name. */
typedef void HiloRegisterCustomCallsFunction(const HiloCustomCallRegistrar* registrar);

#ifdef __cplusplus
} /* extern "C" */

#include <string>

#include "absl/status/status.h"

namespace hilo {

class CustomCallRegistry;

// Loads the shared library at `path` for the rest of the process, and calls its registration function.
// Errors: NotFound if it cannot be loaded, with the system's reason; InvalidArgument if it does not export
// HiloRegisterCustomCalls; the first error of its registrations; Internal if it throws.
absl::Status LoadCustomCallLibrary(const std::string& path, CustomCallRegistry* registry);

}  // namespace hilo
#endif

#endif /* HILO_RUNTIME_FFI_CUSTOM_CALL_LIBRARY_H_ */
