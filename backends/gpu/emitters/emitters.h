// Emitters that lower instructions other than control flow to kernels, each family in a file of its own.
#ifndef HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_
#define HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_

#include "absl/status/status.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/match/launch_sizes.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

// Adds the thunks of `instruction`, as its KernelConfig states (choice/kernel_choice.h). Errors: Unimplemented,
// InvalidArgument for calls and collectives that do not fit their module.
absl::Status EmitKernel(ProgramEmitter& program, const HloInstruction* instruction);

// Those of each kind of kernel.
#define HILO_GPU_KERNEL(kind, Emit) absl::Status Emit(ProgramEmitter& program, const HloInstruction* instruction);
#include "backends/gpu/emitters/kernels.def"
#undef HILO_GPU_KERNEL

// Copies `operand` to result leaf `leaf` of `instruction`, unless they share memory: the first step of updates. A
// `block` of 0: it is in memory; otherwise it is computed, by a loop.
absl::Status EmitCopyOfOperand(ProgramEmitter& program, const HloInstruction* instruction, int64_t leaf,
                               const HloInstruction* operand, int64_t width, int64_t block);

// Emit element `i` (i64, row-major) of the results of a loop, or all `count` elements, of which there are few, in a
// kernel that includes the instruction.
absl::Status EmitLoopElement(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i);
absl::Status EmitLoopElements(KernelEmitter& k, const HloInstruction* instruction, int64_t count);

// Stores element `i` of the update of a dynamic-update-slice in place.
absl::Status EmitUpdateOfWindow(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_
