// topk as a runtime call.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_TOP_K_OP_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_TOP_K_OP_H_

#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

// Returns true if selection is faster than sorting; a topk of most elements is better sorted, as its expansion does.
bool SelectsFew(const HloInstruction& top_k);
absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeTopKOp(const HloInstruction& instruction,
                                                        const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_TOP_K_OP_H_
