// The functions of custom calls, by name and platform.
//
//   void Add(void* out, const void** in) { ... }
//   CustomCallRegistry::Default().Register("add", &Add);                  // for every client
//   client->custom_call_registry()->Register("add", &Add);               // for one, with priority over the default
//
// A program resolves its functions when it is compiled, and keeps them.
#ifndef HILO_RUNTIME_FFI_CUSTOM_CALL_REGISTRY_H_
#define HILO_RUNTIME_FFI_CUSTOM_CALL_REGISTRY_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "runtime/ffi/custom_call_status.h"

// Of XLA's FFI C API (runtime/ffi/xla_ffi_abi.h declares all of it).
extern "C" {
struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;
typedef XLA_FFI_Error* XLA_FFI_Handler(XLA_FFI_CallFrame* call_frame);
}

namespace hilo {

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
class CustomCallRegistry {
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

}  // namespace hilo

#endif  // HILO_RUNTIME_FFI_CUSTOM_CALL_REGISTRY_H_
