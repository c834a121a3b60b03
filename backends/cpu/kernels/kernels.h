// Emits kernels as their KernelConfig states. What each kind is: kernel_choice.h.
#ifndef HILO_BACKENDS_CPU_KERNELS_KERNELS_H_
#define HILO_BACKENDS_CPU_KERNELS_KERNELS_H_

#include "absl/status/status.h"
#include "backends/cpu/functions/function_emitter.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::cpu {

// Parts [begin, end), i64 values, of the kernel of `instruction`.
struct KernelParts {
  const HloInstruction* instruction;
  const KernelConfig& config;
  llvm::Value *begin, *end;
};

// Emits parts [begin, end), i64 values, of the instruction's kernel, in any function of the scope.
absl::Status EmitKernel(FunctionEmitter& f, const HloInstruction* instruction, llvm::Value* begin, llvm::Value* end);

// The emitters, which emit parts [begin, end) as the configuration states.
#define HILO_CPU_KERNEL(kind, Emit) absl::Status Emit(FunctionEmitter& f, const KernelParts& kernel);
#include "backends/cpu/kernels/kernels.def"
#undef HILO_CPU_KERNEL

// Emits for (i = begin; i < end; i += step) body(i). `most` bounds the trip count if begin and end are not constants
// (EmitLoop).
absl::Status ForEach(FunctionEmitter& f, absl::string_view name, llvm::Value* begin, llvm::Value* end,
                     absl::FunctionRef<absl::Status(llvm::Value*)> body, int64_t step = 1,
                     int64_t most = codegen::kManyIterations);

// Emits body over the lanes of [0, size): full vectors of `width` (index base, lanes), then a masked tail. `base` of
// the index is a multiple of the width.
absl::Status ForEachVector(FunctionEmitter& f, absl::string_view name, int64_t size, int width,
                           absl::FunctionRef<absl::Status(const codegen::LaneIndex&)> body);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_KERNELS_H_
