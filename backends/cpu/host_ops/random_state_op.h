// rng-get-and-update-state as a host op.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_RANDOM_STATE_OP_H_
#define HILO_BACKENDS_CPU_HOST_OPS_RANDOM_STATE_OP_H_

#include "backends/cpu/host_ops/host_op.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<HostOp>> MakeRandomStateOp(const HloInstruction& instruction,
                                                          const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_RANDOM_STATE_OP_H_
