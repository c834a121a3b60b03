// Infeed, outfeed, send and recv on the CPU.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_TRANSFER_OP_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_TRANSFER_OP_H_

#include <memory>

#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeTransferOp(const HloInstruction& instruction,
                                                            const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_TRANSFER_OP_H_
