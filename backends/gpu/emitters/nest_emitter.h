// Lowers loop nests to grids: a part of a nest is a block, and where the iterations of a part are independent, each is
// a thread. Nests have no lanes here: the threads of a warp are adjacent iterations.
#ifndef HILO_BACKENDS_GPU_EMITTERS_NEST_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_NEST_EMITTER_H_

#include <cstdint>
#include <vector>

#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/llvm/nest/loop_nest.h"

namespace hilo::gpu {

// Returns the dimension of a nest in which each thread of blocks of `block` has `group` adjacent indices of an array of
// `sizes`; `group` divides their product.
codegen::NestDim PerThread(std::vector<int64_t> sizes, int64_t block, int64_t group = 1);

// Returns the first index of this block's part in each dimension.
std::vector<llvm::Value*> PartBegins(KernelEmitter& k, const codegen::LoopNest& nest);

// Emits `body` at the indices of this thread in a nest of one dimension: those of the unrolled copies. Threads that
// have none skip it. Errors: the body's.
absl::Status EmitNest(KernelEmitter& k, const codegen::NestDim& dim,
                      absl::FunctionRef<absl::Status(absl::Span<const codegen::Index>)> body);

// The same as a kernel of its own, whose launch has the arguments of `k`: ends `k`.
absl::Status EmitNestKernel(KernelEmitter& k, const HloInstruction* instruction, const codegen::NestDim& dim,
                            absl::FunctionRef<absl::Status(absl::Span<const codegen::Index>)> body);

// The same, where each of `count` threads, in blocks of `block`, gets its index, an i64.
absl::Status EmitThreads(KernelEmitter& k, const HloInstruction* instruction, int64_t count, int64_t block,
                         absl::FunctionRef<absl::Status(llvm::Value*)> body);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_NEST_EMITTER_H_
