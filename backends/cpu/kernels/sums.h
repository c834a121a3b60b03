// Loops over the terms of a sum (elements/terms.h).
#ifndef HILO_BACKENDS_CPU_KERNELS_SUMS_H_
#define HILO_BACKENDS_CPU_KERNELS_SUMS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "backends/cpu/functions/function_emitter.h"
#include "backends/cpu/kernels/lane_values.h"
#include "backends/llvm/elements/terms.h"

namespace hilo::cpu {

// Return running values with all of the terms.
//
// In row-major order of the terms, at several positions of the kept dimensions together, interleaved, under the current
// lanes. `partial_sums`: lengths of sums that start from the identity and are then added to the next longer ones, from
// the innermost on; empty: a single loop.
absl::StatusOr<std::vector<Elements>> SumInOrder(FunctionEmitter& f, codegen::Terms& terms,
                                                 absl::Span<const int64_t> partial_sums,
                                                 absl::Span<const std::vector<codegen::LaneIndex>> kept);
// Likewise, unrolled: of few terms.
absl::StatusOr<std::vector<Elements>> SumUnrolled(codegen::Terms& terms,
                                                  absl::Span<const std::vector<codegen::LaneIndex>> kept);
// The `count` terms from `first` on, fewer at the end: likewise, from the identity.
absl::StatusOr<std::vector<Elements>> SumBlock(FunctionEmitter& f, codegen::Terms& terms, llvm::Value* first,
                                               int64_t count, absl::Span<const std::vector<codegen::LaneIndex>> kept);
// With vectors of `width` terms along the minor-most reduced dimension, in several accumulators that are combined at
// the end. If `section` is not 0, each `section` terms of a row are a partial sum. Uniform positions only.
absl::StatusOr<Elements> SumInLanes(FunctionEmitter& f, codegen::Terms& terms, int width, int64_t accumulators,
                                    int64_t section, const std::vector<codegen::LaneIndex>& kept);

// Adjacent results, row-major in the kept dimensions, whose sums are the lanes of a vector.
struct RowBlock {
  // Block `number`, an i64, of blocks of `lanes` rows each.
  RowBlock(FunctionEmitter& f, llvm::Value* number, int64_t lanes, int64_t rows);

  // Returns the index of the block's rows, one a lane, in an array of `dimensions` with as many elements as there are
  // rows.
  codegen::Index Lanes(absl::Span<const int64_t> dimensions) const;

  int64_t lanes;       // a power of two, at least 2
  int64_t rows;        // of all blocks
  llvm::Value* first;  // the first row, an i64
  llvm::Value* count;  // rows of this block, an i64: fewer than `lanes` at the end
  llvm::Value* mask;   // of the lanes that are rows; null: all
};

// With vectors as SumInLanes, for all rows of a block, in the same order: a loop over the rows, whose vectors are then
// combined together. That takes one combination a row and no latency of its own, rather than one for each halving.
// `position` returns the kept indices of row `i` of the block; what it emits is in the loop's body.
absl::StatusOr<Elements> SumBlockInLanes(
    FunctionEmitter& f, codegen::Terms& terms, int width, int64_t accumulators, int64_t section, const RowBlock& block,
    absl::FunctionRef<absl::StatusOr<std::vector<codegen::LaneIndex>>(llvm::Value* i)> position);

// The `count` terms, a multiple of `width`, of one reduced dimension from `first` on, fewer at the end: with vectors of
// `width` terms, at several uniform positions of the kept dimensions together, from the identity.
absl::StatusOr<std::vector<Elements>> SumTileInLanes(FunctionEmitter& f, codegen::Terms& terms, int width,
                                                     llvm::Value* first, int64_t count,
                                                     absl::Span<const std::vector<codegen::LaneIndex>> kept);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_SUMS_H_
