// rng-get-and-update-state as a runtime call.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_RANDOM_STATE_OP_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_RANDOM_STATE_OP_H_

#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRandomStateOp(const HloInstruction& instruction,
                                                               const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_RANDOM_STATE_OP_H_
