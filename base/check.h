#ifndef HILO_BASE_CHECK_H_
#define HILO_BASE_CHECK_H_

#include "absl/base/optimization.h"

namespace hilo {

// Prints "file:line: check failed: condition" to stderr and aborts. Called by HILO_CHECK only.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace hilo

// Ends the process when `condition` is false. Only for states that no input and no documented call can cause;
// conditions that input can cause are an absl::Status (base/errors.h); an internal inconsistency that callers can still
// report is HILO_RET_CHECK (hilo/status_macros.h).
#define HILO_CHECK(condition)                              \
  do {                                                     \
    if (ABSL_PREDICT_FALSE(!(condition))) {                \
      ::hilo::CheckFailed(__FILE__, __LINE__, #condition); \
    }                                                      \
  } while (false)

#endif  // HILO_BASE_CHECK_H_
