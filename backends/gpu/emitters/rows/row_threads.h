// What kernels of row groups share: where the elements of a row are, and how its threads combine what they have of its
// reductions.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ROWS_ROW_THREADS_H_
#define HILO_BACKENDS_GPU_EMITTERS_ROWS_ROW_THREADS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/match/row_plan.h"

namespace hilo::gpu {

// Returns the index of an element of row `row` in a full array of `dimensions`: that of column `group` + `j`, which are
// in one line of the array.
codegen::Index FullIndexOf(KernelEmitter& k, const RowSpace& space, absl::Span<const int64_t> dimensions,
                           llvm::Value* row, const codegen::LaneIndex& group, int64_t j);
// Returns the index of the element of row `row` in an array of `shape`, which has one for each row, or one of all.
codegen::Index RowIndexOf(KernelEmitter& k, const Shape& shape, llvm::Value* row);

// Returns the full arrays in memory that `wanted` is computed from without reductions, but for those that `visited`
// contains, and adds to it what was looked at.
std::vector<const HloInstruction*> FullArraysOf(const HloInstruction* instruction, const RowSpace& space,
                                                absl::Span<const HloInstruction* const> wanted,
                                                absl::flat_hash_set<const HloInstruction*>* visited);

// Emits the kernel of a streamed plan (streamed_row_emitter.cc).
absl::Status EmitStreamedRows(ProgramEmitter& program, const HloInstruction* instruction, const RowPlan& plan);

// Returns true if a result of the instruction has the memory of an operand.
bool SharesMemory(KernelEmitter& k, const HloInstruction* instruction);

// Returns a value of a reduction of one array combined with another one.
absl::StatusOr<codegen::ElementValue> CombineTerms(KernelEmitter& k, const HloInstruction* reduce,
                                                   const codegen::ElementValue& a, const codegen::ElementValue& b);

// The threads of a block, of which each row has `threads` adjacent ones, a power of two.
struct RowThreads {
  int64_t threads = 0, block_rows = 0;
  llvm::Value* lane = nullptr;          // this thread among those of its row, i64
  llvm::Value* row_in_block = nullptr;  // i64
};

// Combines the values that the threads of a row have of each reduction of `level`, by butterflies and, between warps,
// through shared memory, and sets the results, which all of them get. All threads of the block take part.
absl::Status CombineThreads(KernelEmitter& k, const RowThreads& at, absl::Span<const HloInstruction* const> level,
                            Elements values);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ROWS_ROW_THREADS_H_
