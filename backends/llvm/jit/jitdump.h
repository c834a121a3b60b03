// Reports the names of compiled functions to Linux perf (perf record -k mono; perf inject --jit).
#ifndef HILO_BACKENDS_LLVM_JIT_JITDUMP_H_
#define HILO_BACKENDS_LLVM_JIT_JITDUMP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace hilo::codegen {

struct JitdumpFunction {
  std::string name;
  const void* address = nullptr;
  size_t bytes = 0;
};

// Appends the functions, with their code, to this process's dump: $HILO_JITDUMP_DIR/jit-<pid>.dump (/tmp when the
// variable is not set). The format is perf's jitdump, version 1. The file is opened by the first call. Thread-safe.
// Errors: Unavailable when the file cannot be written.
absl::Status AppendToJitdump(absl::Span<const JitdumpFunction> functions);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_JITDUMP_H_
