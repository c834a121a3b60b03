// Ragged dots as runtime calls.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_RAGGED_DOT_OP_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_RAGGED_DOT_OP_H_

#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRaggedDotOp(const HloInstruction& instruction,
                                                             const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_RAGGED_DOT_OP_H_
