// The boundary of the plugin: converts statuses to PJRT_Error and stops exceptions.
#ifndef HILO_PJRT_ERROR_H_
#define HILO_PJRT_ERROR_H_

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "pjrt/abi.h"
#include "runtime/guarded.h"

// The start of every error from API 0.113 on.
struct PJRT_Error_Functions {
  size_t struct_size;
  size_t instance_size;
  void* extension_start;
  void (*destroy)(PJRT_Error* error);
  void (*message)(const PJRT_Error* error, const char** message, size_t* message_size);
  PJRT_Error_Code (*code)(const PJRT_Error* error);
  void (*for_each_payload)(const PJRT_Error* error, PJRT_Error_PayloadVisitor* visitor, void* user_arg);
};

struct PJRT_Error {
  const PJRT_Error_Functions* functions;
  absl::Status status;
};

namespace hilo::pjrt {

// Null if `status` is OK. If memory for a new error is exhausted, a shared static error that says so.
PJRT_Error* MakeError(const absl::Status& status) noexcept;

// The status that a caller passes as a code and a message of `size` bytes; a message that no memory holds, or null, is
// left out.
absl::Status StatusFromCaller(PJRT_Error_Code code, const char* message, size_t size);

// Copies the first `struct_size` bytes of the caller's struct, and zeros where a shorter struct ends.
template <typename Args>
Args Whole(const Args* given) {
  Args whole = {};
  std::memcpy(static_cast<void*>(&whole), given, std::min(given->struct_size, sizeof(Args)));
  return whole;
}

// The minimum size of every caller's struct, whatever it states. In headers of the API up to version 0.70 the size
// for the attributes of a plugin leaves out their number.
template <typename Args>
inline constexpr size_t kMinSize = sizeof(size_t);
template <>
inline constexpr size_t kMinSize<PJRT_Plugin_Attributes_Args> = sizeof(PJRT_Plugin_Attributes_Args);

// Calls `function` on arguments of the size that this plugin was compiled with, whatever their caller's version.
template <typename Args, absl::Status (*function)(Args*)>
PJRT_Error* Boundary(Args* args) noexcept {
  return MakeError(Guarded([args]() -> absl::Status {
    if (args == nullptr) return InvalidArgument("expected a struct of arguments, got null");
    if (args->struct_size < sizeof(size_t))
      return InvalidArgument("a struct of arguments of ", args->struct_size, " bytes");
    if (std::max(args->struct_size, kMinSize<Args>) >= sizeof(Args)) return function(args);
    Args whole = Whole(args);
    absl::Status status = function(&whole);
    std::memcpy(static_cast<void*>(args), &whole, args->struct_size);
    return status;
  }));
}

// Errors: InvalidArgument naming the null handle.
inline absl::Status CheckHandle(const void* handle, absl::string_view name) {
  return handle != nullptr ? absl::OkStatus() : InvalidArgument("expected a ", name, ", got null");
}

// One function for each slot of the table.
#define HILO_PJRT_DECLARE(function) absl::Status function(PJRT_##function##_Args* args);
PJRT_FUNCTIONS(HILO_PJRT_DECLARE)
#undef HILO_PJRT_DECLARE

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_ERROR_H_
