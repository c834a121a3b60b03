// Strips of a grid of scores (hlo/analysis/score_grid.h) that a causal mask hides.
#ifndef HILO_BACKENDS_GPU_MATCH_GRID_MASK_H_
#define HILO_BACKENDS_GPU_MATCH_GRID_MASK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/gpu/match/grid_tile.h"
#include "hlo/analysis/attention_mask.h"

namespace hilo::gpu {

// A pass adds up nothing but multiples of exponentials of logits less their row's maximum, which it may compute too,
// and the mask makes those small: at keys beyond the index of the row along `row_axis` plus the mask's offset they are
// 0, if the maximum is large enough.
struct GridMask {
  CausalMask mask;
  GridSide rows = GridSide::kLeft;          // the other side has the keys, as one axis
  int64_t row_axis = 0;                     // the outermost of that side
  const HloInstruction* maximum = nullptr;  // by row
  std::vector<int64_t> maximum_axes;        // of its dimensions
};
std::optional<GridMask> MaskOf(const ScoreGrid& grid, const GridPass& pass);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_GRID_MASK_H_
