// Lowers instructions that are not control flow to loops and library calls.
#ifndef HILO_BACKENDS_CPU_KERNELS_KERNELS_H_
#define HILO_BACKENDS_CPU_KERNELS_KERNELS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "backends/cpu/compile/function_emitter.h"

namespace hilo::cpu {

// A kernel is a loop over `units` independent parts. `emit` emits the code for parts [begin, end), i64 values, in any
// function of the scope.
struct Kernel {
  int64_t units = 1;
  std::function<absl::Status(FunctionEmitter& f, llvm::Value* begin, llvm::Value* end)> emit;
};

// Returns false for kernels whose updates may overlap, which are a single part of any size: dynamic-update-slice and
// scatter.
bool HasIndependentParts(const HloInstruction& instruction);

// Returns the kernel of an instruction. Errors: Unimplemented.
absl::StatusOr<Kernel> MakeKernel(FunctionEmitter& f, const HloInstruction* instruction);

// Each is implemented in a file of its own.
absl::StatusOr<Kernel> LoopKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> ReduceKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> ConvolutionKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> ReduceWindowKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> SelectAndScatterKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> DotKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> UpdateSliceKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> ScatterKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> SortKernel(FunctionEmitter& f, const HloInstruction* instruction);
absl::StatusOr<Kernel> CopyKernel(FunctionEmitter& f, const HloInstruction* instruction);

// Returns the instruction that determines a fusion's kernel, its root; for other instructions, the instruction itself.
const HloInstruction* HeroOf(const HloInstruction* instruction);

// Emits for (i = begin; i < end; i += step) body(i). `most` bounds the trip count if begin and end are not constants
// (EmitLoop).
absl::Status ForEach(FunctionEmitter& f, absl::string_view name, llvm::Value* begin, llvm::Value* end,
                     absl::FunctionRef<absl::Status(llvm::Value*)> body, int64_t step = 1,
                     int64_t most = codegen::kManyIterations);

// Emits body over the lanes of [0, size): full vectors of `width` (index base, lanes), then a masked tail. `base` of
// the index is a multiple of the width. Sizes of at most `unroll` vectors are fully unrolled.
absl::Status ForEachVector(FunctionEmitter& f, absl::string_view name, int64_t size, int width,
                           absl::FunctionRef<absl::Status(const codegen::LaneIndex&)> body);

// Returns the number of lanes for a loop over the rows of a table of `shape` (its second minor-most dimension) that
// makes a vector of each column and stores them by IrArray::StoreColumns. Returns 1 if the columns are not few, the
// rows are too few, or this does not pay for the values of `roots`.
int NarrowArrayWidth(absl::Span<const HloInstruction* const> roots, const Shape& shape,
                     const codegen::TargetTraits& target);

// Returns the indices of row-major position `linear` in `dimensions`, all of them uniform.
std::vector<codegen::LaneIndex> Delinearize(FunctionEmitter& f, llvm::Value* linear,
                                            absl::Span<const int64_t> dimensions);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_KERNELS_H_
