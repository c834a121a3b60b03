// Lowers loop nests to loops of vectors.
#ifndef HILO_BACKENDS_CPU_KERNELS_NEST_EMITTER_H_
#define HILO_BACKENDS_CPU_KERNELS_NEST_EMITTER_H_

#include "backends/cpu/kernels/kernels.h"
#include "backends/llvm/nest/loop_nest.h"

namespace hilo::cpu {

// Returns true if an element of the results may be computed again after it was written: no operand is overwritten.
bool MayRepeat(FunctionEmitter& f, const HloInstruction& instruction);

// Emits the kernel's parts of the nest. `body` gets the positions that are computed together: those of the unrolled
// copies, under the lanes of one dimension at most. The rest of a dimension that is no multiple of its unrolled vectors
// is walked by single vectors and a masked one, or, if the body may repeat, by vectors that begin earlier. Errors: the
// body's.
absl::Status EmitNest(FunctionEmitter& f, const KernelParts& kernel, const codegen::LoopNest& nest,
                      absl::FunctionRef<absl::Status(absl::Span<const codegen::Position>)> body);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_NEST_EMITTER_H_
