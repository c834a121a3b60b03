// What hilo/ffi.h leaves opaque: the failure that a custom call has reported.
#ifndef HILO_RUNTIME_FFI_CUSTOM_CALL_STATUS_H_
#define HILO_RUNTIME_FFI_CUSTOM_CALL_STATUS_H_

#include <optional>
#include <string>

#include "hilo/ffi.h"

// Starts as success.
struct XlaCustomCallStatus {
  std::optional<std::string> failure;
};

#endif  // HILO_RUNTIME_FFI_CUSTOM_CALL_STATUS_H_
