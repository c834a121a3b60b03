// Calls in emulated kernels: intrinsics and inline assembly of NVPTX become calls of the runtime, loads and arithmetic.
#ifndef HILO_BACKENDS_GPU_EMULATED_KERNEL_CALLS_H_
#define HILO_BACKENDS_GPU_EMULATED_KERNEL_CALLS_H_

#include "absl/status/statusor.h"
#include "backends/gpu/emulated/kernel_code.h"

namespace hilo::gpu {

// Replaces a call of an intrinsic or of assembly by code in front of it; returns false for other instructions. Errors:
// Unimplemented, naming it, if the emulated device does not have it; InvalidArgument for a wrong number of operands.
absl::StatusOr<bool> ReplaceCall(KernelCode* code, llvm::Instruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_KERNEL_CALLS_H_
