// Ragged dots as host ops.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_RAGGED_DOT_OP_H_
#define HILO_BACKENDS_CPU_HOST_OPS_RAGGED_DOT_OP_H_

#include "backends/cpu/host_ops/host_op.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<HostOp>> MakeRaggedDotOp(const HloInstruction& instruction,
                                                        const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_RAGGED_DOT_OP_H_
