// Host ops of the collectives and of replica-id and partition-id. Private to the CPU backend.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_COLLECTIVE_OPS_H_
#define HILO_BACKENDS_CPU_HOST_OPS_COLLECTIVE_OPS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/host_ops/host_op.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<HostOp>> MakeCollectiveOp(const HloInstruction& instruction,
                                                         const CompileOptions& options);
absl::StatusOr<std::unique_ptr<HostOp>> MakeDeviceIdOp(const HloInstruction& instruction,
                                                       const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_COLLECTIVE_OPS_H_
