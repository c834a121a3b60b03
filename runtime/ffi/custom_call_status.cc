#include "runtime/ffi/custom_call_status.h"

#include <exception>

namespace hilo {

void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus* status) { status->failure.reset(); }

void XlaCustomCallStatusSetFailure(XlaCustomCallStatus* status, const char* message, size_t message_len) {
  // Called from C, which cannot be unwound.
  try {
    status->failure.emplace(message == nullptr ? "" : message, message == nullptr ? 0 : message_len);
  } catch (const std::exception&) {  // no memory for the message, or no such length
    status->failure.emplace();
  }
}

}  // namespace hilo
