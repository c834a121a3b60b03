/* Custom calls: functions of yours that programs call (docs/custom_calls.md). The first part is plain C, for shared
   libraries of custom calls that `hilo run --ffi-library=F.so` or hilo::LoadCustomCallLibrary loads. Such a library
   need not be linked with Hilo.

     static void Add(void* out, const void** in) { ... }
     void HiloRegisterCustomCalls(const HiloCustomCallRegistrar* registrar) {
       registrar->register_target(registrar, "add", "Host", HILO_CUSTOM_CALL_ORIGINAL, (void*)Add);
     } */
#ifndef HILO_FFI_H_
#define HILO_FFI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct XlaCustomCallStatus;

/* The API versions; what their functions look like on the host stands here, and on platforms with streams
 * below. */
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
/* Of XLA's FFI C API; handlers are compiled against the header that declares all of it. */
struct XLA_FFI_Api;
struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;
typedef XLA_FFI_Error* XLA_FFI_Handler(XLA_FFI_CallFrame* call_frame);
} /* extern "C" */

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/export.h"
#include "hilo/xla_data.h"

namespace hilo {

// --- failure of functions of the status-returning API versions ---
HILO_EXPORT void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus* status);
// The message is copied.
HILO_EXPORT void XlaCustomCallStatusSetFailure(XlaCustomCallStatus* status, const char* message, size_t message_len);

// --- the functions of custom calls, by name and platform ---
//
//   void Add(void* out, const void** in) { ... }
//   CustomCallRegistry::Default().Register("add", &Add);                  // for every client
//   client->custom_call_registry()->Register("add", &Add);               // for one, with priority over the default
//
// A program resolves its functions when it is compiled, and keeps them.

// The platform of functions that work on memory of the host. Platform names are case-insensitive.
inline constexpr absl::string_view kHostPlatform = "Host";

// The arguments of a function of each version: in[k] is array k of the operands, out the result array; tuples are
// flattened, and for a tuple result out is an array of the addresses of its arrays. Tokens and empty arrays are null.
// Arrays are dense, in the layouts that the call states (row-major without), and aligned to 16 bytes.
using CustomCallOriginal = void(void* out, const void** in);
using CustomCallStatusReturning = void(void* out, const void** in, XlaCustomCallStatus* status);
// With the call's backend_config, on platforms that have no streams.
using CustomCallStatusReturningUnified = void(void* out, const void** in, const char* opaque, size_t opaque_len,
                                              XlaCustomCallStatus* status);

// On platforms with streams, functions of the first version, and of the two others, get the stream for their work,
// and the addresses of the arrays on the device: those of the operands, then those of the results.
using CustomCallOnStream = void(void* stream, void** buffers, const char* opaque, size_t opaque_len);
using CustomCallOnStreamStatusReturning = void(void* stream, void** buffers, const char* opaque, size_t opaque_len,
                                               XlaCustomCallStatus* status);

// The handlers of a typed FFI call, one per stage (spec: XLA_FFI_ExecutionStage); all but `execute` may be null. The
// first runs once when a program is compiled, the others in order at every call.
struct FfiHandlers {
  XLA_FFI_Handler* instantiate = nullptr;
  XLA_FFI_Handler* prepare = nullptr;
  XLA_FFI_Handler* initialize = nullptr;
  XLA_FFI_Handler* execute = nullptr;
  bool operator==(const FfiHandlers&) const = default;
};

struct CustomCallTarget {
  // API_VERSION_UNSPECIFIED: a function of one of the untyped versions; the call states which.
  CustomCallApiVersion api_version = API_VERSION_UNSPECIFIED;
  void* function = nullptr;  // of an untyped version
  FfiHandlers handlers;      // API_VERSION_TYPED_FFI
  bool operator==(const CustomCallTarget&) const = default;
};

