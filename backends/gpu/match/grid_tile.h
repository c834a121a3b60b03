// Grids of scores (hlo/analysis/score_grid.h) as their kernel sees them.
#ifndef HILO_BACKENDS_GPU_MATCH_GRID_TILE_H_
#define HILO_BACKENDS_GPU_MATCH_GRID_TILE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/analysis/score_grid.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

// How a block computes some lines of one side (emitters/attention_gradient_emitter.cc).
struct GridTile {
  int64_t threads = 0;
  int64_t lines = 0;           // of the block: 16 for each warp
  int64_t strip = 0;           // lines of the other side that it goes through at a time
  bool copies_strips = false;  // asynchronous copies fill them, two of each operand

  static GridTile Of(const KernelConfig& config) {
    return {.threads = config.tile[0],
            .lines = config.tile[1],
            .strip = config.tile[2],
            .copies_strips = config.tile[3] != 0};
  }
};

// The passes over the strips that a kernel makes. Each but the last computes reductions that need no others than those
// of passes before; the last one, those that are left, if it has products.
struct GridPass {
  std::vector<const HloInstruction*> reductions, products;
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
