// Fuses the gradient of attention, and what else computes grids of scores (hlo/analysis/score_grid.h).
#ifndef HILO_HLO_PASSES_ATTENTION_ATTENTION_GRADIENT_FUSION_H_
#define HILO_HLO_PASSES_ATTENTION_ATTENTION_GRADIENT_FUSION_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/types/span.h"
#include "hlo/analysis/score_grid.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Returns true if kernels of the backend compute all products of the grid: better so than in parts. `grid` is what
// needs its scores, and each of `kernels` the part of it that one of them computes; reductions that are not among its
// own are computed before.
using ScoreGridFilter = std::function<bool(const ScoreGrid& grid, absl::Span<const ScoreGrid> kernels)>;

// "fuse-attention-gradient": makes fusions of kind kInput whose results are products along one side of a grid, and the
// reductions of rows that these and other products need: ScoreGridOfFusion has the grid. Several products have at most
// `max_features` together.
std::unique_ptr<HloPass> MakeAttentionGradientFusion(const Target* target, ScoreGridFilter takes, int64_t max_features);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ATTENTION_ATTENTION_GRADIENT_FUSION_H_
