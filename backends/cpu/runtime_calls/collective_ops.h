// Runtime calls of the collectives and of replica-id and partition-id. Private to the CPU backend.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_COLLECTIVE_OPS_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_COLLECTIVE_OPS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeCollectiveOp(const HloInstruction& instruction,
                                                              const CompileOptions& options);
absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeDeviceIdOp(const HloInstruction& instruction,
                                                            const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_COLLECTIVE_OPS_H_