// Thread-safe. Registrations are permanent.
class HILO_EXPORT CustomCallRegistry {
 public:
  // `parent` is searched for targets that are missing here; it must outlive this one.
  explicit CustomCallRegistry(const CustomCallRegistry* parent = nullptr) : parent_(parent) {}
  CustomCallRegistry(const CustomCallRegistry&) = delete;
  CustomCallRegistry& operator=(const CustomCallRegistry&) = delete;

  // The registry of the process.
  static CustomCallRegistry& Default();

  // A name may have one typed and one untyped target per platform.
  // Errors: AlreadyExists if it has another one; InvalidArgument for an empty name and null functions.
  absl::Status Register(absl::string_view name, absl::string_view platform, const CustomCallTarget& target);
  absl::Status Register(absl::string_view name, CustomCallOriginal* function,
                        absl::string_view platform = kHostPlatform);
  absl::Status Register(absl::string_view name, CustomCallStatusReturning* function,
                        absl::string_view platform = kHostPlatform);
  absl::Status Register(absl::string_view name, CustomCallStatusReturningUnified* function,
                        absl::string_view platform = kHostPlatform);
  absl::Status RegisterFfi(absl::string_view name, const FfiHandlers& handlers,
                           absl::string_view platform = kHostPlatform);
  absl::Status RegisterFfi(absl::string_view name, XLA_FFI_Handler* execute,
                           absl::string_view platform = kHostPlatform);

  // The target `name` for a call of `api_version`, on the first of `platforms` that has one.
  // Errors: NotFound naming target and platform; InvalidArgument if the target is of another version.
  absl::StatusOr<CustomCallTarget> Find(absl::string_view name, absl::Span<const absl::string_view> platforms,
                                        CustomCallApiVersion api_version) const;

 private:
  const CustomCallTarget* FindHere(absl::string_view name, absl::string_view platform, bool typed) const;

  const CustomCallRegistry* const parent_;
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, bool>, CustomCallTarget> targets_;  // name, platform, typed
};

// Calls `function`, which registers custom calls as that of a library does.
// Errors: the first error of its registrations; Internal if it throws.
HILO_EXPORT absl::Status RegisterCustomCalls(HiloRegisterCustomCallsFunction* function, CustomCallRegistry* registry);

// Loads the shared library at `path` for the rest of the process, and calls its registration function.
// Errors: NotFound if it cannot be loaded, with the system's reason; InvalidArgument if it does not export
// HiloRegisterCustomCalls; the first error of its registrations; Internal if it throws.
HILO_EXPORT absl::Status LoadCustomCallLibrary(const std::string& path, CustomCallRegistry* registry);

namespace ffi {

// For code that calls XLA_FFI_GetApi(): the only table of the process.
HILO_EXPORT const XLA_FFI_Api* GetXlaFfiApi();

// --- the caller's objects that handlers of typed FFI calls look up by type ---

struct TypeInfo {
  void (*deleter)(void* object) = nullptr;  // null: objects of the type are not deleted
};

// The number of type `name` in this process, from 1; assigned at the first registration. `type_id` 0 queries it; others
// must equal it. Errors: InvalidArgument if the number is another type's, or the type has another one.
HILO_EXPORT absl::StatusOr<int64_t> RegisterType(absl::string_view name, int64_t type_id, const TypeInfo& info);

// Of runs (ExecuteOptions::ffi_context). Owns no objects; they must last until the runs end. Must not change while
// runs use it.
class HILO_EXPORT ExecutionContext {
 public:
  // Under the id of a registered type (RegisterType, or XLA_FFI_Type_Register).
  // Errors: InvalidArgument for an unknown id; AlreadyExists.
  absl::Status Insert(int64_t type_id, void* object);
  // Null if there is none.
  void* Find(int64_t type_id) const;

 private:
  absl::flat_hash_map<int64_t, void*> objects_;
};

}  // namespace ffi
}  // namespace hilo
#endif /* __cplusplus */

#endif /* HILO_FFI_H_ */
