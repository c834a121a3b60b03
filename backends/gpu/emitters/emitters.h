// How instructions that are not control flow become kernels, each family in a file of its own.
#ifndef HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_
#define HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_

#include "absl/status/status.h"
#include "backends/gpu/compile/program_emitter.h"
#include "backends/gpu/match/row_fusion.h"

namespace hilo::gpu {

// Adds the thunks of `instruction`, by its hero. Errors: Unimplemented.
absl::Status EmitKernels(ProgramEmitter& program, const HloInstruction* instruction);

// Adds the thunk of an instruction that a library does; false if none does.
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
// False if merges serve the sort better: other comparators, short lists.
absl::StatusOr<bool> EmitRadixSort(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitConcatenate(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitTopK(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitFft(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitCholesky(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitTriangularSolve(ProgramEmitter& program, const HloInstruction* instruction);

// Makes result leaf `leaf` of `instruction` equal to `operand`, unless they are one memory: what updates begin with.
// `operand` may be fused.
absl::Status EmitCopyOfOperand(ProgramEmitter& program, const HloInstruction* instruction, int64_t leaf,
                               const HloInstruction* operand);

// Whether the tiled kernels serve the instruction.
bool IsTiledTranspose(const HloInstruction& transpose);
bool IsTiledDot(const HloInstruction& dot);
bool IsGroupedConcatenate(const HloInstruction& concatenate, const EmissionOptions& emission);
// Whether the first k are selected; else they are those of a sorted row.
bool IsSelectedTopK(const HloInstruction& top_k);
bool IsTiledConvolution(const HloInstruction& convolution, const ProgramEmitter& program);

// Threads of a block for `count` threads in all.
int BlockFor(int64_t count);

// Adds a kernel of a thread for each of `count` numbers, over `arguments`.
absl::Status EmitThreads(ProgramEmitter& program, const HloInstruction* instruction, int64_t count,
                         std::vector<KernelArgument> arguments,
                         absl::FunctionRef<absl::Status(KernelEmitter&, llvm::Value*)> body);

// Element `i` (i64, row-major) of the results of a loop, in a kernel of which the instruction is a part; all `count`
// elements, of which there are few.
absl::Status EmitLoopElement(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i);
absl::Status EmitLoopElements(KernelEmitter& k, const HloInstruction* instruction, int64_t count);

// Whether the instruction is a dynamic-update-slice, perhaps fused, whose result has the memory of its operand; element
// `i` of the update, put there.
bool UpdatesInPlace(ProgramEmitter& program, const HloInstruction* instruction);
absl::Status EmitUpdateOfWindow(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_EMITTERS_H_
