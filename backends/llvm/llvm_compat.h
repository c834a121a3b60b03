// Conversions between LLVM's vocabulary types and Abseil's.
#ifndef HILO_BACKENDS_LLVM_LLVM_COMPAT_H_
#define HILO_BACKENDS_LLVM_LLVM_COMPAT_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace hilo::codegen {

inline llvm::StringRef ToStringRef(absl::string_view text) { return {text.data(), text.size()}; }
inline absl::string_view ToStringView(llvm::StringRef text) { return {text.data(), text.size()}; }

// Converts an llvm::Error to Internal; OK for success. `what` names the step that failed.
inline absl::Status ToStatus(llvm::Error error, absl::string_view what) {
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": ", llvm::toString(std::move(error))));
}

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_LLVM_COMPAT_H_
