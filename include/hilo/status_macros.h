// Early returns for absl::Status and absl::StatusOr.
#ifndef HILO_STATUS_MACROS_H_
#define HILO_STATUS_MACROS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

// Returns from the enclosing function if `expr` is not OK.
#define HILO_RETURN_IF_ERROR(...)                                                        \
  do {                                                                                   \
    if (absl::Status hilo_status = (__VA_ARGS__); !hilo_status.ok()) return hilo_status; \
  } while (false)

#define HILO_MACRO_JOIN_INNER(a, b) a##b
#define HILO_MACRO_JOIN(a, b) HILO_MACRO_JOIN_INNER(a, b)

// HILO_ASSIGN_OR_RETURN(Type name, expr): the value of a StatusOr, or an early return.
#define HILO_ASSIGN_OR_RETURN(lhs, ...) \
  HILO_ASSIGN_OR_RETURN_IMPL(HILO_MACRO_JOIN(hilo_status_or_, __LINE__), lhs, __VA_ARGS__)
#define HILO_ASSIGN_OR_RETURN_IMPL(status_or, lhs, ...) \
  auto status_or = (__VA_ARGS__);                       \
  if (!status_or.ok()) return status_or.status();       \
  lhs = *std::move(status_or)

namespace hilo {
// Collects a message after HILO_RET_CHECK and converts to a Status.
class RetCheckMessage {
 public:
  RetCheckMessage(const char* file, int line, const char* condition)
      : text_(absl::StrCat("internal check failed at ", file, ":", line, ": ", condition)) {}
  template <typename T>
  RetCheckMessage& operator<<(const T& part) {
    absl::StrAppend(&text_, first_ ? ": " : "", part);
    first_ = false;
    return *this;
  }
  operator absl::Status() const { return absl::InternalError(text_); }
  template <typename T>
  operator absl::StatusOr<T>() const {
    return absl::InternalError(text_);
  }

 private:
  std::string text_;
  bool first_ = true;
};
}  // namespace hilo

// Returns an Internal error with file and line unless `condition` holds: HILO_RET_CHECK(x > 0) << "x of " << name;
#define HILO_RET_CHECK(condition) \
  if (condition) {                \
  } else                          \
    return ::hilo::RetCheckMessage(__FILE__, __LINE__, #condition)

#endif  // HILO_STATUS_MACROS_H_
