// Infeed, outfeed, send and recv on the CPU.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_TRANSFER_OP_H_
#define HILO_BACKENDS_CPU_HOST_OPS_TRANSFER_OP_H_

#include <memory>

#include "backends/cpu/host_ops/host_op.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<HostOp>> MakeTransferOp(const HloInstruction& instruction,
                                                       const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_TRANSFER_OP_H_
