// The emitter of each kind of kernel.
#include <array>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/sequence_emitter.h"
#include "base/errors.h"

namespace hilo::gpu {
namespace {

using Emitter = absl::Status (*)(ProgramEmitter& program, const HloInstruction* instruction);

// By kind.
constexpr std::array<Emitter, kKernelKindCount> kEmitterOf = [] {
  std::array<Emitter, kKernelKindCount> table{};
#define HILO_GPU_KERNEL(kind, Emit) table[static_cast<size_t>(KernelKind::kind)] = &Emit;
#include "backends/gpu/emitters/kernels.def"
#undef HILO_GPU_KERNEL
  return table;
}();

}  // namespace

absl::Status EmitKernel(ProgramEmitter& program, const HloInstruction* instruction) {
  const KernelKind kind = instruction->kernel()->kind;
  const Emitter emitter = kEmitterOf[static_cast<size_t>(kind)];
  if (emitter == nullptr) return Internal("this backend has no kernel of kind ", KernelKindString(kind));
  return emitter(program, instruction);
}

}  // namespace hilo::gpu
