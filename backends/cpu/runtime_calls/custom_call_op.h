// custom-call as a runtime call.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_CUSTOM_CALL_OP_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_CUSTOM_CALL_OP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

// Errors: those of CustomCall::Create.
absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeCustomCallOp(const HloInstruction& instruction,
                                                              const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_CUSTOM_CALL_OP_H_
