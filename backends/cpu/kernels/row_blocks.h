// Blocks of short rows: several rows of a result that together fill vectors.
#ifndef HILO_BACKENDS_CPU_KERNELS_ROW_BLOCKS_H_
#define HILO_BACKENDS_CPU_KERNELS_ROW_BLOCKS_H_

#include <cstdint>
#include <optional>

#include "backends/llvm/lanes/lane_plan.h"
#include "base/math.h"
#include "hlo/analysis/loop_results.h"

namespace hilo::cpu {

// The minor-most dimensions of a result are a row, the next one counts the rows of a table, and those before it tables.
struct RowBlocks {
  int64_t row_rank = 1;      // dimensions of a row
  int64_t row_elements = 1;  // of one row
  int64_t block_rows = 1;    // rows of a block, at most those of a table
  int width = 1;             // lanes

  int64_t block_elements() const { return block_rows * row_elements; }
  // The last one may not be full.
  int64_t vectors() const { return CeilDiv(block_elements(), width); }
};

// Returns the blocks for a loop whose rows are shorter than two vectors and leave lanes empty, if all arrays in memory
// are then read in a few runs a vector: reversals, transposes within rows, values of a row or a column. `row_width` is
// the number of lanes along single rows. Nullopt if blocks save too little. Without AVX-512, whose masks are cheap,
// blocks end with a whole vector, and the elements of a vector come from one operand.
std::optional<RowBlocks> RowBlocksOf(const LoopResults& loop, const codegen::TargetTraits& target, int row_width);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_ROW_BLOCKS_H_
