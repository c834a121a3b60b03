#include "runtime/ffi/custom_call_status.h"

namespace hilo {

void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus* status) { status->failure.reset(); }

void XlaCustomCallStatusSetFailure(XlaCustomCallStatus* status, const char* message, size_t message_len) {
  status->failure.emplace(message == nullptr ? "" : message, message == nullptr ? 0 : message_len);
}

}  // namespace hilo
