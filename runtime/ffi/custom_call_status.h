// Failure reporting for functions of the status-returning API versions. XLA's names.
#ifndef HILO_RUNTIME_FFI_CUSTOM_CALL_STATUS_H_
#define HILO_RUNTIME_FFI_CUSTOM_CALL_STATUS_H_

#include <cstddef>
#include <optional>
#include <string>

// Opaque to functions; starts as success. Declared outside of the namespace, as XLA does.
struct XlaCustomCallStatus {
  std::optional<std::string> failure;
};

namespace hilo {

void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus* status);
// The message is copied.
void XlaCustomCallStatusSetFailure(XlaCustomCallStatus* status, const char* message, size_t message_len);

}  // namespace hilo

#endif  // HILO_RUNTIME_FFI_CUSTOM_CALL_STATUS_H_
