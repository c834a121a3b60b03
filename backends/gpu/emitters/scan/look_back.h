// What the blocks of a launch tell each other: a block may wait for what blocks that have started store.
//
// Blocks take numbers from a counter, so that those with smaller numbers have started, whatever the order in which the
// device starts blocks. They share words which are stored and loaded whole, each with a state beside its value: no
// access needs an order with any other. The words are cleared by a launch before.
#ifndef HILO_BACKENDS_GPU_EMITTERS_SCAN_LOOK_BACK_H_
#define HILO_BACKENDS_GPU_EMITTERS_SCAN_LOOK_BACK_H_

#include <cstdint>
#include <vector>

#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/program_emitter.h"

namespace hilo::gpu {

// Allocates scratch memory of at least `bytes` that is 0 when the next kernel of the instruction runs.
absl::StatusOr<KernelArgument> EmitClearedScratch(ProgramEmitter& program, const HloInstruction* instruction,
                                                  int64_t bytes);

// Returns the next number of `counter`, an i32, as an i64, the same for all threads of the block. Has a barrier.
absl::StatusOr<llvm::Value*> TakeNumber(KernelEmitter& k, llvm::Value* counter);

// Stores a word, an integer of 32 or 64 bits.
void StoreWord(KernelEmitter& k, llvm::Value* word, llvm::Value* pointer);

// Loads words of type `type` until all are ready, and returns them. Threads may wait on their own.
std::vector<llvm::Value*> AwaitWords(KernelEmitter& k, llvm::Type* type, absl::Span<llvm::Value* const> pointers,
                                     absl::FunctionRef<llvm::Value*(llvm::Value* word)> is_ready);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_SCAN_LOOK_BACK_H_
