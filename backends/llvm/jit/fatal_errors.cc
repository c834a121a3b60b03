#include "backends/llvm/jit/fatal_errors.h"

#include <csetjmp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

namespace hilo::codegen {
namespace {

struct Recovery {
  std::jmp_buf jump;
  absl::Status status;
};

thread_local Recovery* recovery = nullptr;

// Returns, so that LLVM ends the process, if the thread is not within CatchFatalErrors.
void HandleFatalError(void*, const char* reason, bool) {
  if (recovery == nullptr) return;
  const absl::string_view text = reason;
  LeaveRun(absl::InternalError(absl::StrCat("LLVM: ", text.substr(0, text.find('\n')))));
}

}  // namespace

absl::Status CatchFatalErrors(absl::FunctionRef<void()> run) {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(HandleFatalError);
    return true;
  }();
  static_cast<void>(installed);
  // What LLVM prints of a crash: a list of objects on the stack.
  const void* const stack_trace = llvm::SavePrettyStackState();
  Recovery caught;
  Recovery* const outer = recovery;
  if (setjmp(caught.jump) == 0) {
    recovery = &caught;
    run();
    recovery = outer;
    return absl::OkStatus();
  }
  recovery = outer;
  llvm::RestorePrettyStackState(stack_trace);
  return caught.status;
}

void LeaveRun(absl::Status status) {
  recovery->status = std::move(status);
  std::longjmp(recovery->jump, 1);
}

}  // namespace hilo::codegen
