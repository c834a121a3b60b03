// Makers of absl::Status with a message put together from parts, as absl::StrCat does.
//
// InvalidArgument: the program is wrong. Unimplemented: this backend lacks it. ResourceExhausted: memory or a limit.
// Internal: a bug of Hilo's. Unavailable: no such device.
#ifndef HILO_BASE_ERRORS_H_
#define HILO_BASE_ERRORS_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace hilo {

#define HILO_ERROR_MAKER(Name)                       \
  template <typename... Args>                        \
  absl::Status Name(const Args&... args) {           \
    return absl::Name##Error(absl::StrCat(args...)); \
  }
HILO_ERROR_MAKER(InvalidArgument)
HILO_ERROR_MAKER(Unimplemented)
HILO_ERROR_MAKER(Internal)
HILO_ERROR_MAKER(ResourceExhausted)
HILO_ERROR_MAKER(NotFound)
HILO_ERROR_MAKER(FailedPrecondition)
HILO_ERROR_MAKER(Unavailable)
HILO_ERROR_MAKER(Cancelled)
HILO_ERROR_MAKER(DeadlineExceeded)
#undef HILO_ERROR_MAKER

// The same code with `context` appended to the message; OK stays OK.
inline absl::Status AddContext(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(status.message(), context));
}

}  // namespace hilo

#endif  // HILO_BASE_ERRORS_H_
