// Grids of scores (hlo/analysis/score_grid.h) as their kernel sees them.
#ifndef HILO_BACKENDS_GPU_MATCH_GRID_TILE_H_
#define HILO_BACKENDS_GPU_MATCH_GRID_TILE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/score_grid.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

// How a block computes some lines of one side (emitters/attention/attention_gradient_emitter.cc).
struct GridTile {
  int64_t threads = 0;
  int64_t lines = 0;           // of the block: 16 for each warp
  int64_t strip = 0;           // lines of the other side that it goes through at a time
  bool copies_strips = false;  // asynchronous copies fill them, two of each operand
  int64_t parts = 1;           // of the batches that sums add up, each with a block of its own

  static GridTile Of(const KernelConfig& config) {
    return {.threads = config.tile[0],
            .lines = config.tile[1],
            .strip = config.tile[2],
            .copies_strips = config.tile[3] != 0,
            .parts = config.parts};
  }
};

// A factor of all terms of a sum, the same along the side that it adds up. It is F32.
struct LineFactor {
  const HloInstruction* value;  // a whole member
  bool divides;
};

// The passes over the strips that a kernel makes. Each but the last computes reductions that need no others than those
// of passes before; the last one has the products or batch sums, and beside products the reductions that nothing else
// of the kernel reads.
//
// Two things keep sums from a pass of their own. Factors that need later reductions are multiplied with the sum instead
// of its terms. And the sums of multiples of exp(x - maximum of x), as of a softmax and of its gradient, are in the
// pass of the maximum: their exponentials are of x less the largest one so far, and what is summed up is scaled when a
// larger one comes.
struct GridPass {
  std::vector<const HloInstruction*> reductions, products, batch_sums;
  // By sum: the factors of its terms that are left out of them.
  absl::flat_hash_map<const HloInstruction*, std::vector<LineFactor>> factors;
  // The maximum, one of the reductions, and the sums that are scaled as it grows; null: none. There is one exponential
  // then, and all of them are F32.
  const HloInstruction* maximum = nullptr;
  std::vector<const HloInstruction*> scaled;
  // What these need, operands first: all members, and among them the scores, and exponentials and hyperbolic
  // tangents of whole grids.
  std::vector<const HloInstruction*> members, scores, exponentials, tangents;
};
std::vector<GridPass> PassesOf(const ScoreGrid& grid);

// The operands that the kernel has strips of, each once: those of scores and of products.
std::vector<GridOperand> StripsOf(const ScoreGrid& grid, GridSide summed);

// The elements of an operand that are adjacent in memory, along its lines or its features: 1 if the last dimension is
// neither, or if its lines have another order than the grid's.
int64_t AdjacentElements(const ScoreGrid& grid, const GridOperand& operand);

// How elements of the grid of a product become factors of 16 bits.
enum class GridFactors {
  kRounded,  // they have the type of the factors, or may be rounded to it
  kSplit,    // f32 where tf32 would do: as the sum of two numbers of bf16, which have more digits
};
// nullopt: they cannot.
std::optional<GridFactors> FactorsOf(const ScoreGrid& grid, const HloInstruction* product);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_GRID_TILE_H_
