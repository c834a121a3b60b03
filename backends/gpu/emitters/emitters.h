// Emitters that lower instructions other than control flow to kernels, each family in a file of its own.
#ifndef HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_
#define HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_

#include "absl/status/status.h"
#include "backends/gpu/compile/program_emitter.h"
#include "backends/gpu/match/row_fusion.h"

namespace hilo::gpu {

// Adds the thunks of `instruction`, selected by its hero. Errors: Unimplemented.
absl::Status EmitKernels(ProgramEmitter& program, const HloInstruction* instruction);

// Adds the thunk of an instruction that a library implements; returns false if none does.
absl::StatusOr<bool> EmitLibraryCall(ProgramEmitter& program, const HloInstruction* instruction);

absl::Status EmitLoop(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitCopy(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitReduce(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitRows(ProgramEmitter& program, const HloInstruction* instruction, const RowPlan& plan);
absl::Status EmitReduceWindow(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitTranspose(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitDot(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitConvolution(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitRaggedDot(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitUpdateSlice(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitScatter(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitSelectAndScatter(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitSort(ProgramEmitter& program, const HloInstruction* instruction);
// Returns false if a merge sort is better: other comparators, short lists.
absl::StatusOr<bool> EmitRadixSort(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitConcatenate(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitTopK(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitFft(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitCholesky(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitTriangularSolve(ProgramEmitter& program, const HloInstruction* instruction);

// Copies `operand` to result leaf `leaf` of `instruction`, unless they share memory: the first step of updates.
// `operand` may be fused.
absl::Status EmitCopyOfOperand(ProgramEmitter& program, const HloInstruction* instruction, int64_t leaf,
                               const HloInstruction* operand);

// Return true if the tiled kernels support the instruction.
bool IsTiledTranspose(const HloInstruction& transpose);
bool IsTiledDot(const HloInstruction& dot);
bool IsGroupedConcatenate(const HloInstruction& concatenate, const EmissionOptions& emission);
// Returns true if the first k are selected; else they are taken from a sorted row.
bool IsSelectedTopK(const HloInstruction& top_k);
bool IsTiledConvolution(const HloInstruction& convolution, const ProgramEmitter& program);

// Returns the block size for `count` threads in all.
int BlockFor(int64_t count);

// Adds a kernel with one thread for each of `count` indices, over `arguments`.
absl::Status EmitThreads(ProgramEmitter& program, const HloInstruction* instruction, int64_t count,
                         std::vector<KernelArgument> arguments,
                         absl::FunctionRef<absl::Status(KernelEmitter&, llvm::Value*)> body);

// Emit element `i` (i64, row-major) of the results of a loop, or all `count` elements, of which there are few, in a
// kernel that includes the instruction.
absl::Status EmitLoopElement(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i);
absl::Status EmitLoopElements(KernelEmitter& k, const HloInstruction* instruction, int64_t count);

// Returns true if the instruction is a dynamic-update-slice, possibly fused, whose result shares the memory of its
// operand. EmitUpdateOfWindow stores element `i` of the update.
bool UpdatesInPlace(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitUpdateOfWindow(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_
