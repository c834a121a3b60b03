// custom-call as a host op.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_CUSTOM_CALL_OP_H_
#define HILO_BACKENDS_CPU_HOST_OPS_CUSTOM_CALL_OP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/host_ops/host_op.h"

namespace hilo::cpu {

// Errors: those of CustomCall::Create.
absl::StatusOr<std::unique_ptr<HostOp>> MakeCustomCallOp(const HloInstruction& instruction,
                                                         const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_CUSTOM_CALL_OP_H_
