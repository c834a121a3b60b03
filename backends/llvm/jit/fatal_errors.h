// LLVM's fatal errors as statuses.
//
// Where LLVM cannot go on, as for a pattern that the instruction selection of a processor lacks, it calls a handler of
// the process, and ends the process if that returns.
#ifndef HILO_BACKENDS_LLVM_JIT_FATAL_ERRORS_H_
#define HILO_BACKENDS_LLVM_JIT_FATAL_ERRORS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace hilo::codegen {

// Calls `run`. Errors: Internal with the first line of LLVM's message, if LLVM meets a fatal error on this thread; that
// of LeaveRun.
// `run` then ends where it is, without destructors: objects of its own must not need them, and the passes that it ran
// must be neither used nor destroyed. The module of these passes is intact but for functions that one of them was
// changing, and may be copied and destroyed.
absl::Status CatchFatalErrors(absl::FunctionRef<void()> run);

// Ends the innermost CatchFatalErrors of this thread with `status`, as a fatal error would. Called within one only.
[[noreturn]] void LeaveRun(absl::Status status);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_FATAL_ERRORS_H_
